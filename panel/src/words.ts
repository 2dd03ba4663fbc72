// Times, sizes and states in words.
import type { HistoryRow, Result, Terminal, Waiting } from "./types";

export type Mark = "ok" | "fail" | "run" | "wait" | "off" | "key";
export interface StateWords { mark: Mark; words: string }

export function duration(ms: number): string {
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 60_000) return `${Math.round(ms / 1000)} s`;
  const minutes = Math.floor(ms / 60_000);
  const seconds = Math.floor((ms % 60_000) / 1000);
  if (minutes < 60) return seconds === 0 || minutes > 9 ? `${minutes} min` : `${minutes} min ${seconds} s`;
  const hours = Math.floor(minutes / 60);
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
}

export function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

export function count(value: number, one: string, many = one + "s"): string {
  return `${value} ${value === 1 ? one : many}`;
}

const two = (value: number) => String(value).padStart(2, "0");

// The clock; with the date if it is not today's.
export function clock(time: string | null): string {
  if (!time) return "";
  const at = new Date(time);
  const hours = `${two(at.getHours())}:${two(at.getMinutes())}`;
  if (at.toDateString() === new Date().toDateString()) return hours;
  return `${at.getDate()} ${at.toLocaleString("en", { month: "short" })} ${hours}`;
}

export function dayOf(time: string): string {
  const at = new Date(time);
  return `${at.toLocaleString("en", { weekday: "long" })} ${at.getDate()} ${at.toLocaleString("en", { month: "long" })}`;
}

export function left(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return `${Math.floor(seconds / 60)}:${two(seconds % 60)}`;
}

let home = "";
let homeInText: RegExp | null = null;
export function learnHome(path: string): void {
  home = path;
  const safe = path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  homeInText = new RegExp(`(^|[\\s"'\`=(,;:])${safe}(?=[/\\s"'\`),;:]|$)`, "g");
}
// A sentence that names files.
export function shorten(text: string): string {
  return homeInText ? text.replace(homeInText, "$1~") : text;
}
export function path(text: string | null): string {
  if (!text) return "";
  if (home && (text === home || text.startsWith(home + "/"))) return "~" + text.slice(home.length);
  return text;
}

// Whether somebody has to do something about it.
export function needsAnswer(waiting: Waiting | null): boolean {
  return waiting === null || ["line", "password", "key"].includes(waiting.kind);
}

export function waitWords(waiting: Waiting | null): string {
  switch (waiting?.kind) {
    case "password":
      return "waits for a password";
    case "key":
      return "waits for a key";
    case "editor":
      return "in an editor";
    case "pager":
      return "in a pager";
    case "fullscreen":
      return "full-screen program";
    default:
      return "waits for a line";
  }
}

type Ended = Pick<Result | HistoryRow, "state" | "exit_code" | "signal" | "reason"> & { waiting?: Waiting | null };

export function ended(result: Ended): StateWords {
  switch (result.state) {
    case "exited":
      if (result.signal) return { mark: "fail", words: `killed by ${result.signal}` };
      return result.exit_code === 0
        ? { mark: "ok", words: "finished" }
        : { mark: "fail", words: result.exit_code === null ? "ended, exit code unknown" : `exit code ${result.exit_code}` };
    case "signaled":
      return { mark: "fail", words: `killed by ${result.signal ?? "a signal"}` };
    case "timed_out":
      return { mark: "fail", words: "timed out" };
    case "interrupted":
      return { mark: "off", words: "interrupted" };
    case "denied":
      return { mark: "fail", words: "denied" };
    case "skipped":
      return { mark: "off", words: "skipped by you" };
    case "failed_to_start":
      return { mark: "fail", words: "could not start" };
    case "lost":
      return { mark: "off", words: "lost: exit code unknown" };
    case "pending_approval":
      return { mark: "wait", words: "waits for your answer" };
    case "queued":
      return { mark: "wait", words: "waits for the keyboard" };
    case "awaiting_input":
      return { mark: needsAnswer(result.waiting ?? null) ? "wait" : "run", words: waitWords(result.waiting ?? null) };
    default:
      return { mark: "run", words: "running" };
  }
}

export function failed(row: Pick<HistoryRow, "state" | "exit_code" | "signal">): boolean {
  return ["signaled", "timed_out", "denied", "failed_to_start"].includes(row.state) ||
    (row.state === "exited" && (row.exit_code !== 0 || row.signal !== null));
}

export function terminalState(terminal: Terminal, last: Ended | undefined, asks: boolean, mine: boolean): StateWords {
  if (terminal.state === "finished" || terminal.state === "lost") {
    if (terminal.signal) return { mark: "fail", words: `ended, killed by ${terminal.signal}` };
    if (terminal.state === "lost") return { mark: "off", words: "lost: exit code unknown" };
    return terminal.exit_code ? { mark: "fail", words: `ended, exit code ${terminal.exit_code}` } : { mark: "off", words: "ended" };
  }
  if (asks) return { mark: "wait", words: "waits for your answer" };
  if (mine) return { mark: "key", words: "you have the keyboard" };
  const command = terminal.command;
  if (terminal.state === "awaiting_input") return { mark: needsAnswer(command?.waiting ?? null) ? "wait" : "run", words: waitWords(command?.waiting ?? null) };
  if (terminal.running) {
    const percent = terminal.progress?.percent;
    return { mark: "run", words: percent != null ? `running, ${percent}%` : "running" };
  }
  if (terminal.state === "starting") return { mark: "run", words: "starting" };
  if (last && failed(last)) return ended(last);
  if (last?.state === "exited") return { mark: "ok", words: "idle, last one finished" };
  return { mark: "off", words: "idle" };
}

export function nameOf(terminal: Pick<Terminal, "id" | "name">): string {
  return terminal.name || terminal.id.slice(0, 8);
}

// Where somebody asked or answered, as the daemon knows clients: "ttyward panel 3", "ttyward acp (editor)", "VS Code".
export function who(client: string | null, mine: string): string {
  if (!client) return "nobody";
  if (client === mine) return "here";
  if (client.startsWith("ttyward panel")) return "in another browser";
  if (client === "VS Code") return "in VS Code";
  if (client.endsWith(" (editor)")) return "in an editor";
  if (client.endsWith(" (dialogue)")) return "in the agent’s own window";
  if (client.startsWith("fleet")) return "over the fleet";
  if (client.startsWith("ttyward ")) return "on the command line";
  return `by ${client}`;
}

// The same as somebody from whom the keyboard can be taken.
export function holder(client: string | null, mine: string): string {
  return who(client, mine).replace(/^in (the |an )?/, (_, article) => (article ?? "")).replace(/^(on|by|over) /, "");
}

export function agent(client: string | null): string {
  return (client ?? "").replace(/^ttyward /, "") || "an agent";
}

// How the end of a command is known.
export function knownBy(how: string | null): string {
  if (!how) return "";
  return how === "told" ? "told by the agent" : `exit code from ${how.replace(/_/g, " ")}`;
}
