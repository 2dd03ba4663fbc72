// The connection to the daemon: finding it, starting it, and going on after it was killed.
//
// Commands survive the daemon. When the connection is lost, a new daemon is found or started, and calls that may be sent
// again are: commands carry an id that this client chose, so none runs twice. Other calls fail with
// ConnectionLost, and whether they took effect is not known.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { lstat, readFile } from "node:fs/promises";
import { createConnection } from "node:net";
import { homedir } from "node:os";
import { AIDS, CALLS, REPEAT, STREAMED } from "./calls.js";

const PROTOCOL = 1;
const START_PATIENCE_MS = 15_000;
const ID_LETTERS = "abcdefghijklmnopqrstuvwxyz234567";

export class DaemonError extends Error {
  constructor(code, message) {
    super(message);
    this.name = "DaemonError";
    this.code = code;
  }
}

export class ConnectionLost extends DaemonError {
  constructor(message) {
    super("connection_lost", message);
    this.name = "ConnectionLost";
  }
}

const randomId = (letter) => letter + Array.from(randomBytes(12), (byte) => ID_LETTERS[byte % 32]).join("");
const absolute = (path) => (path !== undefined && path.startsWith("/") ? path : undefined);

function folders() {
  const { TTYWARD_HOME, XDG_STATE_HOME, XDG_RUNTIME_DIR } = process.env;
  const home = absolute(TTYWARD_HOME);
  if (home) return { state: `${home}/state`, runtime: `${home}/run` };
  const state = `${absolute(XDG_STATE_HOME) ?? `${homedir()}/.local/state`}/ttyward`;
  const runtime = absolute(XDG_RUNTIME_DIR);
  return { state, runtime: runtime ? `${runtime}/ttyward` : `${state}/run` };
}

// A connection to a daemon that runs; undefined if none does. Its folder must be ours alone, so the daemon is ours, too.
async function connectToDaemon() {
  const { state, runtime } = folders();
  const places = [runtime];
  const lock = await readFile(`${state}/daemon.lock`, "utf8").catch(() => "");
  if (lock) places.push(lock.split("\n")[0]);
  for (const place of places) {
    const status = await lstat(place).catch(() => undefined);
    if (!status) continue;
    if (!status.isDirectory() || status.uid !== process.geteuid() || (status.mode & 0o077) !== 0) {
      throw new DaemonError("permission_denied", `${place} must be a folder of yours that nobody else can enter (chmod 700)`);
    }
    const socket = createConnection(`${place}/daemon.sock`);
    const connected = await new Promise((resolve) => {
      socket.once("connect", () => resolve(true));
      socket.once("error", () => resolve(false));
    });
    if (connected) return socket;
  }
  return undefined;
}

function startDaemon(program) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, ["daemon", "run", "--detach"], { stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    child.stderr.on("data", (data) => (said += data));
    child.once("error", () =>
      reject(new DaemonError("unavailable", `${program} cannot be started; install ttyward, or give \`program\``)));
    child.once("exit", (code) => resolve({ code, said: said.trim() }));
  });
}

// What comes, in order, for whoever iterates: at most one iterator.
class Queue {
  #items = [];
  #waiting;
  #ended = false;
  #error;
  #onReturn;

