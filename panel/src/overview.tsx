// What happened: figures, two plots, failures, the slowest, room, and what was decided without a person.
import type { ComponentChildren } from "preact";
import { A, Icon, Segments, State, Visible } from "./parts";
import { Bar } from "./shell";
import { place, setQuery, store, useCall, useStore } from "./store";
import type { DecisionRow, HistoryRow } from "./types";
import { agent, clock, count, duration, ended, failed, size } from "./words";

const HOUR = 3_600_000;
const NARROW = "(max-width: 719px)"; // letters stay letters there

function Figure({ title, value, children }: { title: string; value: string; children: ComponentChildren }) {
  return (
    <section class="card figure w3"><h2>{title}</h2><p><b>{value}</b> <span>{children}</span></p></section>
  );
}

function niceTop(value: number): number {
  for (const step of [4, 8, 12, 20, 40, 60, 80, 120, 200, 400, 800, 1200, 2000, 4000, 8000]) if (value <= step) return step;
  return Math.ceil(value / 4000) * 4000;
}

function Bars({ rows, from, days }: { rows: HistoryRow[]; from: number; days: number }) {
  const slots = days === 1 ? 24 : days;
  const step = days === 1 ? HOUR : 24 * HOUR;
  const good = new Array<number>(slots).fill(0);
  const bad = new Array<number>(slots).fill(0);
  for (const row of rows) {
    const slot = Math.floor((Date.parse(row.started_at) - from) / step);
    if (slot < 0 || slot >= slots) continue;
    (failed(row) ? bad : good)[slot]!++;
  }
  const top = niceTop(Math.max(...good.map((value, at) => value + bad[at]!), 1));
  const narrow = matchMedia(NARROW).matches;
  const [left, right, height] = [30, narrow ? 330 : 640, 170];
  const width = (right - left) / slots;
  const y = (value: number) => 10 + height - (value / top) * height;
  const label = (slot: number) => (days === 1 ? `${String(slot).padStart(2, "0")}:00` : new Date(from + slot * step + HOUR * 2).getDate().toString());
  const every = (days === 1 ? 3 : days === 7 ? 1 : 5) * (narrow && days !== 7 ? 2 : 1);
  const now = (Date.now() - from) / step;
  return (
    <svg viewBox={`0 0 ${right + 10} 204`} role="img" aria-label={`Commands ${days === 1 ? "per hour" : "per day"}: ${good.map((value, at) => (value + bad[at]! ? `${label(at)} ${value + bad[at]!}` : "")).filter(Boolean).join(", ")}`}>
      {[0, 0.25, 0.5, 0.75, 1].map((part) => (
        <g key={part}>
          <line class="grid-line" x1={left} x2={right} y1={y(top * part)} y2={y(top * part)} />
          <text x={left - 6} y={y(top * part) + 4} text-anchor="end">{Math.round(top * part)}</text>
        </g>
      ))}
      {good.map((value, at) => (
        <g key={at}>
          {value > 0 ? <rect class="plot-ok" x={left + at * width + width * 0.12} width={width * 0.76} y={y(value)} height={10 + height - y(value)} rx="1.5" /> : null}
          {bad[at]! > 0 ? <rect class="plot-bad" x={left + at * width + width * 0.12} width={width * 0.76} y={y(value + bad[at]!) - 1} height={y(value) - y(value + bad[at]!)} rx="1.5" /> : null}
          {at % every === 0 ? <text x={left + at * width + width / 2} y={200} text-anchor="middle">{label(at)}</text> : null}
        </g>
      ))}
      {now > 0 && now < slots ? <line class="plot-now" x1={left + now * width} x2={left + now * width} y1="4" y2={10 + height} /> : null}
    </svg>
  );
}

interface Wait { at: number; ms: number; expired: boolean }

function Waits({ waits, from, days }: { waits: Wait[]; from: number; days: number }) {
  const marks = [2_000, 10_000, 60_000, 300_000];
  const [left, right, height] = [48, matchMedia(NARROW).matches ? 320 : 440, 170];
  const low = Math.log(1_500);
  const high = Math.log(Math.max(300_000, ...waits.map((each) => each.ms)));
  const y = (ms: number) => 10 + height - ((Math.log(Math.max(1_500, ms)) - low) / (high - low)) * height;
  const span = days * 24 * HOUR;
  const x = (at: number) => left + ((at - from) / span) * (right - left);
  const steps = days === 1 ? [0, 6, 12, 18, 24] : days === 7 ? [0, 2, 4, 6] : [0, 10, 20];
  return (
    <svg viewBox={`0 0 ${right + 20} 204`} role="img" aria-label={`Wait for an answer: ${count(waits.length, "question")}`}>
      {marks.map((ms) => (
        <g key={ms}>
          <line class="grid-line" x1={left} x2={right} y1={y(ms)} y2={y(ms)} />
          <text x={left - 6} y={y(ms) + 4} text-anchor="end">{ms < 60_000 ? `${ms / 1000} s` : `${ms / 60_000} min`}</text>
        </g>
      ))}
      {steps.map((each) => (
        <text key={each} x={left + (days === 1 ? each / 24 : each / days) * (right - left)} y={200} text-anchor="middle">
          {days === 1 ? `${String(each).padStart(2, "0")}:00` : new Date(from + each * 24 * HOUR + HOUR * 2).getDate()}
        </text>
      ))}
      {waits.map((each, at) => <circle key={at} class={each.expired ? "plot-late" : "plot-dot"} cx={x(each.at)} cy={y(each.ms)} r="3" />)}
    </svg>
  );
}

