// Small parts that every view uses.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { textOf, type Piece } from "./ansi";
import { go, riskWords, store, useNow } from "./store";
import type { Effect, Reason, Result, Risk } from "./types";
import { duration, left, path, shorten, type Mark, type StateWords } from "./words";

const PATHS: Record<string, string> = {
  shield: "M8 1.8 13 3.6v4c0 3.2-2.1 5.4-5 6.6-2.9-1.2-5-3.4-5-6.6v-4z M5.8 8l1.6 1.6 2.9-3.1",
  term: "M3.4 2.8h9.2a1.6 1.6 0 0 1 1.6 1.6v7.2a1.6 1.6 0 0 1-1.6 1.6H3.4a1.6 1.6 0 0 1-1.6-1.6V4.4a1.6 1.6 0 0 1 1.6-1.6z M4.6 6.2l2 1.8-2 1.8M8.4 10h3",
  clock: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2z M8 4.6V8l2.3 1.5",
  chart: "M2.5 13.5h11M4.5 11V7.5M8 11V3.5M11.5 11V6",
  sliders: "M2.5 4.5h6M11.5 4.5h2M2.5 11.5h2M7.5 11.5h6 M10 3a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3z M6 10a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3z",
  search: "M7 2.7a4.3 4.3 0 1 1 0 8.6 4.3 4.3 0 0 1 0-8.6z M10.3 10.3l3.2 3.2",
  check: "M3.2 8.4l3.2 3.2 6.4-7",
  x: "M4 4l8 8M12 4l-8 8",
  minus: "M3.5 8h9",
  plus: "M8 3v10M3 8h10",
  right: "M6 3.8L10.2 8 6 12.2",
  left: "M10 3.8L5.8 8l4.2 4.2",
  down: "M3.8 6L8 10.2 12.2 6",
  up: "M3.8 10L8 5.8 12.2 10",
  globe: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2z M2 8h12M8 2c3.4 3.6 3.4 8.4 0 12-3.4-3.6-3.4-8.4 0-12z",
  trash: "M2.8 4.4h10.4M6.2 4.2V2.8h3.6v1.4M4.2 4.6l.6 8.6h6.4l.6-8.6",
  box: "M8 1.9L13.4 5v6L8 14.1 2.6 11V5zM2.8 5.1L8 8l5.2-2.9M8 8v6",
  pencil: "M10.8 2.8l2.4 2.4-7.6 7.6-3 .6.6-3z",
  eye: "M1.6 8C3 5.2 5.3 3.8 8 3.8S13 5.2 14.4 8C13 10.8 10.7 12.2 8 12.2S3 10.8 1.6 8z M8 6.2a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6z",
  bolt: "M9 1.8L3.6 9H7.4l-.6 5.2L12.4 7H8.4z",
  arrow: "M8 13.5V2.8M4.2 6.4L8 2.6l3.8 3.8",
  key: "M5 7.4a2.6 2.6 0 1 1 0 5.2 2.6 2.6 0 0 1 0-5.2z M6.9 8.2L12.8 2.4M10.6 4.6l1.9 1.9",
  help: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2z M6.2 6.4a1.8 1.8 0 1 1 2.6 1.7c-.6.3-.8.6-.8 1.3M8 11.4v.1",
  hand: "M5 8V4.2a1 1 0 0 1 2 0V7M7 7V3a1 1 0 0 1 2 0v4M9 7V3.8a1 1 0 0 1 2 0V9c0 3-1.4 4.8-3.8 4.8-1.8 0-2.8-.8-3.8-2.6L2.4 9a.9.9 0 0 1 1.5-.9L5 9.2",
  keyboard: "M2.6 4.2h10.8a1.2 1.2 0 0 1 1.2 1.2v5.2a1.2 1.2 0 0 1-1.2 1.2H2.6a1.2 1.2 0 0 1-1.2-1.2V5.4a1.2 1.2 0 0 1 1.2-1.2z M4.4 6.8h.01M7 6.8h.01M9.4 6.8h.01M11.8 6.8h.01M5 9.4h6",
  lock: "M4.4 7.2h7.2a1 1 0 0 1 1 1V12a1 1 0 0 1-1 1H4.4a1 1 0 0 1-1-1V8.2a1 1 0 0 1 1-1z M5.4 7V5.4a2.6 2.6 0 0 1 5.2 0V7",
  stop: "M5 4h6a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1V5a1 1 0 0 1 1-1z",
  paste: "M6 3.4H4.4A1.2 1.2 0 0 0 3.2 4.6v8a1.2 1.2 0 0 0 1.2 1.2h7.2a1.2 1.2 0 0 0 1.2-1.2v-8a1.2 1.2 0 0 0-1.2-1.2H10 M6.4 2.2h3.2a.5.5 0 0 1 .5.5v1.6H5.9V2.7a.5.5 0 0 1 .5-.5z M5.6 7.6h4.8M5.6 10h4.8",
  copy: "M6 5.2h6.2a1 1 0 0 1 1 1v6.2a1 1 0 0 1-1 1H6a1 1 0 0 1-1-1V6.2a1 1 0 0 1 1-1z M3.4 10.6H3a1 1 0 0 1-1-1V3.4a1 1 0 0 1 1-1h6.2a1 1 0 0 1 1 1v.4",
  load: "M8 2.5v7M4.8 6.6L8 9.8l3.2-3.2M2.8 13.2h10.4",
  chain: "M6.6 9.4l2.8-2.8M7 4.6l1.2-1.2a2.8 2.8 0 0 1 4 4L11 8.6M9 11.4l-1.2 1.2a2.8 2.8 0 0 1-4-4L5 7.4",
  moon: "M13.2 9.6A5.6 5.6 0 0 1 6.4 2.8a5.6 5.6 0 1 0 6.8 6.8z",
  more: "M3 8a.6.6 0 1 0 1.2 0 .6.6 0 1 0-1.2 0z M7.4 8a.6.6 0 1 0 1.2 0 .6.6 0 1 0-1.2 0z M11.8 8a.6.6 0 1 0 1.2 0 .6.6 0 1 0-1.2 0z",
  warn: "M8 2.6l6 10.6H2z M8 6.6v3M8 11.4v.1",
  spin: "M8 2a6 6 0 1 1-5.6 3.9",
  deny: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2z M3.8 3.8l8.4 8.4",
};

