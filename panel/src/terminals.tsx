// All terminals as tiles: what needs a person first, then what runs, what is idle, what has ended.
import { useMemo, useRef, useState } from "preact/hooks";
import { questionWords } from "./approvals";
import { A, Choice, Dialog, Empty, Icon, SearchField, Segments, State, useKeys, Visible, Who } from "./parts";
import { Bar } from "./shell";
import { attempt, go, link, place, setQuery, store, useNow, useStore } from "./store";
import { Thumb } from "./thumb";
import type { Terminal } from "./types";
import { clock, duration, failed, nameOf, needsAnswer, path, terminalState } from "./words";

export function isOver(terminal: Terminal): boolean {
  return terminal.state === "finished" || terminal.state === "lost";
}
export function needsYou(terminal: Terminal): boolean {
  return !isOver(terminal) && (store.questionOf(terminal.id) !== undefined || (terminal.state === "awaiting_input" && needsAnswer(terminal.command?.waiting ?? null)));
}
export function hasFailed(terminal: Terminal): boolean {
  return isOver(terminal) ? Boolean(terminal.exit_code || terminal.signal) : !terminal.running && store.lasts.has(terminal.id) && failed(store.lasts.get(terminal.id)!);
}
export function isMine(terminal: Terminal): boolean {
  return terminal.lease?.by === store.mine;
}
export function stateOf(terminal: Terminal) {
  return terminalState(terminal, store.lasts.get(terminal.id), store.questionOf(terminal.id) !== undefined, isMine(terminal));
}
export function ownerName(terminal: Terminal): string {
  if (terminal.owner === "user") return "you";
  if (terminal.owner === "system") return "system";
  return terminal.session && !/^m[a-z2-7]{12}$/.test(terminal.session) ? terminal.session : "agent";
}

function rank(terminal: Terminal): number {
  if (needsYou(terminal)) return 0;
  if (terminal.running) return 1;
  return isOver(terminal) ? 3 : 2;
}

// Sorted when the page is opened and when a filter changes; what comes later goes to the end.
export function useOrder(terminals: Terminal[], again: string): Terminal[] {
  const order = useRef<{ again: string; ids: string[] }>({ again: "\0", ids: [] });
  if (order.current.again !== again || !store.ready) {
    const sorted = [...terminals].sort((a, b) => rank(a) - rank(b) || (b.last_output_at ?? b.created_at).localeCompare(a.last_output_at ?? a.created_at));
    order.current = { again: store.ready ? again : "\0", ids: sorted.map((each) => each.id) };
  }
  const known = new Map(terminals.map((each) => [each.id, each]));
  const ids = order.current.ids.filter((id) => known.has(id));
  for (const each of terminals) if (!ids.includes(each.id)) ids.push(each.id);
  order.current.ids = ids;
  return ids.map((id) => known.get(id)!);
}

function When({ terminal }: { terminal: Terminal }) {
  const now = useNow(1000);
  const command = terminal.command;
  const question = store.questionOf(terminal.id);
  if (question) return <time>asked {duration(Math.floor(Math.max(0, now - Date.parse(question.created_at)) / 1000) * 1000)} ago</time>;
  if (isOver(terminal)) return <time>ended {clock(terminal.last_output_at)}</time>;
  if (terminal.running && command?.started_at) return <time>{duration(Math.floor((now - Date.parse(command.started_at)) / 1000) * 1000)}</time>;
  const at = terminal.last_output_at;
  const last = store.lasts.get(terminal.id);
  return <time>{last?.duration_ms != null ? `${duration(last.duration_ms)} · ` : ""}{at ? clock(at) : ""}</time>;
}

function Tile({ terminal, onPassword }: { terminal: Terminal; onPassword: () => void }) {
  const { canAct } = useStore();
  const question = store.questionOf(terminal.id);
  const state = stateOf(terminal);
  const percent = terminal.progress?.percent;
  const asksPassword = terminal.state === "awaiting_input" && terminal.command?.waiting?.kind === "password" && canAct && !terminal.lease;
  const veiled = question !== undefined || asksPassword;
  const ports = terminal.running ? store.ports.get(terminal.id) ?? [] : [];
  return (
    <article class="card tile" aria-label={`${nameOf(terminal)}, ${state.words}`} data-terminal={terminal.id}>
      <header class="tile-top">
        <h2><A href={`/t/${terminal.id}`} class="tile-link"><bdi>{nameOf(terminal)}</bdi></A></h2>
        <Who name={ownerName(terminal)} />
        <span class="tile-right">
          {ports.slice(0, 2).map((each) => <span key={each} class="chip chip-port" title="seen in the kernel">:{each}</span>)}
          {terminal.lease ? <span class="chip chip-key"><Icon name="keyboard" small />{isMine(terminal) ? "you" : "person"}</span> : null}
        </span>
      </header>
      <div class="tile-picture">
        <Thumb terminal={terminal} covered={veiled} />
        {percent != null && terminal.running ? <progress max={100} value={percent} aria-label="Progress" /> : null}
        {question ? (
          <div class="veil"><Icon name="shield" /><span class="grow cut">{questionWords(question)}</span><A class="btn btn-main" href="/">{canAct ? "Answer" : "See"}</A></div>
        ) : asksPassword ? (
          <div class="veil"><Icon name="lock" /><span class="grow cut">Typed here, it never reaches the agent</span><button type="button" class="btn btn-main" onClick={onPassword}>Type it</button></div>
        ) : null}
      </div>
      <footer class="tile-end">
        <code class="cut"><bdi><Visible text={question?.command ?? terminal.command?.command ?? terminal.last_command ?? (path(terminal.cwd) || "no command yet")} /></bdi></code>
        <div class="tile-row"><State state={state} /><When terminal={terminal} /></div>
      </footer>
    </article>
  );
}

