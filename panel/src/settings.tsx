// Permissions, written through the daemon as a person and shown as a difference first; and what is this page's alone.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Folders, NewSessions, SandboxSettings } from "./config";
import { Difference } from "./difference";
import { A, Choice, CommandText, copy, Dialog, EffectChips, hiddenCount, Icon, Reasons, RiskBadge, State } from "./parts";
import { Bar } from "./shell";
import { attempt, link, store, useCall, useStore, type Prefs } from "./store";
import type { Answer, Rule } from "./types";

type ModeName = Answer<"mode">["mode"];
const MODES: { name: ModeName; words: string; warn?: boolean }[] = [
  { name: "plan", words: "Nothing changes. What would ask is refused." },
  { name: "default", words: "Harmless commands run. The rest asks." },
  { name: "auto-edit", words: "Also writes ordinary files of the folder." },
  { name: "auto", words: "Runs confined to the folder. Leaving it asks." },
  { name: "yolo", words: "No questions at all.", warn: true },
];

function sessionsOf(): string[] {
  const names = new Set<string>();
  for (const terminal of store.terminals.values()) if (terminal.session) names.add(terminal.session);
  for (const question of store.open) if (question.session) names.add(question.session);
  return [...names].sort();
}

function Mode() {
  const { canAct } = useStore();
  const [chosen, setSession] = useState("");
  const [again, setAgain] = useState(0);
  const [sure, setSure] = useState(false);
  const sessions = sessionsOf();
  const session = sessions.includes(chosen) ? chosen : sessions[0] ?? "";
  const { answer, error } = useCall("mode", session ? { session } : {}, again);
  const set = (mode: ModeName) => void attempt(link.call("mode", { ...(session ? { session } : {}), set: mode })).then(() => setAgain(again + 1));
  return (
    <section class="settings-part">
      <h2>Mode</h2>
      <p>What agents may do without asking. Built-in refusals stand in every mode.</p>
      {sessions.length > 0 ? <Choice label="Session" value={session} onChange={setSession} options={sessions.map((each) => ({ value: each, text: `Session ${each}` }))} />
        : <p class="dim">No agent has a session now. New ones begin in this mode, which is the setting <code>policy.mode</code> below.</p>}
      {error ? <p class="page-note">{error}</p> : null}
      <fieldset class="modes" disabled={!canAct || !session}>
        <legend class="unseen">Mode</legend>
        {MODES.map((mode) => (
          <label key={mode.name}>
            <b><input type="radio" name="mode" checked={answer?.mode === mode.name} onChange={() => (mode.name === "yolo" ? setSure(true) : set(mode.name))} />{mode.name}</b>
            <span class={mode.warn ? "warn" : ""}>{mode.words}</span>
          </label>
        ))}
      </fieldset>
      {sure ? (
        <Dialog title="No questions at all?" onClose={() => { setSure(false); setAgain(again + 1); }}>
          <p>Built-in refusals stand; everything else runs.</p>
          <div class="acts"><button type="button" class="btn btn-bare" onClick={() => { setSure(false); setAgain(again + 1); }}>Cancel</button><span class="gap" />
            <button type="button" class="btn btn-kill" onClick={() => { setSure(false); set("yolo"); }}>Use yolo</button></div>
        </Dialog>
      ) : null}
    </section>
  );
}

function decisionOf(rule: Rule): string {
  return /decision\s*=\s*"(\w+)"/.exec(rule.text)?.[1] ?? rule.level;
}

