// The page's connection to the panel, and through it to the daemon. It comes back by itself.
import type { Answer, Args, CallName, Event, Welcome } from "./types";

export type Health =
  | "connecting" // nothing was seen yet
  | "connected"
  | "offline" // the panel does not answer; tried again and again
  | "gone" // the daemon has just gone; the panel brings it back
  | "stopped" // no daemon: somebody stopped it
  | "signed_out"; // this browser has no session

export class CallError extends Error {
  constructor(readonly code: string, message: string) {
    super(message);
  }
}

type Open = { resolve: (answer: never) => void; reject: (error: Error) => void };

const PAUSES = [500, 1000, 2000, 4000, 8000];
const KEY = "ttyward-panel-key";

export class Link {
  health: Health = "connecting";
  message = "";
  welcome: Welcome | null = null;
  onHealth: () => void = () => {};
  onEvent: (event: Event) => void = () => {};
  private socket: WebSocket | null = null;
  private calls = new Map<number, Open>();
  private last = 0;
  private early: (() => void)[] = []; // what was asked before there was anybody to ask
  private failures = 0;
  private timer = 0;

  start(): void {
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") this.now();
    });
    window.addEventListener("online", () => this.now());
    this.connect();
  }

  // Tries at once instead of later.
  now(): void {
    if (this.health === "stopped") this.send({ connect: true });
    if (this.health !== "offline" || this.socket) return;
    window.clearTimeout(this.timer);
    this.connect();
  }

  call<Name extends CallName>(name: Name, args?: Args<Name>): Promise<Answer<Name>> {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      if (this.health === "connecting") {
        this.early.push(() => this.call(name, args).then(resolve, reject));
        return;
      }
      if (this.socket?.readyState !== WebSocket.OPEN || !this.welcome) {
        reject(new CallError("unavailable", "the panel is not connected"));
        return;
      }
      this.calls.set(id, { resolve: resolve as Open["resolve"], reject });
      this.send({ id, call: name, args: args ?? {} });
    });
  }

  send(message: Record<string, unknown>): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  private connect(): void {
    const key = localStorage.getItem(KEY);
    if (!key) return this.become("signed_out");
    const socket = new WebSocket(`ws://${location.host}/ws`, "ttyward.panel.1");
    this.socket = socket;
    socket.onopen = () => {
      socket.send(JSON.stringify({ hello: { protocol: 1, key } }));
    };
    socket.onmessage = (message) => this.take(JSON.parse(message.data as string));
    socket.onclose = (closed) => {
      if (this.socket === socket) this.lost(closed.code);
    };
  }

  private take(message: Record<string, any>): void {
    if (message.event) return this.onEvent(message as Event);
    if (message.daemon) {
      const { state, welcome, message: why } = message.daemon;
      if (state === "connected") {
        this.failures = 0;
        this.failOpen("the daemon was started again");
        this.welcome = welcome;
        this.become("connected");
      } else {
        this.become(state === "gone" ? "gone" : "stopped", why ?? "");
      }
      return;
    }
    const open = this.calls.get(message.id);
    if (!open) return;
    this.calls.delete(message.id);
    if (message.error) open.reject(new CallError(message.error.code, message.error.message));
    else open.resolve(message.ok as never);
  }

  private failOpen(why: string): void {
    const open = [...this.calls.values()];
    this.calls.clear();
    for (const each of open) each.reject(new CallError("unavailable", why));
  }

  private lost(code: number): void {
    this.socket = null;
    this.welcome = null;
    this.failOpen("the connection was lost");
    if (code === 1008) return this.become("signed_out");
    this.become("offline");
    const pause = PAUSES[Math.min(this.failures++, PAUSES.length - 1)]! * (0.8 + Math.random() * 0.4);
    this.timer = window.setTimeout(() => void this.again(), pause);
  }

  // A WebSocket does not say why it was refused.
  private async again(): Promise<void> {
    try {
      const answer = await fetch("/api/session", { cache: "no-store" });
      const { signed_in } = (await answer.json()) as { signed_in: boolean };
      if (!signed_in) return this.become("signed_out");
    } catch {
      const pause = PAUSES[Math.min(this.failures++, PAUSES.length - 1)]! * (0.8 + Math.random() * 0.4);
      this.timer = window.setTimeout(() => void this.again(), pause);
      return;
    }
    this.connect();
  }

  private become(health: Health, message = ""): void {
    this.health = health;
    this.message = message;
    this.onHealth();
    for (const ask of this.early.splice(0)) ask();
  }
}

export type SignIn = "done" | "none" | "used" | "expired" | "unknown" | "wait";

// Exchanges the token of the address for a session. The token never stays in the address.
export async function signIn(): Promise<SignIn> {
  const token = /^#t=([0-9a-f]+)$/.exec(location.hash)?.[1];
  if (!token) return "none";
  history.replaceState(null, "", location.pathname + location.search);
  const answer = await fetch("/api/session", {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Ttyward-Panel": "1" },
    body: JSON.stringify({ token }),
  });
  const told = (await answer.json()) as { key?: string; problem?: SignIn };
  if (!told.key) return told.problem ?? "unknown";
  localStorage.setItem(KEY, told.key);
  return "done";
}
