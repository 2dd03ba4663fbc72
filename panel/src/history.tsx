// What ran, in all terminals, the dead ones too; and what was decided about it.
import { useEffect, useState } from "preact/hooks";
import { decisionWords } from "./approvals";
import { ChangesBox, FactsBox, linesOf, useFindings } from "./findings";
import { copyOutput, grep, Log, LogTools, type Find } from "./log";
import { A, Choice, copy, Empty, Icon, RiskBadge, SearchField, Segments, State, Took, useKeys, Visible } from "./parts";
import { Bar } from "./shell";
import { go, link, place, setQuery, store, terminalName, useCall, useStore } from "./store";
import type { HistoryRow, Risk } from "./types";
import { agent, clock, count, dayOf, ended, failed, knownBy, nameOf, path, size } from "./words";

const PAGE = 60;

function since(text: string): string | undefined {
  const at = new Date();
  if (text === "all") return undefined;
  at.setHours(0, 0, 0, 0);
  if (text === "7") at.setDate(at.getDate() - 6);
  if (text === "30") at.setDate(at.getDate() - 29);
  return at.toISOString();
}

// A command of the list, or one that a link names and that is not in it.
type Shown = Omit<HistoryRow, "owner" | "task" | "description" | "cwd_after" | "provider" | "integration" | "output"> & { owner: HistoryRow["owner"] | "" };

// What has not ended is not in the history yet: what waits for an answer, and what runs.
function underWay(): Shown[] {
  const unknown = { exit_code: null, signal: null, known_by: null, duration_ms: null, total_bytes: 0, total_lines: 0, reason: null };
  const asked = store.open.flatMap((each) => (each.command_id ? [{ ...unknown, command_id: each.command_id, terminal_id: each.terminal_id, terminal_name: terminalName(each.terminal_id), owner: "agent" as const,
    command: each.command, cwd: each.cwd, state: "pending_approval", started_at: each.created_at }] : []));
  const runs = [...store.terminals.values()].flatMap((each) => (each.running && each.command?.command_id ? [{ ...each.command, command_id: each.command.command_id, terminal_name: nameOf(each), owner: each.owner,
    started_at: each.command.started_at ?? each.created_at, duration_ms: null }] : []));
  return [...asked, ...runs].sort((a, b) => a.started_at.localeCompare(b.started_at));
}

