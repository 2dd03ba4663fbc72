// The output of a command as numbered lines of text, any number of them: only those in sight are there.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { parseLines, textOf, type Piece } from "./ansi";
import { A, copy, Icon, Line } from "./parts";
import { CallError } from "./link";
import { link, store, useStore } from "./store";
import { size } from "./words";

const ROW = 20;
const CHUNK = 500;
const AROUND = 30;
// Browsers make no element higher than some 17 to 33 million pixels. Beyond this height the scroll bar stands for more
// than it is long: a jump goes to the same share of the lines, a small step moves by as many pixels as ever.
const MOST_HEIGHT = 8_000_000;
const SETTLED = 150; // ms after the last step
// So many lines are laid out as they are, when long ones are wrapped.
export const MOST_WRAPPED = 5000;

export interface Find { text: string; lines: number[]; now: number } // the line of the current match, or 0

export function finder(text: string): RegExp {
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "gi");
}
// The same for the daemon, which uses RE2.
export function pattern(text: string): string {
  return "(?i)" + text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

export async function grep(command: string, text: string): Promise<number[]> {
  const answer = await link.call("read", { command, grep: pattern(text), most: 1000, view: "full" });
  return answer.matches.map((each) => each.line);
}

function stepLine(event: JSX.TargetedKeyboardEvent<HTMLAnchorElement>, number: number): void {
  const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  event.stopPropagation();
  event.currentTarget.closest(".log")?.querySelector<HTMLElement>(`#L${number + by} > a`)?.focus();
}

interface Known { total: number; bytes: number; binary: boolean }

// Which pixel of all lines is at the top of the box.
class Window {
  top = 0;
  scroll = 0; // where the box is scrolled to
  private timer = 0;

  constructor(private box: () => HTMLElement | null, private lines: () => number) {}

  private share(): number {
    const height = this.lines() * ROW;
    const seen = this.box()?.clientHeight ?? 0;
    return height <= MOST_HEIGHT ? 1 : (height - seen) / (MOST_HEIGHT - seen);
  }
  get last(): number {
    return Math.max(0, this.lines() * ROW - (this.box()?.clientHeight ?? 0));
  }
  go(top: number): void {
    const box = this.box();
    if (!box) return;
    this.top = Math.max(0, Math.min(top, this.last));
    box.scrollTop = this.top / this.share();
    this.scroll = box.scrollTop;
  }
  scrolled(): void {
    const box = this.box();
    if (!box) return;
    const step = box.scrollTop - this.scroll;
    this.scroll = box.scrollTop;
    const share = this.share();
    if (share === 1) this.top = this.scroll;
    else if (this.scroll <= 0) this.top = 0;
    else if (this.scroll >= box.scrollHeight - box.clientHeight - 1) this.top = this.last;
    else if (Math.abs(step) > box.clientHeight * 2) this.top = this.scroll * share;
    else this.top = Math.max(0, Math.min(this.top + step, this.last));
    window.clearTimeout(this.timer);
    if (share !== 1) this.timer = window.setTimeout(() => this.go(this.top), SETTLED);
  }
}

export function Log({ command, terminal, live, find, errors = [], line, onLine }: {
  command: string; terminal: string | null; live: boolean; find: Find | null; errors?: number[]; line: number; onLine: (line: number) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const chunks = useRef(new Map<number, Piece[][]>());
  const asked = useRef(new Set<number>());
  const [known, setKnown] = useState<Known | null>(null);
  const [error, setError] = useState("");
  const [, redraw] = useState(0);
  const [view, setView] = useState({ top: 0, scroll: 0, height: 400 });
  const [plain, setPlain] = useState(false);
  const isPlain = useRef(false);
  const follow = useRef(live);
  const lines = useRef(0);
  const at = useRef(new Window(() => box.current, () => lines.current)).current;
  const { prefs } = useStore();

  const fetchChunk = (number: number) => {
    if (asked.current.has(number)) return;
    asked.current.add(number);
    link.call("read", { command, range: [number * CHUNK + 1, (number + 1) * CHUNK], ansi: !isPlain.current, view: "full" }).then(
      (answer) => {
        const text = answer.text.endsWith("\n") ? answer.text.slice(0, -1) : answer.text;
        chunks.current.set(number, answer.total_lines === 0 ? [] : parseLines(text));
        setError("");
        setKnown({ total: answer.total_lines, bytes: answer.total_bytes, binary: answer.binary });
        redraw((value) => value + 1);
      },
      (problem: Error) => {
        asked.current.delete(number);
        // Colours are made for outputs of a bounded size.
        if (!isPlain.current && problem instanceof CallError && problem.code === "exhausted") {
          isPlain.current = true;
          setPlain(true);
          asked.current.clear();
          fetchChunk(number);
          return;
        }
        setError(problem.message);
      },
    );
  };

  useEffect(() => {
    chunks.current.clear();
    asked.current.clear();
    isPlain.current = false;
    setPlain(false);
    fetchChunk(line > 0 ? Math.floor((line - 1) / CHUNK) : 0);
  }, [command]);

  // While it runs, its last lines are read again whenever something was printed.
  useEffect(() => {
    if (!live || !terminal) return;
    let timer = 0;
    const again = () => {
      if (timer) return;
      timer = window.setTimeout(() => {
        timer = 0;
        const last = Math.floor(Math.max(0, (known?.total ?? 1) - 1) / CHUNK);
        asked.current.delete(last);
        fetchChunk(last);
      }, 250);
    };
    const stop = store.listenOutput(terminal, again);
    again();
    return () => {
      stop();
      window.clearTimeout(timer);
    };
  }, [live, terminal, known?.total]);

  // Once more when it has ended.
  useEffect(() => {
    if (live || !known) return;
    const last = Math.floor(Math.max(0, known.total - 1) / CHUNK);
    asked.current.delete(last);
    fetchChunk(last);
  }, [live]);

  const total = known?.total ?? 0;
  lines.current = total;
  const wrap = prefs.wrap && total <= MOST_WRAPPED;
  const show = (number: number) => {
    if (!box.current || number <= 0) return;
    if (wrap) box.current.querySelector(`#L${number}`)?.scrollIntoView({ block: "center" });
    else at.go((number - 1) * ROW - box.current.clientHeight / 3);
    look();
  };
  const look = () => box.current && setView({ top: at.top, scroll: at.scroll, height: box.current.clientHeight });
  useEffect(() => show(line), [line, total > 0, wrap]);
  useEffect(() => show(find?.now ?? 0), [find?.now, find?.text]);
  useEffect(() => {
    if (!live || !follow.current || !box.current) return;
    if (wrap) box.current.scrollTop = box.current.scrollHeight;
    else at.go(at.last);
    look();
  }, [total]);

  if (error && !known) return <div class="log-empty">{error}</div>;
  if (!known) return <div class="log-empty" aria-busy="true"> </div>;
  if (known.binary) return <div class="log-empty">The output is not text: {size(known.bytes)}. It can be downloaded as it is.</div>;
  if (total === 0) return <div class="log-empty">It printed nothing{live ? " yet" : ""}.</div>;

  const first = wrap ? 0 : Math.max(0, Math.floor(view.top / ROW) - AROUND);
  const last = wrap ? total : Math.min(total, Math.ceil((view.top + view.height) / ROW) + AROUND);
  for (let chunk = Math.floor(first / CHUNK); chunk * CHUNK < last; chunk++) fetchChunk(chunk);
  // One number is in the tab order; from it the arrows lead to the others.
  const seen = wrap ? 1 : Math.ceil(view.top / ROW) + 1;
  const stop = line > first && line <= last ? line : Math.min(Math.max(seen, first + 1), last);
  const rows = [];
  const expression = find?.text ? finder(find.text) : null;
  for (let number = first + 1; number <= last; number++) {
    const pieces = chunks.current.get(Math.floor((number - 1) / CHUNK))?.[(number - 1) % CHUNK] ?? [];
    const matches = expression && find!.lines.includes(number);
    rows.push(
      <div key={number} class={`log-line${number === line ? " log-at" : errors.includes(number) ? " log-error" : ""}`} id={`L${number}`}>
        <a href={`/c/${command}#L${number}`} aria-label={`Line ${number}`} tabIndex={number === stop ? 0 : -1} onKeyDown={(event) => stepLine(event, number)} onClick={(event) => { event.preventDefault(); onLine(number); }}>{number}</a>
        <span><bdi><Line pieces={pieces} marks={matches ? { find: expression, now: number === find!.now } : undefined} /></bdi></span>
      </div>,
    );
  }
  return (
    <div class="log-frame">
      {plain ? <p class="log-plain" role="note">Shown without colours: {size(known.bytes)} are too many to read with them. The download has everything.</p> : null}
      {prefs.wrap && !wrap ? <p class="log-plain" role="note">Long lines are not wrapped: there are more than {MOST_WRAPPED} lines.</p> : null}
      <div ref={box} class={wrap ? "log log-wrap" : "log"} role="group" tabIndex={0} aria-label={`Output, ${total} lines`}
        onScroll={(event) => {
          const { scrollTop, clientHeight, scrollHeight } = event.currentTarget;
          follow.current = scrollTop + clientHeight >= scrollHeight - ROW;
          if (wrap) return;
          at.scrolled();
          // Between two pictures the browser moves the rows.
          const moved = at.top - view.top;
          if (Math.abs(moved) > ROW * 5 || moved !== at.scroll - view.scroll || clientHeight !== view.height) look();
        }}>
        <div class="log-space" style={wrap ? undefined : { height: `${Math.min(total * ROW, MOST_HEIGHT)}px` }}>
          <div class="log-rows" style={wrap ? undefined : { transform: `translateY(${view.scroll - view.top + first * ROW}px)` }}>{rows}</div>
        </div>
      </div>
      {(find && find.lines.length > 0) || errors.length > 0 ? (
        <svg class="log-marks" preserveAspectRatio="none" viewBox={`0 0 8 ${total}`} aria-hidden="true">
          {errors.slice(0, 200).map((number) => <rect key={`e${number}`} x="0" y={number - 1} width="8" height={total / 180} class="error" />)}
          {(find?.lines ?? []).slice(0, 500).map((number) => (
            <rect key={number} x="0" y={number - 1} width="8" height={total / 180} class={number === find?.now ? "now" : ""} />
          ))}
        </svg>
      ) : null}
    </div>
  );
}

// Everything as text, in pieces the daemon can answer.
export async function wholeOutput(command: string): Promise<string> {
  let text = "";
  for (let from = 1; ; from += 20_000) {
    const answer = await link.call("read", { command, range: [from, from + 19_999], view: "full" });
    text += answer.text;
    if (answer.total_lines < from + 20_000) return text;
  }
}

export async function copyOutput(command: string): Promise<void> {
  try {
    await copy(await wholeOutput(command), "the output");
  } catch (error) {
    store.toast((error as Error).message);
  }
}

export async function downloadRaw(command: string): Promise<void> {
  try {
    const parts: BlobPart[] = [];
    for (let offset = 0; ;) {
      const answer = await link.call("read", { command, raw: { offset, bytes: 512 * 1024 } });
      const bytes = Uint8Array.from(atob(answer.base64 ?? ""), (char) => char.charCodeAt(0));
      if (bytes.length > 0) parts.push(bytes);
      if (answer.next_offset == null || answer.next_offset <= offset || bytes.length === 0) break;
      offset = answer.next_offset;
    }
    const address = URL.createObjectURL(new Blob(parts, { type: "application/octet-stream" }));
    const anchor = document.createElement("a");
    anchor.href = address;
    anchor.download = `${command}.out`;
    anchor.click();
    window.setTimeout(() => URL.revokeObjectURL(address), 10_000);
  } catch (error) {
    store.toast((error as Error).message);
  }
}

export function LogTools({ command, terminal, words }: { command: string; terminal: string | null; words: string }) {
  const { prefs } = useStore();
  return (
    <div class="log-tools">
      <span class="grow cut">{words}</span>
      <button type="button" class="btn btn-bare" aria-pressed={prefs.wrap} onClick={() => store.setPrefs({ wrap: !prefs.wrap })}>Wrap lines</button>
      <button type="button" class="btn btn-bare" onClick={() => void copyOutput(command)}><Icon name="copy" />Copy output</button>
      <button type="button" class="btn btn-bare" onClick={() => void downloadRaw(command)}><Icon name="load" />Download raw</button>
      <button type="button" class="btn btn-bare" onClick={() => void copy(`${location.origin}/c/${command}`, "the link")}><Icon name="chain" />Copy link</button>
      {terminal && store.terminals.has(terminal) ? <A class="btn btn-bare" href={`/t/${terminal}`}><Icon name="term" />Terminal</A> : null}
    </div>
  );
}

export { textOf };