function bodyOf(rule: Rule): string {
  return rule.text.split("\n").filter((line) => line.trim() && !/^\s*(\[\[|decision|name)\b/.test(line) && !line.trim().startsWith("[[")).join(" · ");
}

interface Change { title: string; before: string; after: string; replaces?: string; remove?: string }

const NEW_RULE = `[[rule]]
name = "my rule"
decision = "allow"
program = "cargo"
args = ["build"]
`;

function Rules({ cwd, decided }: { cwd: string; decided: string }) {
  const { canAct } = useStore();
  const [again, setAgain] = useState(0);
  const [change, setChange] = useState<Change | null>(null);
  const [edit, setEdit] = useState<{ name: string; before: string; text: string } | null>(null);
  const { answer, error } = useCall("rules", cwd ? { cwd } : {}, again);
  const order = ["deny", "ask", "allow"];
  const rules = [...(answer?.rules ?? [])].sort((a, b) => order.indexOf(decisionOf(a)) - order.indexOf(decisionOf(b)));
  const save = async () => {
    if (!change) return;
    const done = await attempt(change.remove !== undefined ? link.call("rule_remove", { name: change.remove })
      : link.call("rule_add", { text: change.after, ...(change.replaces ? { replaces: change.replaces } : {}) }));
    if (!done) return;
    setChange(null);
    setEdit(null);
    setAgain(again + 1);
    store.toast("Saved. It holds from the next command on.");
  };
  return (
    <section class="settings-part">
      <h2>Rules</h2>
      <p>Deny comes before ask, ask before allow. A rule never lifts a built-in refusal.</p>
      {error ? <p class="page-note">{error}</p> : null}
      {(answer?.errors ?? []).map((each) => <p class="page-note" key={each}>{each}</p>)}
      <div class="box">
        {rules.map((rule, at) => {
          const own = rule.level === "global";
          return (
            <div class={`rule${decided && decided === rule.name ? " rule-hit" : ""}`} key={`${rule.name} ${at}`}>
              <span class={`decision-word decision-${decisionOf(rule)}`}>{decisionOf(rule)[0]!.toUpperCase() + decisionOf(rule).slice(1)}</span>
              <span class="grow"><code class="cut">{rule.name || "(no name)"}</code><small>{bodyOf(rule)}</small></span>
              <span class="rule-source cut" title={rule.source}>{rule.level}{rule.source ? ` · ${rule.source.split("/").pop()}` : ""}</span>
              {canAct && own && rule.name ? (
                <span class="nowrap">
                  <button type="button" class="link" onClick={() => setEdit({ name: rule.name, before: rule.text, text: rule.text })}>Edit</button>{" "}
                  <button type="button" class="link" onClick={() => setChange({ title: `Remove “${rule.name}”?`, before: rule.text, after: "", remove: rule.name })}>Remove</button>
                </span>
              ) : <span class="dim">{own ? "" : "read only"}</span>}
            </div>
          );
        })}
        {answer && rules.length === 0 ? <p class="rule-none">No rules yet. Built-in judgement decides.</p> : null}
        {canAct ? <button type="button" class="btn btn-bare rule-add" onClick={() => setEdit({ name: "", before: "", text: NEW_RULE })}><Icon name="plus" />Add a rule</button> : null}
      </div>
      {edit && !change ? (
        <Dialog title={edit.name ? `Edit “${edit.name}”` : "Add a rule"} onClose={() => setEdit(null)} wide>
          <label><span class="unseen">The rule</span><textarea class="input mono" rows={12} spellcheck={false} value={edit.text} onInput={(event) => setEdit({ ...edit, text: event.currentTarget.value })} /></label>
          <div class="acts"><button type="button" class="btn btn-bare" onClick={() => setEdit(null)}>Cancel</button><span class="gap" />
            <button type="button" class="btn btn-main" disabled={edit.text.trim() === edit.before.trim()} onClick={() => setChange({ title: "Save to rules.toml?", before: edit.before, after: edit.text, replaces: edit.name })}>Review…</button></div>
        </Dialog>
      ) : null}
      {change ? (
        <Dialog title={change.title} onClose={() => setChange(null)} wide>
          <Difference before={change.before} after={change.after} />
          <p>Holds from the next command on.</p>
          <div class="acts"><button type="button" class="btn btn-bare" onClick={() => setChange(null)}>Back</button><span class="gap" />
            <button type="button" class={change.remove !== undefined ? "btn btn-kill" : "btn btn-main"} onClick={() => void save()}>{change.remove !== undefined ? "Remove" : "Save"}</button></div>
        </Dialog>
      ) : null}
    </section>
  );
}

// Changes that loosen policy and were made without ttyward do not hold before a person has seen them.
function Confirm() {
  const { canAct } = useStore();
  const [again, setAgain] = useState(0);
  const { answer } = useCall("rules_unconfirmed", canAct ? {} : null, again);
  if (!answer || (answer.rules.length === 0 && answer.settings.length === 0 && !answer.problem)) return null;
  return (
    <section class="settings-part">
      <h2>Not confirmed</h2>
      <p>These changes loosen what agents may do and were made without ttyward. They do not hold until you confirm them.</p>
      {answer.problem ? <p class="page-note">{answer.problem}</p> : null}
      <div class="box">
        {answer.rules.map((rule, at) => (
          <div class="rule" key={at}><span class="decision-word decision-ask">{rule.change}</span><span class="grow"><code class="cut">{rule.name}</code><small>{rule.words}</small></span></div>
        ))}
        {answer.settings.map((setting) => (
          <div class="rule" key={setting.name}><span class="decision-word decision-ask">setting</span><span class="grow"><code class="cut">{setting.name}</code><small>holds {setting.holds}, wanted {setting.wanted}, in {setting.where}</small></span></div>
        ))}
      </div>
      <div class="acts acts-left settings-acts">
        <button type="button" class="btn" onClick={() => void attempt(link.call("rules_confirm", { digest: answer.digest })).then(() => setAgain(again + 1))}>Confirm these</button>
      </div>
    </section>
  );
}

function Tester({ onRule }: { onRule: (rule: string) => void }) {
  const [text, set] = useState("");
  const [cwd, setCwd] = useState("");
  const { answer, error, fresh } = useCall("check", text.trim() ? { command: text, ...(cwd ? { cwd } : {}) } : null);
  const verdict = text.trim() && answer && fresh ? { command: text, verdict: answer } : null;
  useEffect(() => onRule(verdict?.verdict.rule ?? ""), [verdict?.verdict.rule]);
  const words = { allow: "Runs", allow_confined: "Runs confined", ask: "Asks", deny: "Refused" };
  const marks = { allow: "ok", allow_confined: "ok", ask: "wait", deny: "fail" } as const;
  return (
    <section class="box tester">
      <header class="box-top"><h2>Try a command</h2><span class="dim">Nothing runs.</span></header>
      <div class="tester-body">
        <label><span class="unseen">Command</span><input class="input mono" value={text} placeholder="npm test > ~/.bashrc" spellcheck={false} autocapitalize="off" onInput={(event) => set(event.currentTarget.value)} /></label>
        <label><span class="unseen">Folder</span><input class="input mono" value={cwd} placeholder="in which folder" spellcheck={false} autocapitalize="off" onInput={(event) => setCwd(event.currentTarget.value)} /></label>
        {error ? <p class="page-note">{error}</p> : null}
        {verdict ? (
          <>
            <p class="verdict"><State state={{ mark: marks[verdict.verdict.decision], words: words[verdict.verdict.decision] }} /><RiskBadge risk={verdict.verdict.risk} /><span class="dim">by {verdict.verdict.rule}</span></p>
            <CommandText text={verdict.command} reasons={verdict.verdict.reasons} />
            <Reasons reasons={verdict.verdict.reasons} hidden={hiddenCount(verdict.command)} />
            <EffectChips effects={verdict.verdict.effects} />
          </>
        ) : null}
      </div>
    </section>
  );
}

function Permissions() {
  const [decided, setDecided] = useState("");
  return (
    <>
      <Mode />
      <Confirm />
      <div class="two"><Rules cwd="" decided={decided} /><Tester onRule={setDecided} /></div>
      <NewSessions />
    </>
  );
}

function Toggle({ pref, title, children }: { pref: "keys" | "reader"; title: string; children: ComponentChildren }) {
  const { prefs } = useStore();
  return (
    <label class="toggle"><input type="checkbox" checked={prefs[pref]} onChange={(event) => store.setPrefs({ [pref]: event.currentTarget.checked })} /><span><b>{title}</b><small>{children}</small></span></label>
  );
}

function Appearance() {
  const { prefs } = useStore();
  return (
    <section class="settings-part">
      <h2>Appearance</h2>
      <p>Kept in this browser.</p>
      <Choice label="Theme" value={prefs.theme} onChange={(value) => store.setPrefs({ theme: value as Prefs["theme"] })} options={[
        { value: "system", text: "Theme: as the system" }, { value: "light", text: "Light" }, { value: "dark", text: "Dark" }, { value: "contrast", text: "High contrast" }]} />
      <Toggle pref="keys" title="Single keys act">A allows, D denies, J and K move. Off: only buttons and Tab.</Toggle>
      <Toggle pref="reader" title="Screen reader in terminals">The live screen gets a list of rows. The history is the better path for reading.</Toggle>
    </section>
  );
}

function Notifications() {
  const { prefs } = useStore();
  const there = "Notification" in window;
  return (
    <section class="settings-part">
      <h2>Notifications</h2>
      <p>A question shows on the desktop while this page is open but not in front. It has no answer buttons: a click opens the card.</p>
      <label class="toggle"><input type="checkbox" disabled={!there} checked={prefs.notify && there && Notification.permission === "granted"} onChange={(event) => {
        if (!event.currentTarget.checked) return store.setPrefs({ notify: false });
        void Notification.requestPermission().then((answer) => {
          store.setPrefs({ notify: answer === "granted" });
          if (answer !== "granted") store.toast("The browser does not allow notifications for this page.");
        });
      }} /><span><b>Notify me</b><small>The browser asks once.</small></span></label>
    </section>
  );
}

function Links() {
  const { canAct } = useStore();
  const [address, set] = useState("");
  const make = (role: "viewer" | "person") => void attempt(link.call("panel_link", { role }).then(({ url }) => set(url)));
  return (
    <section class="settings-part">
      <h2>Links</h2>
      <p>For another browser on this machine. A link works once, within a minute.</p>
      {canAct ? (
        <div class="acts acts-left">
          <button type="button" class="btn" onClick={() => make("viewer")}>View link</button>
          <button type="button" class="btn" onClick={() => make("person")}>Link for you</button>
        </div>
      ) : <p class="page-note">A view link makes no links.</p>}
      {address ? <div class="rulebox"><code class="grow" id="made-link">{address}</code><button type="button" class="link" onClick={() => void copy(address, "the link")}>Copy</button></div> : null}
    </section>
  );
}

function About() {
  return (
    <section class="settings-part">
      <h2>About</h2>
      <p>ttyward {link.welcome?.version}. The daemon granted this page the role “{link.welcome?.role}”{link.welcome?.why ? `: ${link.welcome.why}` : ""}.</p>
      <p>This page contains xterm.js and Preact, both under the MIT licence: <a class="link" href="/licences.txt">their notices</a>.</p>
    </section>
  );
}

const PARTS: { path: string; title: string; view: () => ComponentChildren }[] = [
  { path: "permissions", title: "Permissions", view: () => <Permissions /> },
  { path: "folders", title: "Folders", view: () => <Folders /> },
  { path: "sandbox", title: "Sandbox", view: () => <SandboxSettings /> },
  { path: "links", title: "Links", view: () => <Links /> },
  { path: "notifications", title: "Notifications", view: () => <Notifications /> },
  { path: "appearance", title: "Appearance", view: () => <Appearance /> },
  { path: "about", title: "About", view: () => <About /> },
];

export function Settings({ part }: { part: string }) {
  const now = PARTS.find((each) => each.path === part) ?? PARTS[0]!;
  return (
    <>
      <Bar title="Settings" meta={now.title} />
      <main class="main" id="main" tabIndex={-1}>
        <div class="settings">
          <nav class="settings-nav" aria-label="Settings">
            {PARTS.map((each) => <A key={each.path} href={`/settings/${each.path}`} aria-current={each === now ? "page" : undefined}>{each.title}</A>)}
          </nav>
          <div class="settings-body" key={now.path}>{now.view()}</div>
        </div>
      </main>
    </>
  );
}
