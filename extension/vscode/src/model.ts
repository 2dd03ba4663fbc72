// What the extension knows of the daemon: terminals and open questions, kept up to date. Owns the connection. It looks for a daemon until there is
// one, and does not start the first by itself.
import { readFile } from "node:fs/promises";
import { Client, type Approval, type Terminal } from "@ttyward/client";

const KINDS = ["terminal_opened", "terminal_changed", "terminal_closed", "command_started", "command_state", "command_finished",
  "approval_opened", "approval_closed", "terminal_lent", "terminal_taken_back"] as const;
const LOOK_AGAIN_MS = 3000;

export interface Settings {
  program: string;
  personTokenFile: string;
}

export type Health = { state: "connected"; role: string } | { state: "looking"; why: string };

export class Model {
  client: Client | undefined;
  health: Health = { state: "looking", why: "not connected yet" };
  terminals: Terminal[] = [];
  questions: Approval[] = [];
  onChange: () => void = () => {};
  onQuestion: (question: Approval) => void = () => {};
  private seen = new Set<string>();
  private ended = false;
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;
  private refreshing = false;
  private again = false;

  constructor(private readonly settings: () => Settings) {}

  start(): void {
    void this.look(false);
  }

  async dispose(): Promise<void> {
    this.ended = true;
    clearTimeout(this.timer);
    await this.client?.close();
  }

  /** Connects; with `begin` a daemon is started if none runs. Says why it failed in `health`. */
  look(begin: boolean): Promise<void> {
    if (this.client) return Promise.resolve();
    clearTimeout(this.timer);
    // A search that is under way does not start a daemon: one that should comes after it.
    this.looking = (this.looking ?? Promise.resolve()).then(() => this.connect(begin));
    return this.looking;
  }

  get person(): boolean {
    return this.health.state === "connected" && this.health.role === "person";
  }

  private async connect(begin: boolean): Promise<void> {
    if (this.client || this.ended) return;
    try {
      const { program, personTokenFile } = this.settings();
      const token = personTokenFile ? (await readFile(personTokenFile, "utf8")).trim() : undefined;
      // A daemon that is killed while we are connected is started again by the client; the first one is not.
      if (!begin) await (await Client.connect({ role: "viewer", name: "VS Code", program: null })).close();
      const client = await Client.connect({ role: token ? "person" : "viewer", name: "VS Code", token, program });
      const events = await client.events({ kinds: [...KINDS] });
      if (this.ended) return await client.close();
      this.client = client;
      this.health = { state: "connected", role: client.welcome.role };
      await this.refresh();
      void this.follow(events);
    } catch (error) {
      this.lost(error);
    }
  }

  private async follow(events: AsyncIterable<unknown>): Promise<void> {
    try {
      for await (const _ of events) void this.refresh();
      this.lost(new Error("the connection ended"));
    } catch (error) {
      this.lost(error);
    }
  }

  private lost(error: unknown): void {
    const client = this.client;
    this.client = undefined;
    void client?.close();
    this.terminals = [];
    this.questions = [];
    this.health = { state: "looking", why: error instanceof Error ? error.message : String(error) };
    if (this.ended) return;
    this.timer = setTimeout(() => void this.look(false), LOOK_AGAIN_MS);
    this.onChange();
  }

  // One at a time; what happens meanwhile is one more.
  async refresh(): Promise<void> {
    this.again = true;
    if (this.refreshing) return;
    this.refreshing = true;
    try {
      while (this.again && this.client) {
        this.again = false;
        const [{ terminals }, { approvals }] = await Promise.all([this.client.list(), this.client.approvals()]);
        this.terminals = terminals;
        this.questions = approvals;
        this.onChange();
        for (const question of approvals) {
          if (this.seen.has(question.id)) continue;
          this.seen.add(question.id);
          this.onQuestion(question);
        }
      }
    } catch {
      // The events end with the connection, and say so.
    } finally {
      this.refreshing = false;
    }
  }
}
