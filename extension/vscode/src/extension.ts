// The extension: two lists, a page, notifications, and the commands behind them. What is known is in model.ts, what is said in words.ts.
import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import type { Approval, Terminal } from "@ttyward/client";
import { AttachedTerminal } from "./attachment";
import { Model } from "./model";
import { isCritical, lineOf, nameOf, pageOf, partsOf, reasonsOf, summaryOf } from "./words";

type Answer = { decision: "allow" | "deny" | "skip"; always?: "session" | "global"; reason?: string };

class List<T> implements vscode.TreeDataProvider<T> {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly all: () => T[], readonly getTreeItem: (each: T) => vscode.TreeItem) {}

  getChildren(): T[] {
    return this.all();
  }

  change(): void {
    this.changed.fire();
  }
}

function questionItem(question: Approval): vscode.TreeItem {
  const item = new vscode.TreeItem(question.shown);
  item.id = question.id;
  item.description = `${question.verdict?.risk ?? "unknown"} risk`;
  item.tooltip = [summaryOf(question), ...reasonsOf(question), `in ${question.cwd}`].join("\n");
  item.iconPath = new vscode.ThemeIcon(isCritical(question) ? "error" : "question");
  item.contextValue = isCritical(question) ? "question-critical" : "question";
  item.command = { command: "ttyward.answer", title: "Answer", arguments: [question] };
  return item;
}

function terminalItem(terminal: Terminal): vscode.TreeItem {
  const item = new vscode.TreeItem(nameOf(terminal));
  item.id = terminal.id;
  item.description = lineOf(terminal);
  item.tooltip = [terminal.id, terminal.cwd ?? "", terminal.lease ? `${terminal.lease.by} has the keyboard` : ""].filter(Boolean).join("\n");
  item.iconPath = new vscode.ThemeIcon(terminal.state === "awaiting_input" ? "bell" : terminal.running ? "sync" : "terminal");
  item.contextValue = "terminal";
  item.command = { command: "ttyward.watch", title: "Watch", arguments: [terminal] };
  return item;
}

export class Extension {
  readonly model: Model;
  private readonly questions: List<Approval>;
  private readonly terminals: List<Terminal>;
  private readonly badge: vscode.TreeView<Approval>;
  private page: vscode.WebviewPanel | undefined;
  private panel: ChildProcess | undefined;

  constructor(context: vscode.ExtensionContext) {
    this.model = new Model(() => ({ program: this.setting("program", "ttyward"), personTokenFile: this.setting("personTokenFile", "") }));
    this.questions = new List(() => this.model.questions, questionItem);
    this.terminals = new List(() => this.model.terminals, terminalItem);
    this.badge = vscode.window.createTreeView("ttyward.questions", { treeDataProvider: this.questions });
    this.model.onChange = () => this.show();
    this.model.onQuestion = (question) => void this.notify(question);
    const commands: Record<string, (of?: Approval | Terminal) => Promise<unknown>> = {
      connect: () => this.connect(),
      attach: (of) => this.attach(of as Terminal | undefined, false),
      watch: (of) => this.attach(of as Terminal | undefined, true),
      answer: (of) => this.ask(of as Approval | undefined),
      allow: (of) => this.answer(of as Approval, { decision: "allow" }),
      deny: (of) => this.answer(of as Approval, { decision: "deny" }),
      panel: async () => this.openPage(),
      browser: () => this.openBrowser(),
    };
    context.subscriptions.push(
      this.badge,
      vscode.window.registerTreeDataProvider("ttyward.terminals", this.terminals),
      ...Object.entries(commands).map(([name, does]) => vscode.commands.registerCommand(`ttyward.${name}`, does)),
      { dispose: () => void this.dispose() },
    );
    this.model.start();
  }

  async dispose(): Promise<void> {
    this.panel?.kill();
    await this.model.dispose();
  }

  private setting<T>(name: string, otherwise: T): T {
    return vscode.workspace.getConfiguration("ttyward").get<T>(name, otherwise);
  }

  private show(): void {
    this.questions.change();
    this.terminals.change();
    const count = this.model.questions.length;
    this.badge.badge = count ? { value: count, tooltip: `${count} open questions of agents` } : undefined;
    void this.page?.webview.postMessage(partsOf(this.model.health, this.model.questions, this.model.terminals));
  }

  private async connect(): Promise<void> {
    await this.model.look(true);
    if (this.model.health.state === "looking") void vscode.window.showErrorMessage(`ttyward: ${this.model.health.why}`);
  }

  private async attach(terminal: Terminal | undefined, readOnly: boolean): Promise<vscode.Terminal | undefined> {
    terminal ??= await this.choose("Which terminal?", this.model.terminals, nameOf, lineOf);
    const { client } = this.model;
    if (!terminal || !client) return undefined;
    const pty = new AttachedTerminal(client, terminal.id, readOnly || !this.model.person);
    const shown = vscode.window.createTerminal({ name: `ttyward: ${nameOf(terminal)}`, pty, iconPath: new vscode.ThemeIcon("shield") });
    shown.show();
    return shown;
  }