export function PasswordDialog({ terminal, onClose }: { terminal: Terminal; onClose: () => void }) {
  const [text, set] = useState("");
  const waiting = terminal.command?.waiting;
  return (
    <Dialog title={`Password for ${nameOf(terminal)}`} onClose={onClose}>
      <p><b class="mono">{waiting?.program ?? "The program"}</b> asks: <bdi>{waiting?.prompt ?? ""}</bdi></p>
      <form onSubmit={(event) => {
        event.preventDefault();
        void attempt(link.call("input", { terminal: terminal.id, secret: text })).then((done) => done && onClose());
      }}>
        <label class="field"><Icon name="lock" /><span class="unseen">Password</span>
          <input type="password" autocomplete="off" value={text} onInput={(event) => set(event.currentTarget.value)} /></label>
        <div class="acts">
          <span class="dim grow">Not recorded. Not shown to the agent.</span>
          <button type="button" class="btn btn-bare" onClick={onClose}>Cancel</button>
          <button type="submit" class="btn btn-main">Send</button>
        </div>
      </form>
    </Dialog>
  );
}

export async function openTerminal(): Promise<void> {
  try {
    const { terminal } = await link.call("open", { request: crypto.randomUUID() });
    store.terminals.set(terminal.id, terminal);
    go(`/t/${terminal.id}`);
  } catch (error) {
    store.toast((error as Error).message);
  }
}

export function Terminals() {
  const { terminals, ready, canAct } = useStore();
  const [password, setPassword] = useState("");
  const { query } = place();
  const [state, task, owner, text] = ["state", "task", "agent", "q"].map((name) => query.get(name) ?? "") as [string, string, string, string];
  const all = [...terminals.values()].filter((each) => !task || (task === "-" ? !each.task : each.task === task));
  const is: Record<string, (terminal: Terminal) => boolean> = {
    "": () => true, needs: needsYou, running: (each) => each.running, failed: hasFailed, ended: isOver,
  };
  const number = (name: string) => all.filter(is[name]!).length;
  const shown = all.filter(is[state] ?? is[""]!)
    .filter((each) => !owner || ownerName(each) === owner)
    .filter((each) => !text || [each.name, each.id, each.command?.command, each.last_command, each.cwd].some((field) => field?.toLowerCase().includes(text.toLowerCase())));
  const ordered = useOrder(shown, `${state} ${task} ${owner} ${text}`);
  const tasks = useMemo(() => [...new Set([...terminals.values()].map((each) => each.task).filter((each): each is string => Boolean(each)))].sort(), [terminals, terminals.size]);
  const owners = [...new Set([...terminals.values()].map(ownerName))].sort();
  const numbers: Record<string, () => void> = {};
  for (let at = 1; at <= 9; at++) numbers[String(at)] = () => ordered[at - 1] && go(`/t/${ordered[at - 1]!.id}`);
  const step = (by: number) => {
    const tiles = [...document.querySelectorAll<HTMLElement>(".tile-link")];
    const now = tiles.indexOf(document.activeElement as HTMLElement);
    tiles[Math.min(tiles.length - 1, Math.max(0, now + by))]?.focus();
  };
  useKeys({ ...numbers, j: () => step(1), k: () => step(-1) });
  const needed = number("needs");
  const forPassword = terminals.get(password);
  return (
    <>
      <Bar title="Terminals" meta={needed ? `${needed} ${needed === 1 ? "needs" : "need"} you` : ""}>
        {canAct ? <button type="button" class="btn not-phone" onClick={() => void openTerminal()}><Icon name="plus" />New terminal</button> : null}
      </Bar>
      <div class="strip" role="search" aria-label="Filter">
        <Segments label="State" value={state} onChange={(value) => setQuery({ state: value })} options={[
          { value: "", text: "All", n: all.length }, { value: "needs", text: "Needs you", n: needed }, { value: "running", text: "Running", n: number("running") },
          { value: "failed", text: "Failed", n: number("failed") }, { value: "ended", text: "Ended", n: number("ended") }]} />
        <span class="grow" />
        <Choice label="Task" value={task} onChange={(value) => setQuery({ task: value })} options={[{ value: "", text: "Task: all" }, ...tasks.map((each) => ({ value: each, text: each })), { value: "-", text: "No task" }]} />
        <Choice label="Agent" value={owner} onChange={(value) => setQuery({ agent: value })} options={[{ value: "", text: "Agent: all" }, ...owners.map((each) => ({ value: each, text: each }))]} />
        <SearchField label="Filter" placeholder="Name, command or folder" value={text} onChange={(value) => setQuery({ q: value })} />
      </div>
      <main class="main" id="main" tabIndex={-1}>
        {ordered.length > 0 ? (
          <div class="tiles">{ordered.map((each) => <Tile key={each.id} terminal={each} onPassword={() => setPassword(each.id)} />)}</div>
        ) : ready ? (
          <div class="lone card">
            {terminals.size === 0 ? (
              <Empty icon="term" title="No terminals yet">
                <p>Open one here, or connect an agent.</p>
                <code>ttyward mcp --help</code>
                {canAct ? <button type="button" class="btn" onClick={() => void openTerminal()}><Icon name="plus" />New terminal</button> : null}
              </Empty>
            ) : (
              <Empty icon="search" title="No terminal is like that">
                <p>{terminals.size} others are hidden by the filter.</p>
                <button type="button" class="btn" onClick={() => go("/terminals")}>Show all</button>
              </Empty>
            )}
          </div>
        ) : null}
      </main>
      {forPassword ? <PasswordDialog terminal={forPassword} onClose={() => setPassword("")} /> : null}
    </>
  );
}
