// A small picture of a terminal: text with colours, at most twice a second, only while it is in sight.
import { useEffect, useRef, useState } from "preact/hooks";
import { parseLines, parseScreen, textOf, type Piece } from "./ansi";
import { Line } from "./parts";
import { link, store } from "./store";
import type { Terminal } from "./types";

const EVERY = 500;
const ROWS = 10;
const ROWS_COVERED = 6; // beside a strip with a button

interface Picture { lines: Piece[][]; cols: number; rows: number; alternate: boolean }

async function take(terminal: Terminal): Promise<Picture> {
  const over = terminal.state === "finished" || terminal.state === "lost";
  if (over) {
    const { text } = await link.call("read", { terminal: terminal.id, tail: ROWS, ansi: true });
    return { lines: parseLines(text), cols: terminal.cols, rows: terminal.rows, alternate: false };
  }
  const { content, cols, rows, alternate } = await link.call(
    "screen", { terminal: terminal.id, format: "ansi" });
  return { lines: parseScreen(content, rows), cols, rows, alternate };
}

export function Thumb({ terminal, tall, covered }: { terminal: Terminal; tall?: boolean; covered?: boolean }) {
  const box = useRef<HTMLDivElement>(null);
  const [picture, set] = useState<Picture | null>(null);
  useEffect(() => {
    let visible = false;
    let timer = 0;
    let last = 0;
    let stale = true;
    let ended = false;
    const look = () => {
      timer = 0;
      if (!visible || !stale || ended || link.health !== "connected") return;
      stale = false;
      last = Date.now();
      take(terminal).then((now) => !ended && set(now), () => {});
    };
    const later = () => {
      stale = true;
      if (!timer) timer = window.setTimeout(look, Math.max(0, last + EVERY - Date.now()));
    };
    const watcher = new IntersectionObserver(([entry]) => {
      visible = entry?.isIntersecting ?? false;
      if (visible && stale) later();
    });
    if (box.current) watcher.observe(box.current);
    const stop = store.listenOutput(terminal.id, later);
    return () => {
      ended = true;
      window.clearTimeout(timer);
      watcher.disconnect();
      stop();
    };
  }, [terminal.id, terminal.state]);

  let lines = picture?.lines ?? [];
  if (!picture?.alternate) {
    lines = lines.filter((line) => textOf(line).trim() !== "").slice(covered ? -ROWS_COVERED : -ROWS);
  }
  const old = terminal.state === "finished" || terminal.state === "lost" || link.health !== "connected";
  return (
    <div ref={box} class={`thumb${picture?.alternate ? " thumb-full" : ""}${old ? " thumb-old" : ""}${tall ? " thumb-tall" : ""}`} aria-hidden="true">
      <pre class="shot" style={picture?.alternate ? { fontSize: `${Math.min(8, 140 / picture.rows / 1.18)}px` } : undefined}>
        {lines.map((line, at) => (
          <div key={at}><Line pieces={line} />{"\n"}</div>
        ))}
      </pre>
    </div>
  );
}