function Meter({ name, value, most, text }: { name: string; value: number; most: number; text: string }) {
  return (
    <div class="meter"><span class="cut">{name}</span>{most > 0 ? <progress class={value / most > 0.85 ? "hot" : ""} max={most} value={value} aria-label={name} /> : <span />}<span class="num">{text}</span></div>
  );
}

export function Overview() {
  const { terminals } = useStore();
  const days = Number(place().query.get("days") ?? 1) || 1;
  const start = new Date();
  start.setHours(0, 0, 0, 0);
  start.setDate(start.getDate() - (days - 1));
  const from = start.getTime();
  const before = new Date(from - days * 24 * HOUR).toISOString();
  const mark = store.open.length;
  const { answer: history } = useCall("history", { since_at: before, limit: 10_000 }, mark);
  const { answer: decided } = useCall("decisions", { since_at: start.toISOString(), limit: 10_000 }, mark);
  const { answer: questions } = useCall("approvals", { all: true }, mark);
  const { answer: status } = useCall("status", {}, mark);
  const all = history?.commands ?? [];
  const rows = all.filter((row) => Date.parse(row.started_at) >= from);
  const passed = Date.now() - from;
  const earlier = all.filter((row) => Date.parse(row.started_at) < from && Date.parse(row.started_at) - (from - days * 24 * HOUR) <= passed).length;
  const bad = rows.filter(failed);
  const decisions = decided?.decisions ?? [];
  const asked = decisions.filter((row) => row.answered_by || ["expired", "withdrawn", "skip"].includes(row.decision));
  const waits: Wait[] = (questions?.approvals ?? []).filter((each) => each.answered_at || each.state === "expired").map((each) => ({
    at: Date.parse(each.created_at), ms: Math.max(0, Date.parse(each.answered_at ?? each.expires_at ?? each.created_at) - Date.parse(each.created_at)), expired: each.state === "expired",
  })).filter((each) => each.at >= from);
  const answered = waits.filter((each) => !each.expired).map((each) => each.ms).sort((a, b) => a - b);
  const median = answered[Math.floor(answered.length / 2)];
  const kinds = (decision: string[]) => asked.filter((row) => decision.includes(row.decision)).length;

  const failures = new Map<string, { row: HistoryRow; times: number }>();
  for (const row of bad) failures.set(row.command, { row: failures.get(row.command)?.row ?? row, times: (failures.get(row.command)?.times ?? 0) + 1 });
  const worst = [...failures.values()].sort((a, b) => b.times - a.times).slice(0, 5);
  const slowest = [...rows].filter((row) => row.duration_ms !== null).sort((a, b) => b.duration_ms! - a.duration_ms!).slice(0, 5);
  const without = new Map<string, { row: DecisionRow; times: number }>();
  for (const row of decisions.filter((each) => !each.answered_by && ["allow", "deny"].includes(each.decision) && !each.decided_by?.startsWith("nobody"))) {
    const key = `${row.decision} ${row.decided_by}`;
    without.set(key, { row, times: (without.get(key)?.times ?? 0) + 1 });
  }
  const byRule = [...without.values()].sort((a, b) => b.times - a.times).slice(0, 6);
  const askers = new Map(decisions.flatMap((row) => (row.command_id ? [[row.command_id, row.asked_by] as const] : [])));
  const owners = new Map<string, { commands: number; failed: number }>();
  for (const row of rows) {
    // An agent's commands are decided about, and the decision knows the agent.
    const name = row.owner === "user" ? "you" : row.owner === "agent" ? agent(askers.get(row.command_id) ?? null) : row.owner;
    const entry = owners.get(name) ?? { commands: 0, failed: 0 };
    owners.set(name, { commands: entry.commands + 1, failed: entry.failed + (failed(row) ? 1 : 0) });
  }
  const fullest = [...terminals.values()].sort((a, b) => b.journal.bytes - a.journal.bytes)[0];
  const words = days === 1 ? "yesterday by now" : `the ${days} days before`;
  return (
    <>
      <Bar title="Overview" meta={days === 1 ? `Today until ${clock(new Date().toISOString())}` : `The last ${days} days`}>
        <Segments label="Time" value={String(days)} onChange={(value) => setQuery({ days: value === "1" ? "" : value })} options={[
          { value: "1", text: "Today" }, { value: "7", text: "7 days" }, { value: "30", text: "30 days" }]} />
      </Bar>
      <main class="main" id="main" tabIndex={-1}>
        <div class="overview">
          <Figure title="Commands" value={String(rows.length)}>{earlier === rows.length ? `as many as ${words}` : `${Math.abs(rows.length - earlier)} ${rows.length > earlier ? "more" : "fewer"} than ${words}`}</Figure>
          <Figure title="Failed" value={String(bad.length)}>{rows.length ? `${Math.round((bad.length / rows.length) * 100)}%` : ""}{worst[0] ? <> · {worst[0].times} of them <bdi><Visible text={worst[0].row.command.split(" ")[0]!} /></bdi></> : null}</Figure>
          <Figure title="Questions" value={String(asked.length)}>{`${kinds(["ask_allow", "allow"])} allowed, ${kinds(["deny"])} denied, ${kinds(["expired"])} expired`}</Figure>
          <Figure title="Wait for an answer" value={median != null ? duration(median) : "–"}>{median != null ? `median · longest ${duration(answered[answered.length - 1]!)}` : "no question was answered"}</Figure>
          <section class="box w7">
            <header class="box-top"><h2>{days === 1 ? "Commands per hour" : "Commands per day"}</h2><div class="legend"><span><i />finished</span><span><i class="bad" />failed</span></div></header>
            <div class="plot"><Bars rows={rows} from={from} days={days} /></div>
          </section>
          <section class="box w5">
            <header class="box-top"><h2>Wait for an answer</h2><div class="legend"><span><i class="dot-key" />answered</span><span><i class="late" />expired</span></div></header>
            <div class="plot"><Waits waits={waits} from={from} days={days} /></div>
          </section>
          <section class="box w4">
            <header class="box-top"><h2>Failures</h2>{bad.length ? <A class="link" href="/history?view=failed">All {bad.length}</A> : null}</header>
            <ul class="rows">
              {worst.map(({ row, times }) => <li key={row.command_id}><State state={{ mark: "fail", words: "" }} /><A class="mono cut" href={`/c/${row.command_id}`}><bdi><Visible text={row.command} /></bdi></A><span class="num">{ended(row).words}{times > 1 ? ` · ${times} times` : ""}</span></li>)}
              {worst.length === 0 ? <li class="dim">Nothing failed.</li> : null}
            </ul>
          </section>
          <section class="box w4">
            <header class="box-top"><h2>Slowest</h2></header>
            <ul class="rows">
              {slowest.map((row) => <li key={row.command_id}><A class="mono cut" href={`/c/${row.command_id}`}><bdi><Visible text={row.command} /></bdi></A><span class="num">{duration(row.duration_ms!)}</span></li>)}
              {slowest.length === 0 ? <li class="dim">Nothing ran yet.</li> : null}
            </ul>
          </section>
          <section class="box w4">
            <header class="box-top"><h2>Room</h2></header>
            <div class="meters">
              {status?.journals ? <Meter name="Journals" value={status.journals.bytes} most={status.journals.quota} text={`${size(status.journals.bytes)} of ${size(status.journals.quota)}`} /> : null}
              <Meter name="Terminals" value={0} most={0} text={String(status?.terminals ?? terminals.size)} />
              {fullest ? <Meter name={`Fullest: ${fullest.name || fullest.id.slice(0, 8)}`} value={0} most={0} text={size(fullest.journal.bytes)} /> : null}
              {status ? <Meter name="Daemon" value={0} most={0} text={`${size(status.memory_kib * 1024)} · up ${duration(Date.now() - Date.parse(status.started_at))}`} /> : null}
            </div>
          </section>
          <section class="box w6">
            <header class="box-top"><h2>Who ran commands</h2></header>
            <table class="table"><thead><tr><th scope="col">Who</th><th scope="col">Commands</th><th scope="col">Failed</th></tr></thead>
              <tbody>{[...owners].sort((a, b) => b[1].commands - a[1].commands).map(([name, value]) => <tr key={name}><th scope="row"><bdi><Visible text={name} /></bdi></th><td>{value.commands}</td><td>{value.failed}</td></tr>)}</tbody></table>
          </section>
          <section class="box w6">
            <header class="box-top"><h2>Decided without you</h2></header>
            <ul class="rows">
              {byRule.map(({ row, times }, at) => <li key={at}><span class={row.decision === "allow" ? "state state-ok" : "state state-fail"}><Icon name={row.decision === "allow" ? "check" : "x"} small /></span><bdi class="cut"><Visible text={row.decided_by ?? "built in"} /></bdi><span class="num">{times} {row.decision === "allow" ? "allowed" : "refused"}</span></li>)}
              {byRule.length === 0 ? <li class="dim">Nothing yet.</li> : null}
            </ul>
          </section>
        </div>
      </main>
    </>
  );
}