  constructor(onReturn) {
    this.#onReturn = onReturn;
  }
  push(item) {
    if (this.#ended) return;
    if (this.#waiting) {
      this.#waiting.resolve({ value: item, done: false });
      this.#waiting = undefined;
    } else {
      this.#items.push(item);
    }
  }
  // The iteration ends after what is in the queue; with an error, it throws that.
  end(error) {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) this.next().then(waiting.resolve, waiting.reject);
  }
  next() {
    if (this.#items.length > 0) return Promise.resolve({ value: this.#items.shift(), done: false });
    if (this.#ended) {
      const error = this.#error;
      this.#error = undefined;
      return error ? Promise.reject(error) : Promise.resolve({ value: undefined, done: true });
    }
    return new Promise((resolve, reject) => (this.#waiting = { resolve, reject }));
  }
  async return(value) {
    this.end();
    this.#items = [];
    await this.#onReturn?.();
    return { value, done: true };
  }
  [Symbol.asyncIterator]() {
    return this;
  }
}

// Whether a call that has no answer yet may be sent again.
function repeatable({ name, args }) {
  const rule = REPEAT[name];
  if (rule === "wait") {
    const states = ["prompt", "port", "file", "quiet_ms", "stable_ms"];
    return Boolean(args.command || args.approval || args.from_place || args.from === "start" ||
      (states.some((state) => args[state]) && !args.pattern));
  }
  if (rule === "read") return !args.new;
  return rule === "always" || Boolean(rule && args[rule]);
}

export class Client {
  #options;
  #socket;
  #connecting;
  #calls = new Map(); // id: {name, args, resolve, reject, parts, queue}
  #subscriptions = new Map(); // number: the filter and the queue
  #lastId = 0;
  #closed = false;
  #stopped = false; // the daemon was stopped on purpose: it is not started again
  welcome;

  constructor(options = {}) {
    this.#options = { role: "agent", name: "node", program: "ttyward", ...options };
    if (this.#options.session && !this.#options.secret) this.#options.secret = randomBytes(16).toString("hex");
  }

  static async connect(options) {
    const client = new Client(options);
    await client.#connect();
    return client;
  }

  async close() {
    this.#closed = true;
    const socket = this.#socket;
    this.#failAll(new ConnectionLost("the client was closed"));
    if (socket && !socket.destroyed) {
      await new Promise((resolve) => {
        socket.once("close", resolve);
        socket.destroy();
      });
    }
  }

  [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    return this.close();
  }

  #connect() {
    this.#connecting ??= this.#doConnect().finally(() => (this.#connecting = undefined));
    return this.#connecting;
  }

  async #doConnect() {
    if (this.#socket) return;
    if (this.#closed) throw new ConnectionLost("the client was closed");
    const token = await this.#token();
    for (const giveUp = Date.now() + START_PATIENCE_MS; ; ) {
      const socket = await this.#findDaemon();
      if (await this.#greet(socket, token)) {
        this.#socket = socket;
        return;
      }
      // It was killed while we came in: the next one answers.
      if (Date.now() > giveUp) throw new DaemonError("unavailable", "the daemon ends every connection; see ttyward doctor");
    }
  }

  async #findDaemon() {
    const giveUp = Date.now() + START_PATIENCE_MS;
    for (let started = false; ; ) {
      const socket = await connectToDaemon();
      if (socket) return socket;
      if (this.#options.program === null || this.#stopped) {
        throw new DaemonError("unavailable", "no daemon runs; start one with: ttyward daemon run --detach");
      }
      if (!started) {
        started = true;
        const { code, said } = await startDaemon(this.#options.program);
        if (code !== 0 && Date.now() > giveUp) throw new DaemonError("unavailable", `the daemon does not start: ${said}`);
        continue;
      }
      if (Date.now() > giveUp) throw new DaemonError("unavailable", "the daemon does not answer; see ttyward doctor");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async #token() {
    const { role, token } = this.#options;
    const file = process.env.TTYWARD_PERSON_TOKEN_FILE;
    return role === "person" && !token && file ? (await readFile(file, "utf8")).trim() : token;
  }

  // False: the connection ended before an answer came. Nothing is awaited before "close" is listened for: a daemon that is being
  // killed ends connections at any moment.
  async #greet(socket, token) {
    const { role, name, session, secret } = this.#options;
    socket.setEncoding("utf8");
    socket.on("error", () => {}); // "close" follows
    let rest = "";
    let greeted;
    const first = new Promise((resolve) => (greeted = resolve));
    socket.on("data", (text) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop();
      for (const line of lines) {
        const message = JSON.parse(line);
        if (greeted) {
          greeted(message);
          greeted = undefined;
        } else {
          this.#take(message);
        }
      }
    });
    socket.once("close", () => {
      greeted?.(undefined);
      if (this.#socket === socket) this.#lost();
    });
    socket.write(`${JSON.stringify({ hello: { protocol: PROTOCOL, role, client: name, reader: name, session, secret, token } })}\n`);
    const message = await first;
    if (!message) return false;
    if (!message.welcome) {
      socket.destroy();
      throw new DaemonError(message.error.code, message.error.message);
    }
    this.welcome = message.welcome;
    return true;
  }

  #take(message) {
    if (message.event !== undefined) {
      this.#subscriptions.get(message.subscription)?.queue.push(message);
      return;
    }
    if (message.id === undefined) {
      this.#stopped = message.error?.code === "unavailable";
      return;
    }
    const call = this.#calls.get(message.id);
    if (!call) return;
    if (message.part) {
      Object.assign(call.args, message.part.again ?? {});
      call.parts?.push(message.part);
      return;
    }
    this.#calls.delete(message.id);
    call.parts?.end();
    if (message.error) {
      call.reject(new DaemonError(message.error.code, message.error.message));
      return;
    }
    // Before the next line is read: the first events must find the queue.
    if (call.subscriber) {
      this.#subscriptions.set(message.ok.subscription, call.subscriber);
      call.subscriber.attached?.(message.ok);
    }
    call.resolve(message.ok);
  }

  #failAll(error, ofEvents) {
    for (const call of this.#calls.values()) {
      call.parts?.end();
      call.reject(error);
    }
    this.#calls.clear();
    for (const { queue } of this.#subscriptions.values()) queue.end(ofEvents);
    this.#subscriptions.clear();
  }

  // After a loss: sends the calls again that may be, and renews subscriptions.
  async #lost() {
    this.#socket = undefined;
    if (this.#closed) return;
    for (const [id, call] of this.#calls) {
      if (call.subscriber || repeatable(call)) continue; // a subscription ends with its connection
      this.#calls.delete(id);
      call.parts?.end();
      call.reject(new ConnectionLost("the connection to the daemon was lost; whether this took effect is not known"));
    }
    const subscribers = [...this.#subscriptions.values()];
    this.#subscriptions.clear();
    if (this.#calls.size === 0 && subscribers.length === 0) return;
    try {
      await this.#connect();
      for (const [id, call] of this.#calls) this.#send({ id, call: call.name, args: call.args });
      for (const subscriber of subscribers) {
        if (subscriber.attached) {
          await this.#call("attach", subscriber.args, { subscriber });
          continue;
        }
        const { terminals } = await this.#call("subscribe", subscriber.args, { subscriber });
        subscriber.queue.push({ event: "resubscribed", terminals });
      }
    } catch (error) {
      const failure = error instanceof DaemonError ? error : new ConnectionLost(String(error));
      this.#failAll(failure, failure);
      for (const { queue } of subscribers) queue.end(failure);
    }
  }

  #send(message) {
    this.#socket?.write(`${JSON.stringify(message)}\n`);
  }

  async #call(name, given = {}, { parts, subscriber, signal } = {}) {
    signal?.throwIfAborted();
    if (!this.#socket) await this.#connect();
    const args = { ...given };
    if (AIDS[name]) {
      const [member, letter] = AIDS[name];
      args[member] ??= randomId(letter);
    }
    if (parts || name === "wait") args.stream = true;
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { name, args, resolve, reject, parts, subscriber });
      signal?.addEventListener("abort", () => {
        if (!this.#calls.delete(id)) return;
        this.#send({ cancel: id });
        parts?.end();
        reject(signal.reason);
      });
      this.#send({ id, call: name, args });
    });
  }

  async events({ kinds, terminal, text } = {}) {
    const subscriber = { args: { kinds, terminal, text } };
    subscriber.queue = new Queue(async () => {
      for (const [number, each] of this.#subscriptions) {
        if (each !== subscriber) continue;
        this.#subscriptions.delete(number);
        await this.#call("unsubscribe", { subscription: number }).catch(() => {});
      }
    });
    await this.#call("subscribe", subscriber.args, { subscriber });
    return subscriber.queue;
  }

  async watch(args) {
    const client = this;
    const subscriber = { args };
    const attachment = {
      async input(bytes) {
        const base64 = Buffer.from(bytes).toString("base64");
        await client.#call("attach_input", { subscription: attachment.subscription, base64 });
      },
      async resize(cols, rows) {
        subscriber.args = { ...subscriber.args, size: { cols, rows } };
        await client.#call("attach_resize", { subscription: attachment.subscription, cols, rows });
      },
      close: () => subscriber.queue.return().then(() => {}),
      [Symbol.asyncIterator]: () => subscriber.queue,
    };
    subscriber.queue = new Queue(async () => {
      if (!this.#subscriptions.delete(attachment.subscription)) return;
      await this.#call("detach", { subscription: attachment.subscription }).catch(() => {});
    });
    subscriber.attached = ({ subscription, screen, writable, terminal }) => {
      Object.assign(attachment, { subscription, terminal });
      subscriber.queue.push({ event: "attach_keyboard", subscription, writable });
      subscriber.queue.push({ event: "attach_screen", subscription, screen });
    };
    await this.#call("attach", args, { subscriber });
    return attachment;
  }

  async questions() {
    const events = await this.events({ kinds: ["approval_opened"] });
    const first = (await this.approvals()).approvals;
    const client = this;
    return (async function* () {
      const seen = new Set();
      const fresh = (list) => list.filter(({ id }) => !seen.has(id) && seen.add(id));
      try {
        yield* fresh(first);
        for await (const event of events) {
          yield* fresh(event.event === "resubscribed" ? (await client.approvals()).approvals : [event.approval]);
        }
      } finally {
        await events.return();
      }
    })();
  }

  static {
    for (const name of CALLS) {
      this.prototype[name] ??= function (args, options) {
        return this.#call(name, args, options);
      };
    }
    for (const name of STREAMED) {
      this.prototype[`${name}Stream`] = function (args, options) {
        const parts = new Queue();
        const result = this.#call(name, args, { ...options, parts });
        result.catch(() => parts.end()); // whoever asks for the result gets the error
        return { result, [Symbol.asyncIterator]: () => parts };
      };
    }
  }
}