export function Icon({ name, small, turns }: { name: string; small?: boolean; turns?: boolean }) {
  return (
    <svg class={`icon${small ? " icon-s" : ""}${turns ? " turns" : ""}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name] ?? ""} />
    </svg>
  );
}

export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 22 22" aria-hidden="true">
      <path class="logo-a" d="M11 1.5 19.5 4.6v6.2c0 5-3.4 8.3-8.5 9.9-5.1-1.6-8.5-4.9-8.5-9.9V4.6z" />
      <path class="logo-b" d="m7.2 8 3 2.8-3 2.8M11.6 14h3.6" />
    </svg>
  );
}

// A link inside the page.
export function A({ href, children, ...more }: { href: string; children: ComponentChildren } & JSX.HTMLAttributes<HTMLAnchorElement>) {
  return (
    <a
      href={href}
      {...more}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        go(href);
      }}
    >
      {children}
    </a>
  );
}

export function RiskBadge({ risk }: { risk: Risk }) {
  const bars = ["low", "medium", "high", "critical"].indexOf(risk) + 1;
  return (
    <span class={`risk risk-${risk}`}>
      <svg viewBox="0 0 14 12" aria-hidden="true">
        {[0, 1, 2, 3].map((at) => (
          <rect key={at} x={at * 3.6} y={9 - at * 3} width="2.4" height={3 + at * 3} rx=".6" class={at < bars ? "" : "off"} />
        ))}
      </svg>
      {riskWords(risk)}
    </span>
  );
}

const EFFECT_ICONS: Record<string, string> = {
  read: "eye", write: "pencil", delete: "trash", network: "globe", install: "box", execute: "bolt", privilege: "arrow", secret: "key",
};

export function EffectChips({ effects }: { effects: Effect[] }) {
  // A kind without a target adds nothing beside the same kind with one.
  const shown = effects.filter((effect, at) => (effect.target ? effects.findIndex((each) => each.kind === effect.kind && each.target === effect.target) === at
    : effects.findIndex((each) => each.kind === effect.kind) === at && !effects.some((each) => each.kind === effect.kind && each.target)));
  if (shown.length === 0) return null;
  return (
    <div class="chips" role="list" aria-label="Effects">
      {shown.slice(0, 12).map((effect, at) => (
        <span role="listitem" key={at} class={`chip${["delete", "secret"].includes(effect.kind) ? " chip-danger" : ""}`} title={effect.target ?? undefined}>
          <Icon name={EFFECT_ICONS[effect.kind] ?? "help"} small />
          <b>{effect.kind}</b>
          {effect.target ? <bdi class="mono cut">{middle(path(effect.target), 48)}</bdi> : null}
        </span>
      ))}
    </div>
  );
}

function middle(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most / 2)}…${text.slice(-most / 2)}`;
}

const STATE_ICONS: Record<Mark, string> = { ok: "check", fail: "x", run: "spin", wait: "hand", off: "minus", key: "keyboard" };

export function State({ state }: { state: StateWords }) {
  return (
    <span class={`state state-${state.mark}`}>
      <Icon name={STATE_ICONS[state.mark]} small turns={state.mark === "run"} />
      {state.words}
    </span>
  );
}

export function Dot({ mark }: { mark: Mark }) {
  return <span class={`dot dot-${mark}`} aria-hidden="true" />;
}

export function Who({ name }: { name: string }) {
  const parts = name.split(/[\s-]+/);
  const letters = name === "you" ? "me" : (parts.length > 1 ? parts.map((part) => part[0] ?? "").join("") : `${name[0] ?? ""}${name.slice(1).at(-1) ?? ""}`).slice(0, 2).toLowerCase();
  return (
    <span class="who">
      <i aria-hidden="true">{letters || "?"}</i>
      <bdi>{name}</bdi>
    </span>
  );
}

// ---- a command as it is: nothing hidden, nothing re-flowed by its own characters

// Format and control characters, separators, fillers and blanks that look like nothing or like a space.
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\u00a0\u115f\u1160\u1680\u2000-\u200a\u202f\u205f\u2800\u3000\u3164\uffa0\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u;

export function hiddenCount(text: string): number {
  let found = 0;
  for (const char of text) if (char !== "\n" && HIDDEN.test(char)) found++;
  return found;
}

function visible(text: string): ComponentChildren[] {
  const out: ComponentChildren[] = [];
  let plain = "";
  const flush = () => {
    if (plain) out.push(plain);
    plain = "";
  };
  for (const char of text) {
    if (char === "\n") {
      plain += "↵\n";
    } else if (HIDDEN.test(char)) {
      flush();
      const code = `U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
      out.push(<span class="hidden-char" title="a character that is not seen">{code}</span>);
    } else {
      plain += char;
    }
  }
  flush();
  return out;
}

export function Visible({ text }: { text: string }) {
  return <>{visible(text)}</>;
}

// Where a byte of the UTF-8 text is in the string.
function indices(text: string): (byte: number) => number {
  const starts: number[] = [];
  let at = 0;
  for (const char of text) {
    const code = char.codePointAt(0)!;
    const bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (let i = 0; i < bytes; i++) starts.push(at);
    at += char.length;
  }
  return (byte) => (byte >= starts.length ? at : starts[Math.max(0, byte)]!);
}

// The reasons' numbers stand under the bytes they are about.
export function CommandText({ text, reasons, id }: { text: string; reasons: Reason[]; id?: string }) {
  const index = indices(text);
  const cuts = new Set([0, text.length]);
  const spans = reasons.map((reason) => ({ begin: index(reason.begin), end: index(reason.end), risk: reason.risk })).map((span) =>
    span.end > span.begin ? span : { begin: 0, end: 0, risk: span.risk });
  for (const span of spans) cuts.add(span.begin).add(span.end);
  const points = [...cuts].sort((a, b) => a - b);
  const parts: ComponentChildren[] = [];
  for (let i = 0; i + 1 < points.length; i++) {
    const [from, to] = [points[i]!, points[i + 1]!];
    const over = spans.flatMap((span, at) => (span.begin <= from && span.end >= to && span.end > span.begin ? [at] : []));
    const ends = spans.flatMap((span, at) => (span.end === to && span.end > span.begin ? [at + 1] : []));
    const body = visible(text.slice(from, to));
    if (over.length === 0) {
      parts.push(body);
      continue;
    }
    const critical = over.some((at) => spans[at]!.risk === "critical");
    parts.push(
      <span class={critical ? "reason-at reason-critical" : "reason-at"}>
        {body}
        {ends.length > 0 ? <sup aria-hidden="true">{ends.join(" ")}</sup> : null}
      </span>,
    );
  }
  return (
    <pre class="command" id={id}>
      <code><bdi>{parts}</bdi></code>
    </pre>
  );
}

export function Reasons({ reasons, hidden }: { reasons: Reason[]; hidden: number }) {
  if (reasons.length === 0 && hidden === 0) return null;
  return (
    <ol class="reasons">
      {reasons.map((reason, at) => (
        <li key={at}>
          <span class="number">{at + 1}</span>
          {reason.risk === "critical" ? <b>{shorten(reason.text)}</b> : <span>{shorten(reason.text)}</span>}
        </li>
      ))}
      {hidden > 0 ? (
        <li>
          <span class="number">!</span>
          <b>{hidden === 1 ? "1 hidden character" : `${hidden} hidden characters`}</b>
        </li>
      ) : null}
    </ol>
  );
}

// How long a command took, or has taken by now.
export function Took({ result }: { result: Pick<Result, "started_at"> & { state: string; duration_ms: number | null } }) {
  const live = ["running", "awaiting_input"].includes(result.state);
  const now = useNow(live ? 1000 : 3_600_000);
  if (!live) return <>{result.duration_ms != null ? duration(result.duration_ms) : ""}</>;
  return <>{result.started_at ? duration(Math.floor(Math.max(0, now - Date.parse(result.started_at)) / 1000) * 1000) : ""}</>;
}

export function Countdown({ from, until }: { from: string; until: string | null }) {
  const now = useNow(1000);
  if (!until) return null;
  const end = Date.parse(until);
  const whole = Math.max(1, end - Date.parse(from));
  const rest = Math.max(0, end - now);
  return (
    <span class={`clock${rest < 60_000 ? " clock-soon" : ""}`} title="Denied if nobody answers">
      <svg class="ring" viewBox="0 0 14 14" aria-hidden="true">
        <circle cx="7" cy="7" r="5.5" />
        <circle cx="7" cy="7" r="5.5" pathLength={100} stroke-dasharray={`${Math.round((rest / whole) * 100)} 100`} />
      </svg>
      <b>{left(rest)}</b> left
    </span>
  );
}

// ---- coloured lines

function Styled({ piece, text }: { piece: Piece; text: string }) {
  if (!piece.cls && !piece.fg && !piece.bg) return <>{text}</>;
  return <span class={piece.cls} style={piece.fg || piece.bg ? { color: piece.fg, backgroundColor: piece.bg } : undefined}>{text}</span>;
}

// Matches are marked across pieces; what is around them keeps its colours.
export function Line({ pieces, marks }: { pieces: Piece[]; marks?: { find: RegExp; now: boolean } }) {
  if (!marks) return <>{pieces.map((piece, at) => <Styled key={at} piece={piece} text={piece.text} />)}</>;
  const spans = [...textOf(pieces).matchAll(marks.find)].filter((found) => found[0] !== "").map((found) => [found.index, found.index + found[0].length] as const);
  const out: ComponentChildren[] = [];
  let at = 0;
  for (const piece of pieces) {
    const end = at + piece.text.length;
    let from = at;
    for (const [begin, stop] of spans) {
      if (stop <= from || begin >= end) continue;
      if (begin > from) out.push(<Styled piece={piece} text={piece.text.slice(from - at, begin - at)} />);
      const last = Math.min(stop, end);
      out.push(<mark class={marks.now ? "now" : ""}>{piece.text.slice(Math.max(begin, from) - at, last - at)}</mark>);
      from = last;
    }
    if (from < end) out.push(<Styled piece={piece} text={piece.text.slice(from - at)} />);
    at = end;
  }
  return <>{out}</>;
}

// ---- dialogs

export function Dialog({ title, children, onClose, wide }: { title: string; children: ComponentChildren; onClose: () => void; wide?: boolean }) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    box.current?.showModal();
    return () => before?.focus?.();
  }, []);
  return (
    <dialog ref={box} class={`dialog${wide ? " dialog-wide" : ""}`} aria-label={title} onCancel={(event) => { event.preventDefault(); onClose(); }}
      onClick={(event) => { if (event.target === box.current) onClose(); }}>
      <div class="dialog-body">
        <h2>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

export function Empty({ icon, title, children }: { icon: string; title: string; children: ComponentChildren }) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Segments({ label, value, options, onChange }: { label: string; value: string; options: { value: string; text: string; n?: number }[]; onChange: (value: string) => void }) {
  return (
    <div class="segments" role="group" aria-label={label}>
      {options.map((option) => (
        <button key={option.value} type="button" aria-pressed={option.value === value} onClick={() => onChange(option.value)}>
          {option.text}
          {option.n !== undefined ? <span class="n">{option.n}</span> : null}
        </button>
      ))}
    </div>
  );
}

export function Choice({ label, value, options, onChange }: { label: string; value: string; options: { value: string; text: string }[]; onChange: (value: string) => void }) {
  return (
    <label class="choice">
      <span class="unseen">{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>{option.text}</option>
        ))}
      </select>
    </label>
  );
}

export function SearchField({ label, placeholder, value, onChange, id }: { label: string; placeholder: string; value: string; onChange: (value: string) => void; id?: string }) {
  const [text, set] = useState(value);
  const timer = useRef(0);
  useEffect(() => set(value), [value]);
  return (
    <label class="field field-quiet">
      <Icon name="search" />
      <span class="unseen">{label}</span>
      <input id={id} type="search" value={text} placeholder={placeholder} data-search onInput={(event) => {
        const now = event.currentTarget.value;
        set(now);
        window.clearTimeout(timer.current);
        timer.current = window.setTimeout(() => onChange(now), 120);
      }} />
      <kbd class="not-phone">/</kbd>
    </label>
  );
}

export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    store.toast(`Copied ${what}.`);
  } catch {
    store.toast("The browser did not allow copying.");
  }
}

// Single keys of a view. Off while a field or a terminal has the focus, or by the person's choice.
export function useKeys(keys: Record<string, (event: KeyboardEvent) => unknown>): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const at = event.target as HTMLElement | null;
      if (at?.closest("input, textarea, select, .xterm, dialog")) return;
      if (event.key.length === 1 && !store.prefs.keys) return;
      const action = current.current[event.key] ?? current.current[event.key.toLowerCase()];
      if (!action) return;
      if ((event.key === "Enter" || event.key === " ") && at?.closest("button, a, summary")) return;
      event.preventDefault();
      action(event);
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, []);
}
