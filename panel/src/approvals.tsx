// The first view: every open question, oldest first.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { A, CommandText, Countdown, Dialog, EffectChips, Empty, hiddenCount, Icon, Reasons, RiskBadge, State, useKeys, Visible, Who } from "./parts";
import { answer, go, link, riskWords, store, terminalName, useCall, useNow, useStore } from "./store";
import { Bar } from "./shell";
import { Thumb } from "./thumb";
import type { Approval, Args, DecisionRow } from "./types";
import { agent, clock, duration, ended, path, shorten, who } from "./words";

// Clicks and keys count only after a card has stood still for so long: nobody answers what has just moved there.
const STILL = 500;
const OPEN_CARDS = 2;

function useStill(element: { current: HTMLElement | null }): () => boolean {
  const place = useRef({ top: -1, since: 0 });
  useLayoutEffect(() => {
    const top = element.current?.offsetTop ?? 0;
    if (top !== place.current.top) place.current = { top, since: performance.now() };
  });
  useEffect(() => {
    const seen = () => {
      if (document.visibilityState === "visible") place.current.since = performance.now();
    };
    document.addEventListener("visibilitychange", seen);
    return () => document.removeEventListener("visibilitychange", seen);
  }, []);
  return () => performance.now() - place.current.since >= STILL;
}

// Critical ones, and those whose answer cannot be remembered, are allowed once and with a second gesture.
function isCritical(question: Approval): boolean {
  return question.verdict?.risk === "critical";
}

