// What the page knows, and who is told when it changes. One object; views read it and call `act`.
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { CallError, Link, type SignIn } from "./link";
import type { Answer, Approval, Args, AttachClosedEvent, AttachKeyboardEvent, AttachScreenEvent, CallName, HistoryRow, Terminal } from "./types";
import { learnHome, nameOf, who } from "./words";

export interface Note { id: string; text: string; command: string; until: number; mark: "ok" | "fail" | "off" }
export type Last = Pick<HistoryRow, "state" | "exit_code" | "signal" | "reason" | "duration_ms">;
export interface Toast { id: number; text: string; href?: string; link?: string }

export interface Prefs {
  theme: "system" | "light" | "dark" | "contrast";
  keys: boolean; // single letters act
  reader: boolean; // the terminal has a tree for screen readers
  notify: boolean;
  wrap: boolean; // long lines of output
}

const PREFS = "ttyward-panel-prefs";
const NOTE_TIME = 8000;
const CHANGE_TIME = 80;
const PORTS_TIME = 1200;

export const link = new Link();

class Store {
  signIn: SignIn = "none";
  terminals = new Map<string, Terminal>();
  ports = new Map<string, number[]>(); // by terminal, as the kernel had them when it was last asked
  lasts = new Map<string, Last>(); // by terminal, its last command that has ended
  open: Approval[] = []; // oldest first
  notes: Note[] = []; // in the place of questions that were closed
  toasts: Toast[] = [];
  notices: string[] = []; // what a person has to know
  prefs: Prefs = { theme: "system", keys: true, reader: false, notify: false, wrap: false };
  ready = false; // the lists are there
  announcement = ""; // for screen readers
  alarm = ""; // the same, at once
  answering = new Map<string, string>(); // by question, what the button says
  private listeners = new Set<() => void>();
  private outputListeners = new Map<string, Set<() => void>>();
  private portTimers = new Map<string, number>();
  private due = 0;
  private toastNumber = 0;

  constructor() {
    try {
      Object.assign(this.prefs, JSON.parse(localStorage.getItem(PREFS) ?? "{}"));
    } catch {
      // as if there were none
    }
  }

  setPrefs(change: Partial<Prefs>): void {
    Object.assign(this.prefs, change);
    localStorage.setItem(PREFS, JSON.stringify(this.prefs));
    applyTheme();
    this.changed();
  }

  listen(told: () => void): () => void {
    this.listeners.add(told);
    return () => this.listeners.delete(told);
  }
  // Something was printed in this terminal, or its screen may look different.
  listenOutput(terminal: string, told: () => void): () => void {
    const set = this.outputListeners.get(terminal) ?? new Set();
    this.outputListeners.set(terminal, set.add(told));
    return () => set.delete(told);
  }
  printed(terminal: string): void {
    const listeners = this.outputListeners.get(terminal);
    listeners?.forEach((told) => told());
    // A server says something and then listens: its ports are asked for a little later, of what is in sight.
    if (!listeners?.size || !this.terminals.get(terminal)?.running || this.portTimers.has(terminal)) return;
    this.portTimers.set(terminal, window.setTimeout(() => {
      this.portTimers.delete(terminal);
      void askPorts(terminal);
    }, PORTS_TIME));
  }
  changed(now = true): void {
    if (now) {
      window.clearTimeout(this.due);
      this.due = 0;
      this.listeners.forEach((told) => told());
    } else if (!this.due) {
      this.due = window.setTimeout(() => this.changed(), CHANGE_TIME);
    }
  }

  get mine(): string {
    return link.welcome?.client ?? "";
  }
  get canAct(): boolean {
    return link.welcome?.role === "person";
  }
  questionOf(terminal: string): Approval | undefined {
    return this.open.find((each) => each.terminal_id === terminal);
  }

  toast(text: string, href?: string, word?: string): void {
    const made: Toast = { id: ++this.toastNumber, text, href, link: word };
    this.toasts = [...this.toasts.slice(-2), made];
    this.changed();
    window.setTimeout(() => this.dropToast(made.id), 5000);
  }
  dropToast(id: number): void {
    this.toasts = this.toasts.filter((each) => each.id !== id);
    this.changed();
  }
  announce(text: string): void {
    this.announcement = text;
    this.changed();
  }
}

export const store = new Store();

export function useStore(): Store {
  const [, set] = useState(0);
  useLayoutEffect(() => store.listen(() => set((value) => value + 1)), []);
  return store;
}

// The time, every so often while somebody looks.
export function useNow(every: number): number {
  const [now, set] = useState(Date.now());
  useEffect(() => {
    const timer = window.setInterval(() => set(Date.now()), every);
    return () => window.clearInterval(timer);
  }, [every]);
  return now;
}

