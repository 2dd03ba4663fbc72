// One terminal, large: its screen, its keyboard, and its history beside it.
import { useEffect, useMemo, useState } from "preact/hooks";
import { ChangesBox, FactsBox, linesOf, useFindings } from "./findings";
import { grep, Log, LogTools, type Find } from "./log";
import { A, Dialog, Dot, Empty, Icon, State, Took, useKeys, Visible, Who } from "./parts";
import { Attachment, GIVE_BACK, KeysBar, LiveScreen } from "./screen";
import { attempt, go, link, place, setQuery, store, useCall, useNow, useStore } from "./store";
import { isOver, needsYou, openTerminal, ownerName, PasswordDialog, stateOf, useOrder } from "./terminals";
import type { Answer, Result, Terminal } from "./types";
import { clock, count, ended, holder, left, nameOf, path, size, who } from "./words";

type Shown = Answer<"show">;

export function useAttachment(terminal: Terminal | undefined): Attachment | null {
  const id = terminal && !isOver(terminal) ? terminal.id : "";
  const attachment = useMemo(() => (id ? new Attachment(id) : null), [id]);
  const health = link.health;
  useEffect(() => {
    if (!attachment || health !== "connected") return;
    attachment.attach({ keyboard: false }).catch((error: Error) => store.toast(error.message));
  }, [attachment, health]);
  useEffect(() => () => attachment?.end(), [attachment]);
  return attachment;
}

function Tabs({ current }: { current: string }) {
  const { terminals, canAct } = useStore();
  const ordered = useOrder([...terminals.values()], "");
  return (
    <nav class="tabs not-phone" aria-label="Terminals">
      {ordered.filter((each) => each.id === current || !isOver(each)).slice(0, 40).map((each) => (
        <A key={each.id} href={`/t/${each.id}`} aria-current={each.id === current ? "page" : undefined}>
          <Dot mark={stateOf(each).mark} /><bdi>{nameOf(each)}</bdi>
          {needsYou(each) ? <span class="unseen">, needs you</span> : null}
        </A>
      ))}
      {canAct ? <button type="button" aria-label="New terminal" onClick={() => void openTerminal()}><Icon name="plus" /></button> : null}
    </nav>
  );
}

function Banner({ terminal, attachment, onTake, onGive }: { terminal: Terminal; attachment: Attachment; onTake: (ask: boolean) => void; onGive: () => void }) {
  const { canAct } = useStore();
  const now = useNow(1000);
  const { keyboard } = attachment;
  const rest = GIVE_BACK - (now - keyboard.lastKey);
  if (keyboard.has) {
    return (
      <div class="lease" role="status">
        <Icon name="keyboard" />
        <span class="grow"><b>You have the keyboard.</b> <span class="sub">Agents wait. <span class="not-phone">It goes back by itself after 10 minutes without a key: {left(rest)} left.</span></span></span>
        <button type="button" class="btn" onClick={onGive}>Give back<kbd class="not-phone">F6 G</kbd></button>
      </div>
    );
  }
  if (terminal.lease && terminal.lease.by !== store.mine) {
    const where = who(terminal.lease.by, store.mine);
    return (
      <div class="lease lease-other" role="status">
        <Icon name="keyboard" />
        <span class="grow"><b>{where === "in another browser" ? "Another browser has the keyboard." : `The keyboard was taken ${where}.`}</b> <span class="sub">You are watching.</span></span>
        {canAct ? <button type="button" class="btn" onClick={() => onTake(true)}>Take it…</button> : null}
      </div>
    );
  }
  return null;
}

interface Finds { text: string; hits: { command: string; line: number }[]; searched: number; problem: string }
const NOTHING: Finds = { text: "", hits: [], searched: 0, problem: "" };
const SEARCH_PAUSE = 250; // ms after the last letter
const AT_ONCE = 6;
const MOST_COMMANDS = 100;

