// Texts and the page of the webview, made from the model. No part of VS Code is needed here.
import type { Approval, Terminal } from "@ttyward/client";
import type { Health } from "./model";

export const isCritical = (question: Approval): boolean => question.verdict?.risk === "critical";

export function nameOf(terminal: Terminal): string {
  return terminal.name ?? terminal.id.slice(0, 5);
}

export function stateOf(terminal: Terminal): string {
  const waiting = terminal.command?.waiting;
  if (terminal.state === "awaiting_input") return waiting?.kind ? `waits for input (${waiting.kind})` : "waits for input";
  return terminal.running ? "runs" : terminal.state;
}

export function lineOf(terminal: Terminal): string {
  const parts = [stateOf(terminal)];
  const command = terminal.command?.command ?? terminal.last_command;
  if (command) parts.push(command.split("\n")[0]!.slice(0, 80));
  return parts.join(" · ");
}

export function reasonsOf(question: Approval): string[] {
  return (question.verdict?.reasons ?? []).filter((reason) => reason.decision !== "allow").map((reason) => reason.text);
}

export function summaryOf(question: Approval): string {
  const risk = question.verdict ? `${question.verdict.risk} risk` : "unknown risk";
  return `${question.asked_by ?? "An agent"} asks (${risk}): ${question.shown}`;
}

export function escape(text: string): string {
  const names: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[&<>"']/g, (letter) => names[letter]!);
}

function button(action: string, id: string, label: string, main = false): string {
  return `<button data-action="${action}" data-id="${escape(id)}"${main ? ' class="main"' : ""}>${label}</button>`;
}

function card(question: Approval, person: boolean): string {
  const risk = question.verdict?.risk ?? "unknown";
  const reasons = reasonsOf(question).map((text) => `<li>${escape(text)}</li>`).join("");
  const answers = person
    ? `<p>${button("deny", question.id, "Deny")} ${button("answer", question.id, "More…")} ${button("allow", question.id, isCritical(question) ? "Allow once…" : "Allow once", true)}</p>`
    : "";
  return `<article class="${escape(risk)}"><header>${escape(risk)} risk · ${escape(question.asked_by ?? "an agent")} in ${escape(question.cwd)}</header>
<pre>${escape(question.shown)}</pre><ul>${reasons}</ul>${answers}</article>`;
}

/** The two parts of the page. Everything that comes from a terminal or an agent is escaped. */
export function partsOf(health: Health, questions: Approval[], terminals: Terminal[]): { questions: string; terminals: string } {
  const person = health.state === "connected" && health.role === "person";
  const notice = health.state === "looking" ? `<p class="notice">Not connected: ${escape(health.why)} ${button("connect", "", "Connect")}</p>`
    : person ? ""
      : '<p class="notice">The daemon does not count you as a person, so it shows nothing of your agents here: set ttyward.personTokenFile to the file that <code>ttyward person token</code> prints.</p>';
  const rows = terminals.map((terminal) => `<tr><td>${escape(nameOf(terminal))}</td><td>${escape(stateOf(terminal))}</td>
<td><code>${escape(terminal.command?.command ?? terminal.last_command ?? "")}</code></td><td>${escape(terminal.cwd ?? "")}</td>
<td>${person ? button("attach", terminal.id, "Attach") : ""} ${button("watch", terminal.id, "Watch")}</td></tr>`).join("\n");
  return {
    questions: notice + (questions.map((question) => card(question, person)).join("\n") || "<p>No agent asks anything.</p>"),
    terminals: rows ? `<table>${rows}</table>` : "<p>No terminal is open.</p>",
  };
}

const STYLE = `body { padding: 0 1rem 2rem; max-width: 60rem } article { border: 1px solid var(--vscode-panel-border); border-left: 4px solid var(--vscode-editorWarning-foreground); padding: .2rem .8rem; margin: .6rem 0 }
article.critical { border-left-color: var(--vscode-editorError-foreground) } article.low, article.medium { border-left-color: var(--vscode-editorInfo-foreground) }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--vscode-textCodeBlock-background); padding: .5rem } td { padding: .2rem .6rem .2rem 0; vertical-align: top }
button { color: var(--vscode-button-secondaryForeground); background: var(--vscode-button-secondaryBackground); border: 0; padding: .3rem .8rem; cursor: pointer }
button.main { color: var(--vscode-button-foreground); background: var(--vscode-button-background) }`;

// A button counts only after its part has stood still for half a second, as in the panel: a new question must not take a click.
const SCRIPT = `const vscode = acquireVsCodeApi(); const shown = {}; const changed = {};
window.addEventListener("message", ({ data }) => { for (const part of ["questions", "terminals"]) {
  if (shown[part] === data[part]) continue;
  document.getElementById(part).innerHTML = shown[part] = data[part]; changed[part] = Date.now(); } });
document.addEventListener("click", ({ target }) => { const { action, id } = target.dataset ?? {}; const part = target.closest("section")?.id;
  if (action && Date.now() - changed[part] > 500) vscode.postMessage({ action, id }); });
vscode.postMessage({ action: "ready", id: "" });`;

export function pageOf(nonce: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'">
<title>ttyward</title><style nonce="${nonce}">${STYLE}</style></head><body><h2>Questions</h2><section id="questions"></section><h2>Terminals</h2><section id="terminals"></section><script nonce="${nonce}">${SCRIPT}</script></body></html>`;
}