// An answer of the daemon, asked for again when `again` changes.
// `fresh`: the answer is to these very arguments, and not to the ones before.
export function useCall<Name extends CallName>(name: Name, args: Args<Name> | null, again: unknown = 0): { answer: Answer<Name> | null; error: string; fresh: boolean } {
  const key = JSON.stringify(args);
  const [state, set] = useState<{ answer: Answer<Name> | null; error: string; key: string }>({ answer: null, error: "", key: "" });
  const connected = link.health === "connected";
  useEffect(() => {
    if (!args || !connected) return;
    let wanted = true;
    link.call(name, args).then(
      (answer) => wanted && set({ answer, error: "", key }),
      (error: Error) => wanted && set((before) => ({ ...before, error: error.message })),
    );
    return () => {
      wanted = false;
    };
  }, [name, key, again, connected]);
  return { answer: state.answer, error: state.error, fresh: state.key === key };
}

export function applyTheme(): void {
  const chosen = store.prefs.theme;
  const more = matchMedia("(prefers-contrast: more)").matches;
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = chosen !== "system" ? chosen : more ? "contrast" : dark ? "dark" : "light";
  window.dispatchEvent(new Event("ttyward-theme"));
}

// ---- what happens

function closedWords(approval: Approval, mine: string): { text: string; mark: Note["mark"] } {
  const by = approval.answered_by;
  const where = by ? who(by, mine) : "";
  switch (approval.state) {
    case "allowed":
      return { text: `was allowed ${where}.`, mark: "ok" };
    case "denied":
      return { text: by ? `was denied ${where}.` : `was denied: ${approval.reason ?? "it would now do something else"}.`, mark: "fail" };
    case "skipped":
      return { text: `was skipped ${where}.`, mark: "off" };
    case "expired":
      return { text: "was denied: nobody answered.", mark: "off" };
    default:
      return { text: "was withdrawn by the agent.", mark: "off" };
  }
}

function closeQuestion(approval: Approval): void {
  const there = store.open.some((each) => each.id === approval.id);
  store.open = store.open.filter((each) => each.id !== approval.id);
  store.answering.delete(approval.id);
  if (!there) return;
  const { text, mark } = closedWords(approval, store.mine);
  store.notes = [...store.notes.filter((each) => each.id !== approval.id), { id: approval.id, text, mark, command: approval.shown, until: Date.now() + NOTE_TIME }];
  store.announcement = `${approval.shown} ${text}`;
  window.setTimeout(() => {
    store.notes = store.notes.filter((each) => each.id !== approval.id);
    store.changed();
  }, NOTE_TIME);
}

function notify(approval: Approval): void {
  if (!store.prefs.notify || !("Notification" in window) || Notification.permission !== "granted") return;
  if (document.visibilityState === "visible" && document.hasFocus()) return;
  const made = new Notification(`${approval.asked_by ?? "An agent"} asks: ${approval.shown.slice(0, 120)}`, {
    body: `${riskWords(approval.verdict?.risk ?? "high")}, in ${approval.cwd}`,
    tag: approval.id,
  });
  made.onclick = () => {
    window.focus();
    go("/");
  };
}

export function riskWords(risk: string): string {
  return risk === "critical" ? "Critical" : `${risk[0]!.toUpperCase()}${risk.slice(1)} risk`;
}

link.onEvent = (event) => {
  switch (event.event) {
    case "terminal_opened":
    case "terminal_changed":
    case "terminal_lent":
    case "terminal_taken_back":
      store.terminals.set(event.terminal.id, event.terminal);
      store.printed(event.terminal.id);
      break;
    case "terminal_closed":
      void refresh(event.id);
      break;
    case "command_started":
    case "command_finished":
    case "command_state": {
      if (event.event === "command_finished" && event.result.terminal_id) store.lasts.set(event.result.terminal_id, event.result);
      const terminal = event.event === "command_state" ? [...store.terminals.values()].find((each) => each.command?.command_id === event.command_id)?.id : event.result.terminal_id;
      if (terminal) void refresh(terminal);
      else void refreshAll();
      break;
    }
    case "output":
      store.printed(event.id);
      return;
    case "approval_opened": {
      const approval = event.approval;
      if (!store.open.some((each) => each.id === approval.id)) store.open = [...store.open, approval];
      store.announcement = `New question from ${approval.asked_by ?? "an agent"}, ${riskWords(approval.verdict?.risk ?? "high")}`;
      notify(approval);
      if (approval.terminal_id) void refresh(approval.terminal_id);
      break;
    }
    case "approval_closed":
      closeQuestion(event.approval);
      break;
    case "notice":
      store.notices = [...store.notices.filter((each) => each !== event.text), event.text];
      break;
    case "lagged":
      void load(true);
      return;
    case "attach_screen":
    case "attach_keyboard":
    case "attach_closed":
      attachments.get(event.subscription)?.(event);
      return;
    default:
      return;
  }
  store.changed(false);
};

export type AttachEvent = AttachScreenEvent | AttachKeyboardEvent | AttachClosedEvent;
export const attachments = new Map<number, (event: AttachEvent) => void>();

async function askPorts(id: string): Promise<void> {
  try {
    keepPorts(id, (await link.call("show", { terminal: id, most: 0 })).ports);
  } catch {
    // it has gone, or the daemon has
  }
}