// A few at a time: each may be a long output.
async function searchAll(commands: string[], text: string, signal: AbortSignal): Promise<Finds> {
  const found = new Map<string, number[]>();
  const left = [...commands].reverse();
  let problem = "";
  const work = async () => {
    for (let command = left.shift(); command && !signal.aborted; command = left.shift()) {
      try {
        found.set(command, await grep(command, text));
      } catch (error) {
        problem = (error as Error).message;
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { text, searched: found.size, problem, hits: commands.flatMap((command) => (found.get(command) ?? []).map((line) => ({ command, line }))) };
}

export function Commands({ terminal, shown, again, onOpen }: { terminal: Terminal; shown: Shown | null; again: () => void; onOpen?: () => void }) {
  const { query, hash } = place();
  const text = query.get("q") ?? "";
  const [open, setOpen] = useState<string | null>(null);
  const [finds, setFinds] = useState<Finds>(NOTHING);
  const [at, setAt] = useState(0);
  const commands = shown?.commands ?? [];
  // The newest is open until somebody chooses.
  const last = commands[commands.length - 1]?.command_id ?? null;
  const current = open ?? last;
  const searched = commands.filter((each) => each.command_id && each.total_lines > 0);
  useEffect(() => {
    if (!text) return setFinds(NOTHING);
    const search = new AbortController();
    // Not at every letter of a word.
    const timer = window.setTimeout(() => void searchAll(searched.map((each) => each.command_id!), text, search.signal).then((found) => {
      if (search.signal.aborted) return;
      setFinds(found);
      setAt(Math.max(0, found.hits.length - 1));
      if (found.hits.length > 0) setOpen(found.hits[found.hits.length - 1]!.command);
    }), SEARCH_PAUSE);
    return () => {
      window.clearTimeout(timer);
      search.abort();
    };
  }, [text, searched.length]);
  const step = (by: number) => {
    if (finds.hits.length === 0) return;
    const next = (at + by + finds.hits.length) % finds.hits.length;
    setAt(next);
    setOpen(finds.hits[next]!.command);
    store.announce(`${next + 1} of ${finds.hits.length}`);
  };
  useKeys({ n: () => step(1), N: () => step(-1) });
  const hit = finds.hits[at];
  const line = Number(/^#L(\d+)/.exec(hash)?.[1] ?? 0);
  return (
    <section class="history-pane" aria-label={`History of ${nameOf(terminal)}`}>
      <h2 class="unseen">Commands</h2>
      <div class="history-bar">
        <label class="field">
          <Icon name="search" /><span class="unseen">Search in this terminal</span>
          <input type="search" data-search value={text} placeholder="Search in this terminal" onInput={(event) => setQuery({ q: event.currentTarget.value })}
            onKeyDown={(event) => { if (event.key === "Enter") step(event.shiftKey ? -1 : 1); if (event.key === "Escape") { setQuery({ q: "" }); event.currentTarget.blur(); } }} />
        </label>
        {text ? (
          <>
            <span class="hits" role="status">{finds.text !== text ? "searching…" : finds.hits.length === 0 ? "none" : `${at + 1} of ${finds.hits.length}`}</span>
            <button type="button" class="btn btn-bare btn-icon" aria-label="Previous match" onClick={() => step(-1)}><Icon name="up" /></button>
            <button type="button" class="btn btn-bare btn-icon" aria-label="Next match" onClick={() => step(1)}><Icon name="down" /></button>
            <button type="button" class="btn btn-bare btn-icon" aria-label="Close search" onClick={() => setQuery({ q: "" })}><Icon name="x" /></button>
          </>
        ) : null}
      </div>
      <div class="history-body">
        {commands.map((each) => {
          const id = each.command_id;
          const isOpen = id !== null && id === current;
          const find: Find | null = finds.text && id ? { text: finds.text, lines: finds.hits.filter((one) => one.command === id).map((one) => one.line), now: hit?.command === id ? hit.line : 0 } : null;
          return (
            <div key={id} class={isOpen ? "command-block is-open" : "command-block"}>
              <h3>
                <button type="button" class="command-head" aria-expanded={isOpen} onClick={() => { setOpen(isOpen ? "" : id); onOpen?.(); again(); }}>
                  <Icon name="right" small />
                  <code class="cut grow"><bdi><Visible text={each.command} /></bdi></code>
                  <State state={ended(each)} />
                  <span class="m"><Took result={each} /></span>
                  <span class="m">{clock(each.started_at)}</span>
                </button>
              </h3>
              {isOpen && id ? <Output command={id} result={each} terminal={terminal.id} find={find} line={line} /> : null}
            </div>
          );
        })}
        {commands.length === 0 ? <Empty icon="clock" title="Nothing ran yet"><p>Commands of this terminal appear here.</p></Empty> : null}
        {text && finds.text === text && finds.hits.length === 0 && commands.length > 0 ? (
          <Empty icon="search" title={`No line has “${text}”`}><p>Searched the output of the {count(finds.searched, "command")} that {finds.searched === 1 ? "is" : "are"} listed here. Older ones are in the <A class="link" href="/history?since=all">history</A>.</p></Empty>
        ) : null}
        {text && finds.text === text && finds.problem ? (
          <p class="page-note" role="alert">{count(searched.length - finds.searched, "command")} could not be searched: {finds.problem}</p>
        ) : null}
      </div>
    </section>
  );
}

function Output({ command, result, terminal, find, line }: { command: string; result: Result; terminal: string; find: Find | null; line: number }) {
  const live = ["running", "awaiting_input"].includes(result.state);
  const findings = useFindings(command, result.state, !live);
  return (
    <>
      <FactsBox facts={findings?.facts} onLine={(number) => go(`/t/${terminal}${location.search}#L${number}`, true)} />
      {findings?.changes ? <ChangesBox command={command} onChanged={() => {}} /> : null}
      <Log command={command} terminal={terminal} live={live} find={find} errors={linesOf(findings?.facts)} line={line} onLine={(number) => go(`/c/${command}#L${number}`)} />
      <LogTools command={command} terminal={null} words={`${count(result.total_lines, "line")}, ${size(result.total_bytes)}`} />
    </>
  );
}

// A question is asked again whenever the terminal's commands may have changed.
function useShown(terminal: Terminal | undefined): { shown: Shown | null; error: string; again: () => void } {
  const [times, set] = useState(0);
  const mark = `${terminal?.command?.command_id} ${terminal?.command?.state} ${terminal?.state} ${times}`;
  const { answer, error } = useCall("show", terminal ? { terminal: terminal.id, most: MOST_COMMANDS } : null, mark);
  return { shown: answer, error, again: () => set((value) => value + 1) };
}

export function TerminalPage({ id }: { id: string }) {
  const { terminals, ready, canAct } = useStore();
  const terminal = terminals.get(id);
  const attachment = useAttachment(terminal);
  const [, redraw] = useState(0);
  const [dialog, setDialog] = useState<"" | "kill" | "take" | "paste" | "more" | "password">("");
  const [pane, setPane] = useState<"screen" | "lines" | "commands">("screen");
  const [history, setHistory] = useState(true);
  const { shown, again } = useShown(terminal);
  const ordered = useOrder([...terminals.values()], "");

  const take = async (force: boolean) => {
    if (!attachment || !canAct) return;
    try {
      await attachment.attach({ keyboard: true, take: force });
      store.announce("You have the keyboard. F6 leaves the terminal.");
    } catch (error) {
      if ((error as { code?: string }).code === "busy" && !force) setDialog("take");
      else store.toast((error as Error).message);
    }
    redraw((value) => value + 1);
  };
  const give = async () => {
    if (!attachment) return;
    await attempt(attachment.attach({ keyboard: false }));
    redraw((value) => value + 1);
    store.announce("The keyboard was given back.");
  };
  const interrupt = () => terminal && void attempt(link.call("interrupt", { terminal: terminal.id }));
  const leave = () => document.querySelector<HTMLElement>(".lease .btn, #take")?.focus();
  const neighbour = (by: number) => {
    const now = ordered.findIndex((each) => each.id === id);
    const next = ordered[(now + by + ordered.length) % ordered.length];
    if (next) go(`/t/${next.id}`);
  };
  useKeys({
    t: () => !attachment?.keyboard.has && void take(false), g: () => attachment?.keyboard.has && void give(), i: () => canAct && interrupt(), v: () => canAct && setDialog("paste"),
    h: () => setHistory(!history), "[": () => neighbour(-1), "]": () => neighbour(1),
  });

  if (!terminal) {
    return (
      <>
        <Tabs current={id} />
        <header class="bar"><h1 tabIndex={-1}>Terminal</h1></header>
        <main class="main" id="main" tabIndex={-1}>
          {ready ? <div class="lone card"><Empty icon="term" title="This terminal is not known"><p>It ended too long ago. What ran in it is in the history.</p><A class="btn" href="/history">History</A></Empty></div> : null}
        </main>
      </>
    );
  }
  const over = isOver(terminal);
  const processes = shown?.processes ?? [];
  const front = processes[processes.length - 1];
  const holds = attachment?.keyboard.has ?? false;
  return (
    <>
      <Tabs current={id} />
      <header class="bar bar-terminal">
        <A class="btn btn-bare btn-icon only-phone" href="/terminals" aria-label="All terminals"><Icon name="left" /></A>
        <h1 tabIndex={-1}><bdi>{nameOf(terminal)}</bdi></h1>
        <span class="meta not-phone"><Who name={ownerName(terminal)} /></span>
        <bdi class="meta path not-phone">{path(terminal.cwd)}</bdi>
        {terminal.task ? <span class="meta not-phone wide">task {terminal.task}</span> : null}
        {terminal.sandbox ? <span class="chip not-phone" title="what a command here can reach"><Icon name="lock" small />{terminal.sandbox}</span> : null}
        {(shown?.ports ?? []).slice(0, 3).map((each) => <span key={each.port} class="chip chip-port not-phone" title="seen in the kernel">:{each.port}</span>)}
        <div class="tools">
          {canAct && !over ? (
            <>
              {!holds ? <button type="button" id="take" class="btn" onClick={() => void take(false)}><Icon name="keyboard" /><span class="not-phone">Take the keyboard</span><span class="unseen only-phone">Take the keyboard</span></button> : null}
              <button type="button" class="btn" onClick={interrupt} disabled={!terminal.running}><Icon name="stop" /><span class="not-phone">Interrupt</span><span class="unseen only-phone">Interrupt</span></button>
              <button type="button" class="btn not-phone" onClick={() => setDialog("paste")}><Icon name="paste" />Paste…</button>
              <button type="button" class="btn btn-deny not-phone" onClick={() => setDialog("kill")}>Kill…</button>
              <button type="button" class="btn btn-bare btn-icon" aria-label="More" onClick={() => setDialog("more")}><Icon name="more" /></button>
            </>
          ) : !canAct ? <span class="chip">View only</span> : null}
        </div>
      </header>
      <section class="strip strip-phone only-phone" aria-label="Show">
        <div class="segments" role="group" aria-label="Show">
          {(["screen", "commands"] as const).map((each) => (
            <button key={each} type="button" aria-pressed={pane === each} onClick={() => setPane(each)}>{each === "screen" ? "Screen" : "Commands"}</button>
          ))}
        </div>
      </section>
      {attachment && !over ? <Banner terminal={terminal} attachment={attachment} onTake={() => setDialog("take")} onGive={() => void give()} /> : null}
      {terminal.command?.waiting?.kind === "password" && canAct && !terminal.lease ? (
        <div class="lease lease-other" role="status"><Icon name="lock" /><span class="grow"><b>{terminal.command.waiting.program ?? "A program"}</b> asks for a password. Typed here, it never reaches the agent.</span>
          <button type="button" class="btn" onClick={() => setDialog("password")}>Type it</button></div>
      ) : null}
      {store.questionOf(id) ? (
        <div class="lease lease-other" role="status"><Icon name="shield" /><span class="grow"><b>An agent asks</b> <code>{store.questionOf(id)!.shown}</code></span><A class="btn" href="/">Answer</A></div>
      ) : null}
      <div class={`split${history ? "" : " split-one"}`} data-pane={pane}>
        <main class="stage" id="main" tabIndex={-1}>
          {over || !attachment ? (
            <div class="stage-box"><Empty icon="term" title={stateOf(terminal).words}><p>Its commands and their output are kept in the history beside.</p></Empty></div>
          ) : (
            <LiveScreen key={id} terminal={terminal} attachment={attachment} onLeave={leave} />
          )}
          {holds ? <KeysBar attachment={attachment!} onPaste={() => setDialog("paste")} /> : null}
          <div class="status">
            <span>{terminal.cols} × {terminal.rows}</span>
            <span>{terminal.shell ?? terminal.argv[0] ?? ""}, {terminal.integration} integration</span>
            {front ? <span class="wide cut">{front.command.split(/\s/)[0]}, pid {front.pid}</span> : null}
            <span class="wide">{size(terminal.journal.bytes)} kept</span>
            <span class="grow" />
            <span id="leave-hint"><kbd>F6</kbd> leaves the terminal</span>
          </div>
        </main>
        <Commands terminal={terminal} shown={shown} again={again} />
      </div>
      {dialog === "kill" ? (
        <Dialog title={`Kill terminal ${nameOf(terminal)}?`} onClose={() => setDialog("")}>
          <p>{processes.length > 0 ? `${count(processes.length, "process", "processes")} ${processes.length === 1 ? "ends" : "end"}. ` : ""}Its history stays.</p>
          <div class="acts"><button type="button" class="btn btn-bare" onClick={() => setDialog("")}>Cancel</button><span class="gap" />
            <button type="button" class="btn btn-kill" onClick={() => { setDialog(""); void attempt(link.call("kill", { terminal: id })); }}>Kill {nameOf(terminal)}</button></div>
        </Dialog>
      ) : null}
      {dialog === "take" ? (
        <Dialog title={`Take the keyboard from ${holder(terminal.lease?.by ?? null, store.mine)}?`} onClose={() => setDialog("")}>
          <p>What it typed stays.</p>
          <div class="acts"><button type="button" class="btn btn-bare" onClick={() => setDialog("")}>Cancel</button><span class="gap" />
            <button type="button" class="btn btn-main" onClick={() => { setDialog(""); void take(true); }}>Take it</button></div>
        </Dialog>
      ) : null}
      {dialog === "paste" ? <PasteDialog terminal={terminal} onClose={() => setDialog("")} /> : null}
      {dialog === "password" ? <PasswordDialog terminal={terminal} onClose={() => setDialog("")} /> : null}
      {dialog === "more" ? <MoreDialog terminal={terminal} onClose={() => setDialog("")} onDialog={setDialog} /> : null}
    </>
  );
}

function PasteDialog({ terminal, onClose }: { terminal: Terminal; onClose: () => void }) {
  const [text, set] = useState("");
  return (
    <Dialog title={`Paste into ${nameOf(terminal)}`} onClose={onClose} wide>
      <label><span class="unseen">Text to paste</span>
        <textarea class="input mono" rows={10} spellcheck={false} value={text} onInput={(event) => set(event.currentTarget.value)} /></label>
      <div class="acts"><span class="dim grow">{count(text.length, "character")}, {count(text ? text.split("\n").length : 0, "line")}</span>
        <button type="button" class="btn btn-bare" onClick={onClose}>Cancel</button>
        <button type="button" class="btn btn-main" disabled={!text} onClick={() => void attempt(link.call("input", { terminal: terminal.id, paste: text })).then((done) => done && onClose())}>Paste</button></div>
    </Dialog>
  );
}

function MoreDialog({ terminal, onClose, onDialog }: { terminal: Terminal; onClose: () => void; onDialog: (dialog: "paste" | "kill") => void }) {
  const [name, setName] = useState(terminal.name ?? "");
  const [task, setTask] = useState(terminal.task ?? "");
  return (
    <Dialog title={`Terminal ${nameOf(terminal)}`} onClose={onClose}>
      <form class="fields" onSubmit={(event) => {
        event.preventDefault();
        void attempt((async () => {
          if (name !== (terminal.name ?? "")) await link.call("rename", { terminal: terminal.id, name });
          if (task !== (terminal.task ?? "")) await link.call("assign", { terminal: terminal.id, task });
        })()).then((done) => done && onClose());
      }}>
        <label>Name<input class="input" value={name} onInput={(event) => setName(event.currentTarget.value)} /></label>
        <label>Task<input class="input" value={task} onInput={(event) => setTask(event.currentTarget.value)} /></label>
        <div class="acts">
          <button type="button" class="btn only-phone" onClick={() => onDialog("paste")}>Paste…</button>
          <button type="button" class="btn btn-deny only-phone" onClick={() => onDialog("kill")}>Kill…</button>
          <span class="gap" />
          <button type="button" class="btn btn-bare" onClick={onClose}>Cancel</button>
          <button type="submit" class="btn btn-main">Save</button>
        </div>
      </form>
    </Dialog>
  );
}
