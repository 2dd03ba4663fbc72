import type { Approval, AttachClosedEvent, AttachKeyboardEvent, AttachRequest, AttachScreenEvent, Calls, Event, Part, Stream, Terminal } from "./types.js";
export * from "./types.js";

export interface Options {
  /** What the client may do: "agent" (policy judges what it runs), "person" or "viewer". Default: "agent". */
  role?: "agent" | "person" | "viewer";
  /** The client's name, shown to people. */
  name?: string;
  /** The chat or task that the terminals belong to. */
  session?: string;
  /** The session's secret, at least 16 characters; without one a random secret is used. */
  secret?: string;
  /** A person's token; default: what the file in TTYWARD_PERSON_TOKEN_FILE holds. */
  token?: string;
  /** How ttyward is started when no daemon runs; null: it is not. Default: "ttyward". */
  program?: string | null;
}

export interface Welcome {
  protocol: number;
  version: string;
  daemon: string;
  pid: number;
  role: string;
  why?: string;
  notices?: string[];
}

/** After the daemon was killed and another one found: which terminals live. */
export interface ResubscribedEvent {
  event: "resubscribed";
  terminals: Terminal[];
}

export interface EventFilter {
  /** Names of events; default: all. */
  kinds?: Event["event"][];
  /** Only events of this terminal. */
  terminal?: string;
  /** With `terminal`: output events carry the text. */
  text?: boolean;
}

/** A terminal's screen as it changes. The first events say who has the keyboard, and all of the screen; they come again after another daemon was found. */
export interface Attachment extends AsyncIterable<AttachScreenEvent | AttachKeyboardEvent | AttachClosedEvent> {
  /** The terminal as it was when it was attached to last. */
  readonly terminal: Terminal;
  /** Sends what a person types: text, or bytes. */
  input(bytes: string | Uint8Array): Promise<void>;
  /** The terminal gets this size, if the caller has the keyboard. */
  resize(cols: number, rows: number): Promise<void>;
  /** Ends it, and gives the keyboard back. */
  close(): Promise<void>;
}

/** The daemon refused a call. */
export class DaemonError extends Error {
  /** A word of the protocol, such as not_found. */
  readonly code: string;
}

/** The connection ended before the answer came; whether the call took effect is not known. */
export class ConnectionLost extends DaemonError {}

// eslint-disable-next-line @typescript-eslint/no-unsafe-declaration-merging
export interface Client extends Calls {}

export class Client {
  /** Connects, and starts a daemon if none runs. */
  static connect(options?: Options): Promise<Client>;
  readonly welcome: Welcome;
  /** Ends the connection; terminals and commands stay alive. */
  close(): Promise<void>;
  /** Events as they come; the subscription is made before this returns. */
  events(filter?: EventFilter): Promise<AsyncIterableIterator<Event | ResubscribedEvent>>;
  /** Attaches to a terminal: its screen as it changes and, for a person, its keyboard. */
  watch(request: AttachRequest): Promise<Attachment>;
  /** Open questions to people, then each new one. Answer with `answer({approval: question.id, decision: "allow"})`. */
  questions(): Promise<AsyncIterableIterator<Approval>>;
  [Symbol.asyncDispose](): Promise<void>;
}

export type { Part, Stream };