  private async choose<T>(title: string, all: T[], label: (each: T) => string, description: (each: T) => string): Promise<T | undefined> {
    const items = all.map((each) => ({ label: label(each), description: description(each), each }));
    return (await vscode.window.showQuickPick(items, { title }))?.each;
  }

  private async notify(question: Approval): Promise<void> {
    if (!this.model.person || !this.setting("notify", true)) return;
    const allow = isCritical(question) ? [] : ["Allow once"];
    const chosen = await vscode.window.showWarningMessage(summaryOf(question), ...allow, "Deny", "More…");
    if (chosen === "Allow once") await this.answer(question, { decision: "allow" });
    if (chosen === "Deny") await this.answer(question, { decision: "deny" });
    if (chosen === "More…") await this.ask(question);
  }

  // All answers that there are, after the question and its reasons.
  private async ask(question: Approval | undefined): Promise<void> {
    question ??= await this.choose("Which question?", this.model.questions, (each) => each.shown, (each) => reasonsOf(each).join("; "));
    if (!question) return;
    const remembered = question.always_words.join("; ");
    const answers: [string, string, () => Promise<Answer | undefined>][] = [
      ["Deny", "do not run it", async () => ({ decision: "deny" })],
      ["Deny, and say why", "the agent is told", async () => {
        const reason = await vscode.window.showInputBox({ title: "Why not?", prompt: question!.shown });
        return reason === undefined ? undefined : { decision: "deny", reason };
      }],
      ["Skip", "do not run it; the agent goes on", async () => ({ decision: "skip" })],
      ["Allow once", "run it", async () => ({ decision: "allow" })],
    ];
    if (question.always_scope) answers.push(["Allow for this session", remembered, async () => ({ decision: "allow", always: "session" })]);
    if (question.always_scope === "global") answers.push(["Always allow", remembered, async () => ({ decision: "allow", always: "global" })]);
    const chosen = await this.choose(summaryOf(question), answers, ([label]) => label, ([, description]) => description);
    const answer = await chosen?.[2]();
    if (answer) await this.answer(question, answer);
  }

  private async answer(question: Approval, answer: Answer): Promise<void> {
    if (answer.decision === "allow" && isCritical(question)) {
      const typed = await vscode.window.showInputBox({ title: summaryOf(question), prompt: `${reasonsOf(question).join("; ")}. Type allow to run it.` });
      if (typed !== "allow") return;
    }
    try {
      if (!this.model.client) throw new Error("no daemon is connected");
      await this.model.client.answer({ approval: question.id, ...answer });
    } catch (error) {
      void vscode.window.showErrorMessage(`ttyward: the answer did not count: ${(error as Error).message}`);
    }
  }

  private openPage(): void {
    if (this.page) return this.page.reveal();
    const page = vscode.window.createWebviewPanel("ttyward", "ttyward", vscode.ViewColumn.Beside, { enableScripts: true, localResourceRoots: [] });
    this.page = page;
    page.onDidDispose(() => (this.page = undefined));
    page.webview.onDidReceiveMessage(({ action, id }: { action: string; id: string }) => {
      const question = this.model.questions.find((each) => each.id === id);
      const terminal = this.model.terminals.find((each) => each.id === id);
      if (action === "ready") this.show();
      if (action === "connect") void this.connect();
      if (question && (action === "allow" || action === "deny")) void this.answer(question, { decision: action });
      if (question && action === "answer") void this.ask(question);
      if (terminal && (action === "attach" || action === "watch")) void this.attach(terminal, action === "watch");
    });
    page.webview.html = pageOf(randomBytes(16).toString("hex"));
  }

  // The whole panel lets no other page frame it, so it opens in the browser. It ends with the extension.
  private async openBrowser(): Promise<void> {
    this.panel?.kill();
    const file = this.setting("personTokenFile", "");
    const panel = spawn(this.setting("program", "ttyward"), ["panel", ...(file ? [] : ["--view-only"])], {
      env: { ...process.env, ...(file ? { TTYWARD_PERSON_TOKEN_FILE: file } : {}) },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.panel = panel;
    let printed = "";
    let said = "";
    const link = await new Promise<string | undefined>((resolve) => {
      panel.stdout.on("data", (data) => {
        printed += data;
        const found = /http:\S+(?=\s)/.exec(printed);
        if (found) resolve(found[0]);
      });
      panel.stderr.on("data", (data) => (said += data));
      panel.once("error", (error) => (said += error.message));
      panel.once("close", () => resolve(undefined));
    });
    if (link) await vscode.env.openExternal(vscode.Uri.parse(link, true));
    else void vscode.window.showErrorMessage(`ttyward: the panel did not start: ${said.trim()}`);
  }
}

export function activate(context: vscode.ExtensionContext): Extension {
  return new Extension(context);
}