export function QuestionCard({ question, chosen, onChoose }: { question: Approval; chosen: boolean; onChoose: () => void }) {
  const { canAct } = useStore();
  const card = useRef<HTMLElement>(null);
  const typed = useRef<HTMLInputElement>(null);
  const still = useStill(card);
  const [word, setWord] = useState("");
  const [denying, setDenying] = useState(false);
  const [editing, setEditing] = useState(false);
  const [more, setMore] = useState(false);
  const critical = isCritical(question);
  const scope = critical ? null : question.always_scope;
  const busy = store.answering.get(question.id);
  const verdict = question.verdict;
  // Whether it counted.
  const act = (decision: "allow" | "deny" | "skip", rest: Partial<Args<"answer">> = {}): boolean => {
    if (!still() || busy || !canAct) return false;
    void answer(question, decision, rest);
    return true;
  };
  const allow = () => {
    if (!critical || word.trim() === "allow") act("allow");
    else typed.current?.focus();
  };
  const actions: Record<string, () => unknown> = {
    a: allow,
    s: () => scope && act("allow", { always: "session" }),
    r: () => scope === "global" && setEditing(true),
    d: () => setDenying(true),
    x: () => act("skip"),
    o: () => question.terminal_id && go(`/t/${question.terminal_id}`),
  };
  useKeys(!chosen ? {} : canAct ? actions : { o: actions.o! });
  useEffect(() => {
    if (chosen) card.current?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const id = `q-${question.id}`;
  return (
    <article ref={card} class={`card question${chosen ? " is-chosen" : ""}`} aria-labelledby={id} tabIndex={0} data-question={question.id}
      onFocusIn={onChoose} onPointerDown={onChoose}>
      <div class="question-top">
        <RiskBadge risk={verdict?.risk ?? "high"} />
        <div class="from">
          <Who name={agent(question.asked_by)} />
          <span>in</span>
          <bdi class="path">{path(question.cwd)}</bdi>
          <span class="wide cut">
            {question.terminal_id ? ` · terminal ${terminalName(question.terminal_id)}` : ""}
            {question.task ? ` · task ${question.task}` : ""}
          </span>
        </div>
        <Countdown from={question.created_at} until={question.expires_at} />
      </div>
      <CommandText id={id} text={question.command} reasons={verdict?.reasons ?? []} />
      <Reasons reasons={verdict?.reasons ?? []} hidden={hiddenCount(question.command)} />
      <EffectChips effects={verdict?.effects ?? []} />
      {question.environment.length > 0 ? <p class="question-env">with <code>{question.environment.join(" ")}</code></p> : null}
      {scope && question.always_words.length > 0 ? (
        <div class="rulebox">
          <span class="nowrap">{scope === "session" ? "The session would allow" : "Always would store"}</span>
          <code class="grow">{shorten(question.always_words.join("; "))}</code>
          {canAct && scope === "global" ? <button type="button" class="link nowrap" onClick={() => setEditing(true)}>Edit rule</button> : null}
        </div>
      ) : null}
      {!canAct ? (
        <p class="question-view">View only. Questions are answered by a person on this machine.</p>
      ) : busy ? (
        <div class="acts"><span class="busy"><Icon name="spin" turns />{busy}</span></div>
      ) : denying ? (
        <DenyForm question={question} onBack={() => setDenying(false)} onDeny={(reason) => act("deny", reason ? { reason } : {})} />
      ) : (
        <div class="acts">
          <button type="button" class="btn btn-big btn-deny" onClick={() => setDenying(true)}>Deny… <kbd>D</kbd></button>
          <button type="button" class="btn btn-big btn-bare act-skip" onClick={() => act("skip")}>Skip <kbd>X</kbd></button>
          <span class="gap" />
          {critical ? (
            <div class="confirm">
              <span id={`${id}-how`}>Once only. Type <b class="mono">allow</b></span>
              <label class="field">
                <span class="unseen">Type allow to let it run once</span>
                <input ref={typed} value={word} size={6} autocomplete="off" spellcheck={false} autocapitalize="off" aria-describedby={`${id}-how`}
                  onInput={(event) => setWord(event.currentTarget.value)}
                  onKeyDown={(event) => {
                    if (event.key === "Enter" && word.trim() === "allow") allow();
                    if (event.key === "Escape") event.currentTarget.blur();
                  }} />
              </label>
            </div>
          ) : null}
          {scope === "global" ? <button type="button" class="btn btn-big not-phone" onClick={() => setEditing(true)}>Always… <kbd>R</kbd></button> : null}
          {scope ? <button type="button" class="btn btn-big not-phone" onClick={() => act("allow", { always: "session" })}>For this session <kbd>S</kbd></button> : null}
          {scope ? <button type="button" class="btn only-phone" onClick={() => setMore(true)}>Session or always…</button> : null}
          <button type="button" class="btn btn-big btn-main act-allow" disabled={critical && word.trim() !== "allow"} onClick={allow}>
            Allow once {critical ? null : <kbd>A</kbd>}
          </button>
        </div>
      )}
      {more ? (
        <Dialog title="Allow for longer?" onClose={() => setMore(false)}>
          <div class="sheet-buttons">
            <button type="button" class="btn btn-big" onClick={() => { if (act("allow", { always: "session" })) setMore(false); }}>For this session</button>
            {scope === "global" ? <button type="button" class="btn btn-big" onClick={() => { setMore(false); setEditing(true); }}>Always…</button> : null}
            <button type="button" class="btn btn-big btn-bare" onClick={() => setMore(false)}>Cancel</button>
          </div>
        </Dialog>
      ) : null}
      {editing ? <RuleEditor question={question} onClose={() => setEditing(false)} onSave={(rules) => { if (act("allow", { always: "global", ...(rules === null ? {} : { rules }) })) setEditing(false); }} /> : null}
    </article>
  );
}

function DenyForm({ question, onBack, onDeny }: { question: Approval; onBack: () => void; onDeny: (reason: string) => void }) {
  const [reason, set] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  return (
    <form class="deny-form" onSubmit={(event) => { event.preventDefault(); onDeny(reason.trim()); }}>
      <label>
        <span>Tell {agent(question.asked_by)} why. It reads this.</span>
        <input ref={field} class="input" value={reason} maxLength={500} onInput={(event) => set(event.currentTarget.value)}
          onKeyDown={(event) => { if (event.key === "Escape") onBack(); }} />
      </label>
      <div class="acts">
        <button type="button" class="btn btn-big btn-bare" onClick={onBack}>Back <kbd>Esc</kbd></button>
        <span class="gap" />
        <button type="submit" class="btn btn-big btn-deny">Deny <kbd>Enter</kbd></button>
      </div>
    </form>
  );
}

function RuleEditor({ question, onClose, onSave }: { question: Approval; onClose: () => void; onSave: (rules: string | null) => void }) {
  const before = question.always.join("\n");
  const [text, set] = useState(before);
  return (
    <Dialog title="Always allow this?" onClose={onClose} wide>
      <p>This is added to rules.toml and holds from now on:</p>
      <label>
        <span class="unseen">The rule</span>
        <textarea class="input mono" rows={Math.min(14, text.split("\n").length + 1)} spellcheck={false} value={text} onInput={(event) => set(event.currentTarget.value)} />
      </label>
      <p class="dim">In words: {question.always_words.join("; ")}</p>
      <div class="acts">
        <button type="button" class="btn btn-bare" onClick={onClose}>Cancel</button>
        <span class="gap" />
        <button type="button" class="btn btn-main" onClick={() => onSave(text === before ? null : text)}>Allow and store</button>
      </div>
    </Dialog>
  );
}

function QuestionRow({ question, onOpen }: { question: Approval; onOpen: () => void }) {
  return (
    <article aria-labelledby={`q-${question.id}`}><button type="button" class="card question-row" onClick={onOpen} data-question={question.id}>
      <RiskBadge risk={question.verdict?.risk ?? "high"} />
      <span class="grow">
        <code class="cut" id={`q-${question.id}`}><bdi><Visible text={question.command} /></bdi></code>
        <span class="from"><Who name={agent(question.asked_by)} /><span>in</span><bdi class="path">{path(question.cwd)}</bdi></span>
      </span>
      <Countdown from={question.created_at} until={question.expires_at} />
      <Icon name="right" />
    </button></article>
  );
}

function Around({ question }: { question: Approval | undefined }) {
  const today = new Date();
  today.setHours(0, 0, 0, 0);
  const terminal = question?.terminal_id ? store.terminals.get(question.terminal_id) : undefined;
  const before = useCall("history", terminal ? { terminal: terminal.id, limit: 3 } : null, question?.id);
  const answered = useCall("decisions", { since_at: today.toISOString(), limit: 400 }, store.open.length);
  const asked = (answered.answer?.decisions ?? []).filter((row) => row.answered_by || row.decision === "expired");
  return (
    <aside class="around" aria-label="Around this question">
      {terminal ? (
        <section>
          <h2>Terminal {terminalName(terminal.id)}<A class="link" href={`/t/${terminal.id}`}>Open</A></h2>
          <div class="box"><Thumb terminal={terminal} tall /></div>
        </section>
      ) : null}
      {terminal && before.answer && before.answer.commands.length > 0 ? (
        <section>
          <h2>Before this</h2>
          <ul class="feed">
            {before.answer.commands.map((row) => (
              <li key={row.command_id}>
                <State state={{ ...ended(row), words: "" }} />
                <span><A class="cut mono" href={`/c/${row.command_id}`}><bdi><Visible text={row.command} /></bdi></A><small>{ended(row).words}{row.duration_ms != null ? ` · ${duration(row.duration_ms)}` : ""}</small></span>
                <time>{clock(row.started_at)}</time>
              </li>
            ))}
          </ul>
        </section>
      ) : null}
      {asked.length > 0 ? (
        <section>
          <h2>Answered today<A class="link" href="/history?view=decisions">All {asked.length}</A></h2>
          <ul class="feed">
            {asked.slice(0, 4).map((row) => (
              <li key={row.id}>
                <State state={{ mark: row.decision === "ask_allow" || row.decision === "allow" ? "ok" : row.decision === "deny" ? "fail" : "off", words: "" }} />
                <span><code class="cut"><bdi><Visible text={row.command} /></bdi></code><small>{decisionWords(row)}</small></span>
                <time>{clock(row.at)}</time>
              </li>
            ))}
          </ul>
        </section>
      ) : null}
    </aside>
  );
}

export function decisionWords(row: DecisionRow): string {
  const where = row.answered_by ? `, ${who(row.answered_by, store.mine)}` : "";
  switch (row.decision) {
    case "allow":
      return row.answered_by ? `allowed${where}` : `allowed: ${row.decided_by ?? "by rule"}`;
    case "ask_allow":
      return `allowed${where}`;
    case "deny":
      return row.answered_by ? `denied${where}` : `refused: ${row.decided_by ?? "by rule"}`;
    case "skip":
      return `skipped${where}`;
    case "expired":
      return "nobody answered: denied";
    default:
      return "withdrawn";
  }
}

export function Approvals() {
  const { open, notes, ready } = useStore();
  const [chosenId, choose] = useState("");
  const [opened, setOpened] = useState<Set<string>>(new Set());
  const phone = matchMedia("(max-width: 719px)").matches;
  const at = Math.max(0, open.findIndex((each) => each.id === chosenId));
  const chosen = open[at];
  const isOpen = (question: Approval, index: number) => phone || index < OPEN_CARDS || opened.has(question.id);
  const move = (by: number) => {
    const next = open[Math.min(open.length - 1, Math.max(0, at + by))];
    if (!next) return;
    setOpened((before) => new Set(before).add(next.id));
    choose(next.id);
    requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-question="${CSS.escape(next.id)}"]`)?.focus());
  };
  useKeys({ j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1) });
  // After an answer the focus goes to the next question, or to the title.
  const before = useRef(open.length);
  useEffect(() => {
    if (open.length < before.current && document.activeElement === document.body) {
      const next = document.querySelector<HTMLElement>(".question");
      (next ?? document.querySelector<HTMLElement>("h1"))?.focus({ preventScroll: true });
    }
    before.current = open.length;
  }, [open.length]);
  const minutes = chosen?.expires_at ? Math.round((Date.parse(chosen.expires_at) - Date.parse(chosen.created_at)) / 60_000) : 0;
  const meta = open.length === 0 ? "" : `${open.length} open.${minutes ? ` A question nobody answers is denied after ${minutes === 1 ? "1 minute" : `${minutes} minutes`}.` : ""}`;
  return (
    <>
      <Bar title="Approvals" meta={meta} mode />
      <main class="main" id="main" tabIndex={-1}>
        <div class="approvals">
          <div class="questions" role="feed" aria-label="Open questions" aria-busy={!ready}>
            {notes.map((note) => (
              <p class="note-line" key={note.id}>
                <Icon name={note.mark === "ok" ? "check" : note.mark === "fail" ? "x" : "minus"} small />
                <span><code><bdi>{note.command}</bdi></code> {note.text}</span>
              </p>
            ))}
            {open.map((question, index) =>
              isOpen(question, index) ? (
                <QuestionCard key={question.id} question={question} chosen={question.id === chosen?.id} onChoose={() => choose(question.id)} />
              ) : (
                <QuestionRow key={question.id} question={question} onOpen={() => { setOpened((set) => new Set(set).add(question.id)); choose(question.id); }} />
              ),
            )}
            {ready && open.length === 0 ? (
              <div class="card">
                <Empty icon="shield" title="Nothing waits for you">
                  <p>Questions from agents appear here. You can close this page: they also wait on the command line.</p>
                  <code>ttyward approvals</code>
                </Empty>
              </div>
            ) : null}
          </div>
          {ready ? <Around question={chosen} /> : null}
        </div>
      </main>
    </>
  );
}

// The number of questions in the tab's title and its picture.
export function useTitle(title: string): void {
  const { open } = useStore();
  const offline = link.health !== "connected" && store.ready;
  const text = offline ? "Reconnecting · ttyward" : `${open.length > 0 ? `(${open.length}) ` : ""}${title} · ttyward`;
  useEffect(() => {
    document.title = text;
  }, [text]);
  const critical = open.some(isCritical);
  const number = open.length > 9 ? "9+" : String(open.length);
  useEffect(() => {
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
    if (!icon) return;
    if (number === "0") {
      icon.href = "/favicon.svg";
      return;
    }
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 22 22"><path d="M11 1.5 19.5 4.6v6.2c0 5-3.4 8.3-8.5 9.9-5.1-1.6-8.5-4.9-8.5-9.9V4.6z" fill="${dark ? "#e7e9ec" : "#15181c"}"/><circle cx="15.5" cy="6.5" r="6.5" fill="${critical ? "#b8252b" : "#875200"}"/><text x="15.5" y="9.8" font-family="sans-serif" font-size="9" font-weight="700" fill="#fff" text-anchor="middle">${number}</text></svg>`;
    icon.href = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  }, [number, critical]);
}

export function questionWords(question: Approval): string {
  return question.verdict?.reasons[0]?.text ?? riskWords(question.verdict?.risk ?? "high");
}

export { useNow };