function Row({ row, open, line, find }: { row: Shown; open: boolean; line: number; find: string }) {
  const [lines, setLines] = useState<number[]>([]);
  const [at, setAt] = useState(0);
  useEffect(() => {
    if (!open || !find || row.total_lines === 0) return setLines([]);
    grep(row.command_id, find).then((found) => { setLines(found); setAt(0); }, () => setLines([]));
  }, [open, find, row.command_id]);
  const live = row.duration_ms === null && ["running", "awaiting_input"].includes(row.state);
  const state = ended(row);
  const findings = useFindings(row.command_id, `${open} ${row.state}`, open && !live);
  const errors = linesOf(findings?.facts);
  const onLine = (number: number) => go(`/c/${row.command_id}${location.search}#L${number}`, true);
  const step = (by: number) => {
    if (errors.length === 0) return;
    const sorted = [...errors].sort((a, b) => a - b);
    const next = by > 0 ? sorted.find((each) => each > line) ?? sorted[0]! : [...sorted].reverse().find((each) => each < line) ?? sorted[sorted.length - 1]!;
    onLine(next);
  };
  const marks: Find | null = find && lines.length > 0 ? { text: find, lines, now: lines[at] ?? 0 } : null;
  useKeys(open ? { n: () => setAt((now) => (now + 1) % Math.max(1, lines.length)), N: () => setAt((now) => (now + lines.length - 1) % Math.max(1, lines.length)), e: () => step(1), E: () => step(-1),
    c: () => void copyOutput(row.command_id), y: () => void copy(`${location.origin}/c/${row.command_id}${line ? `#L${line}` : ""}`, "the link") } : {});
  return (
    <div class={open ? "command-block is-open" : "command-block"} data-command={row.command_id}>
      <h3>
        <button type="button" class="command-head" aria-expanded={open} onClick={() => go(open ? `/history${location.search}` : `/c/${row.command_id}${location.search}`, true)}>
          <Icon name="right" small />
          <code class="cut grow"><bdi><Visible text={row.command} /></bdi></code>
          <State state={state} />
          <span class="m dur"><Took result={row} /></span>
          <bdi class="m where cut">{path(row.cwd)}</bdi>
          <span class="m who-col cut">{row.terminal_name ?? (row.owner === "user" ? "you" : row.owner)}</span>
          <time class="m when">{clock(row.started_at)}</time>
        </button>
      </h3>
      {open ? (
        <>
          <LogTools command={row.command_id} terminal={row.terminal_id} words={[knownBy(row.known_by), findings?.sandbox ? `confined: ${findings.sandbox.profile}` : "", count(row.total_lines, "line"), size(row.total_bytes), row.reason ?? ""].filter(Boolean).join(" · ")} />
          <FactsBox facts={findings?.facts} onLine={onLine} />
          {findings?.changes ? <ChangesBox command={row.command_id} onChanged={() => {}} /> : null}
          {lines.length > 0 ? <p class="log-found" role="status">{at + 1} of {lines.length} matches <button type="button" class="link" onClick={() => setAt((at + 1) % lines.length)}>Next</button></p> : null}
          <Log command={row.command_id} terminal={row.terminal_id} live={live} find={marks} errors={errors} line={line} onLine={onLine} />
        </>
      ) : null}
    </div>
  );
}

function Decisions({ text, from }: { text: string; from: string | undefined }) {
  const { answer, error } = useCall("decisions", { limit: 300, ...(text ? { text } : {}), ...(from ? { since_at: from } : {}) }, store.open.length);
  if (error) return <p class="page-note">{error}</p>;
  const rows = answer?.decisions ?? [];
  if (answer && rows.length === 0) return <div class="lone card"><Empty icon="shield" title="Nothing was decided"><p>Each command of an agent leaves a line here.</p></Empty></div>;
  return (
    <div class="commands decisions">
      {rows.map((row) => (
        <div class="decision" key={row.id}>
          <State state={{ mark: ["allow", "ask_allow"].includes(row.decision) ? "ok" : row.decision === "deny" ? "fail" : "off", words: "" }} />
          <span class="grow">
            {row.command_id ? <A class="mono cut" href={`/c/${row.command_id}`}><bdi><Visible text={row.command} /></bdi></A> : <code class="cut"><bdi><Visible text={row.command} /></bdi></code>}
            <small>{decisionWords(row)}{row.reason ? ` · ${row.reason}` : ""} · {agent(row.asked_by)}{row.terminal_id ? ` · terminal ${terminalName(row.terminal_id)}` : ""}</small>
          </span>
          {row.risk ? <RiskBadge risk={row.risk as Risk} /> : null}
          <time class="m">{clock(row.at)}</time>
        </div>
      ))}
    </div>
  );
}

export function HistoryPage({ command }: { command: string }) {
  const { terminals } = useStore();
  const { query, hash } = place();
  const [text, view, days, task] = [query.get("q") ?? "", query.get("view") ?? "", query.get("since") ?? "", query.get("task") ?? ""];
  const from = since(days);
  const line = Number(/^#L(\d+)/.exec(hash)?.[1] ?? 0);
  const mark = [...terminals.values()].map((each) => each.command?.command_id + (each.command?.state ?? "")).join();
  const [older, setOlder] = useState<HistoryRow[]>([]);
  const [more, setMore] = useState(true);
  const args = { limit: PAGE, ...(text ? { text } : {}), ...(view === "failed" ? { failed: true } : {}), ...(from ? { since_at: from } : {}), ...(task ? { task } : {}) };
  const { answer, error } = useCall("history", view === "decisions" ? null : args, mark);
  useEffect(() => { setOlder([]); setMore(true); }, [JSON.stringify(args)]);
  // A link to a command that is not in the list.
  const [lone, setLone] = useState<Shown | null>(null);
  const rows = [...(answer?.commands ?? []), ...older.filter((row) => !answer?.commands.some((other) => other.command_id === row.command_id))];
  const missing = command && answer && ![...rows, ...underWay()].some((row) => row.command_id === command);
  useEffect(() => {
    if (!missing) return setLone(null);
    link.call("result", { command, lines: 0 }).then((result) => setLone({ ...result, command_id: command, started_at: result.started_at ?? "", terminal_name: null, owner: "" }), () => setLone(null));
  }, [command, missing]);
  const load = async () => {
    const last = rows[rows.length - 1];
    if (!last) return;
    const next = await link.call("history", { ...args, before: last.command_id });
    setMore(next.commands.length === PAGE);
    setOlder((before) => [...before, ...next.commands]);
  };
  const step = (by: number) => {
    const heads = [...document.querySelectorAll<HTMLElement>(".command-head")];
    const now = heads.indexOf(document.activeElement as HTMLElement);
    heads[Math.min(heads.length - 1, Math.max(0, now + by))]?.focus();
  };
  const fold = (open: boolean) => (document.activeElement as HTMLElement | null)?.closest<HTMLElement>(`.command-head[aria-expanded="${!open}"]`)?.click();
  useKeys({ j: () => step(1), k: () => step(-1), ArrowRight: () => fold(true), ArrowLeft: () => fold(false) });
  const isOpen = (row: HistoryRow) => ["running", "awaiting_input", "queued", "pending_approval"].includes(row.state);
  const live = underWay().filter((each) => !rows.some((row) => row.command_id === each.command_id) && each.command.toLowerCase().includes(text.toLowerCase())
    && (!task || (each.terminal_id && terminals.get(each.terminal_id)?.task === task)));
  const running = [...rows.filter(isOpen), ...(view === "" ? live : [])];
  const done = rows.filter((row) => !isOpen(row));
  const byDay = new Map<string, HistoryRow[]>();
  for (const row of done) byDay.set(dayOf(row.started_at), [...(byDay.get(dayOf(row.started_at)) ?? []), row]);
  const today = dayOf(new Date().toISOString());
  const bad = rows.filter(failed).length;
  const list = (some: Shown[]) => (
    <div class="commands">
      {some.map((row) => <Row key={row.command_id} row={row} open={row.command_id === command} line={row.command_id === command ? line : 0} find={query.get("find") ?? ""} />)}
    </div>
  );
  return (
    <>
      <Bar title="History" meta={view === "decisions" ? "" : `${count(rows.length, "command")}${more && rows.length >= PAGE ? " or more" : ""}${bad ? ` · ${bad} failed` : ""}`} />
      <div class="strip" role="search" aria-label="Filter">
        <Segments label="Show" value={view} onChange={(value) => { go("/history" + location.search, true); setQuery({ view: value }); }} options={[
          { value: "", text: "All" }, { value: "failed", text: "Failed" }, { value: "decisions", text: "Decisions" }]} />
        <span class="grow" />
        <Choice label="Since" value={days} onChange={(value) => setQuery({ since: value })} options={[
          { value: "", text: "Today" }, { value: "7", text: "7 days" }, { value: "30", text: "30 days" }, { value: "all", text: "All" }]} />
        {command ? <SearchField label="Search in the output" placeholder="Search in the output" value={query.get("find") ?? ""} onChange={(value) => setQueryKeep({ find: value })} />
          : <SearchField label="Search commands" placeholder="Search commands" value={text} onChange={(value) => setQuery({ q: value })} />}
      </div>
      <main class="main" id="main" tabIndex={-1}>
        {error ? <p class="page-note">{error}</p> : null}
        {view === "decisions" ? <Decisions text={text} from={from} /> : (
          <>
            {lone ? <><h2 class="day">This command</h2>{list([lone])}</> : null}
            {running.length > 0 ? <><h2 class="day">Now</h2>{list(running)}</> : null}
            {[...byDay].map(([day, some]) => (
              <section key={day}>
                <h2 class="day">{day === today ? <>Today <span>{day}</span></> : day}</h2>
                {list(some)}
              </section>
            ))}
            {answer && rows.length + running.length === 0 ? (
              <div class="lone card">
                {text || view ? <Empty icon="search" title={text ? `No command has “${text}”` : "Nothing failed"}><button type="button" class="btn" onClick={() => go("/history?since=all")}>Search all</button></Empty>
                  : <Empty icon="clock" title="Nothing ran yet"><p>Commands of all terminals appear here.</p>{days !== "all" ? <button type="button" class="btn" onClick={() => setQuery({ since: "all" })}>Look further back</button> : null}</Empty>}
              </div>
            ) : null}
            {more && rows.length >= PAGE ? <div class="page-more"><button type="button" class="btn" onClick={() => void load()}>Older</button></div> : null}
          </>
        )}
      </main>
    </>
  );
}

function setQueryKeep(changes: Record<string, string>): void {
  const hash = location.hash;
  setQuery(changes);
  if (hash) go(location.pathname + location.search + hash, true);
}