function keepPorts(id: string, ports: { port: number }[]): void {
  const now = [...new Set(ports.map((each) => each.port))].sort((a, b) => a - b);
  if ((store.ports.get(id) ?? []).join() === now.join()) return;
  store.ports.set(id, now);
  store.changed();
}

const refreshing = new Map<string, boolean>(); // whether to do it again

// One question at a time per terminal; what changes meanwhile is asked for afterwards.
async function refresh(id: string): Promise<void> {
  if (refreshing.has(id)) {
    refreshing.set(id, true);
    return;
  }
  refreshing.set(id, false);
  try {
    const { terminal, ports } = await link.call("show", { terminal: id, most: 0 });
    store.terminals.set(id, terminal);
    keepPorts(id, ports);
  } catch (error) {
    if (error instanceof CallError && error.code === "not_found") store.terminals.delete(id);
  }
  const again = refreshing.get(id);
  refreshing.delete(id);
  store.printed(id);
  store.changed(false);
  if (again) void refresh(id);
}

async function refreshAll(): Promise<void> {
  const { terminals } = await link.call("list", { all: true });
  store.terminals = new Map(terminals.filter((each) => keep(each)).map((each) => [each.id, each]));
  store.changed();
}

// A terminal that lives for one command and has ended is history.
function keep(terminal: Terminal & { temporary?: boolean }): boolean {
  return !(terminal.temporary && (terminal.state === "finished" || terminal.state === "lost"));
}

async function load(subscribed = false): Promise<void> {
  try {
    if (link.welcome?.home) learnHome(link.welcome.home);
    if (!subscribed) store.notices = link.welcome?.notices ?? [];
    const [questions, ran] = await Promise.all([
      link.call("approvals"),
      link.call("history", { limit: 500 }),
      subscribed ? null : link.call("subscribe", { kinds: EVENTS }),
      refreshAll(),
    ]);
    for (const row of ran.commands.reverse()) if (row.terminal_id && row.duration_ms !== null) store.lasts.set(row.terminal_id, row);
    const before = store.open;
    store.open = questions.approvals;
    if (store.ready) {
      for (const gone of before.filter((each) => !store.open.some((other) => other.id === each.id)))
        store.notes = [...store.notes, { id: gone.id, text: "was answered meanwhile.", mark: "off", command: gone.shown, until: Date.now() + NOTE_TIME }];
      window.setTimeout(() => {
        store.notes = store.notes.filter((each) => each.until > Date.now());
        store.changed();
      }, NOTE_TIME + 50);
    }
    store.answering.clear();
    store.ready = true;
    for (const terminal of store.terminals.keys()) store.printed(terminal);
    for (const each of [...store.terminals.values()].filter((one) => one.running).slice(0, 40)) void askPorts(each.id);
  } catch (error) {
    if (link.health === "connected") store.toast((error as Error).message);
  }
  store.changed();
}

const EVENTS = ["terminal_opened", "terminal_changed", "terminal_lent", "terminal_taken_back", "terminal_closed", "command_started",
  "command_state", "command_finished", "output", "approval_opened", "approval_closed", "notice", "lagged"];

link.onHealth = () => {
  if (link.health === "connected") {
    store.alarm = "";
    void load();
  } else if (link.health !== "connecting") {
    attachments.clear();
    if (store.ready) store.alarm = "The connection was lost. Reconnecting.";
  }
  store.changed();
};

// ---- actions

export async function answer(approval: Approval, decision: "allow" | "deny" | "skip", more: Partial<Args<"answer">> = {}): Promise<void> {
  if (store.answering.has(approval.id)) return;
  store.answering.set(approval.id, { allow: "Allowing…", deny: "Denying…", skip: "Skipping…" }[decision]);
  store.changed();
  try {
    await link.call("answer", { approval: approval.id, decision, ...more });
    const word = { allow: "Allowed", deny: "Denied", skip: "Skipped" }[decision];
    store.announce(word);
  } catch (error) {
    store.answering.delete(approval.id);
    store.toast(`Too late, or refused: ${(error as Error).message}`);
    void load(true);
  }
}

export async function attempt(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    store.toast((error as Error).message);
    return false;
  }
}

export function terminalName(id: string | null): string {
  if (!id) return "";
  const terminal = store.terminals.get(id);
  return terminal ? nameOf(terminal) : id.slice(0, 8);
}

// ---- addresses

export interface Place { path: string; query: URLSearchParams; hash: string }

export function place(): Place {
  return { path: location.pathname, query: new URLSearchParams(location.search), hash: location.hash };
}

export function go(to: string, replace = false): void {
  if (to === location.pathname + location.search + location.hash) return;
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  store.changed();
}

export function setQuery(changes: Record<string, string>): void {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) value ? query.set(name, value) : query.delete(name);
  const text = query.toString();
  go(location.pathname + (text ? `?${text}` : ""), true);
}

window.addEventListener("popstate", () => store.changed());
