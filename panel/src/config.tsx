// Settings of config.toml that decide what agents may do. A change is shown as a difference of the file first, and saved
// only if the file is still the one that was shown.
import { useState } from "preact/hooks";
import { Difference } from "./difference";
import { Dialog } from "./parts";
import { link, store, useCall, useStore } from "./store";
import type { Answer, Args } from "./types";

type Row = Answer<"settings">["settings"][number];
type Change = Args<"settings_change">["changes"][number];
interface Review { changes: Change[]; digest: string; before: string; after: string }

// As a field shows it: lists one word a line, texts without quotes.
function shownValue(row: Row): string {
  if (row.kind === "list") return row.words.join("\n");
  if (row.kind === "choice") return row.words[0] ?? "";
  return row.value.startsWith('"') ? (JSON.parse(row.value) as string) : row.value;
}

function changeOf(row: Row, text: string): Change {
  if (row.kind === "list") return { name: row.name, words: text.split("\n").map((line) => line.trim()).filter(Boolean) };
  if (row.kind === "choice") return { name: row.name, words: [text] };
  if (row.kind === "flag" || (row.kind !== "text" && /^\d+$/.test(text))) return { name: row.name, value: text };
  return { name: row.name, value: JSON.stringify(text) };
}

function Field({ row, text, onText }: { row: Row; text: string; onText: (text: string) => void }) {
  const label = row.name;
  if (row.kind === "flag") return <input type="checkbox" aria-label={label} checked={text === "true"} onChange={(event) => onText(String(event.currentTarget.checked))} />;
  if (row.kind === "choice") {
    return (
      <select class="input" aria-label={label} value={text} onChange={(event) => onText(event.currentTarget.value)}>
        {row.choices.map((each) => <option key={each} value={each}>{each}</option>)}
      </select>
    );
  }
  if (row.kind === "list") return <textarea class="input mono" aria-label={label} rows={Math.min(8, Math.max(2, text.split("\n").length + 1))} spellcheck={false} placeholder="one on each line" value={text} onInput={(event) => onText(event.currentTarget.value)} />;
  return <input class="input mono" aria-label={label} value={text} spellcheck={false} autocapitalize="off" onInput={(event) => onText(event.currentTarget.value)} />;
}

export function ConfigPart({ title, about, names }: { title: string; about: string; names: (name: string) => boolean }) {
  const { canAct } = useStore();
  const [again, setAgain] = useState(0);
  const [drafts, setDrafts] = useState<Record<string, string | null>>({}); // null: the default
  const [review, setReview] = useState<Review | null>(null);
  const [problem, setProblem] = useState("");
  const { answer, error } = useCall("settings", canAct ? {} : null, again);
  const rows = (answer?.settings ?? []).filter((row) => names(row.name));
  const changed = rows.filter((row) => row.name in drafts && (drafts[row.name] === null ? row.source === "file" : drafts[row.name] !== shownValue(row)));
  const preview = async () => {
    if (!answer) return;
    const changes = changed.map((row): Change => (drafts[row.name] === null ? { name: row.name } : changeOf(row, drafts[row.name]!)));
    try {
      const { before, after } = await link.call("settings_change", { changes, digest: answer.digest, preview: true });
      setProblem("");
      setReview({ changes, digest: answer.digest, before, after });
    } catch (failed) {
      setProblem((failed as Error).message);
      setAgain(again + 1); // somebody else may have changed the file
    }
  };
  const save = async () => {
    if (!review) return;
    try {
      await link.call("settings_change", { changes: review.changes, digest: review.digest });
      setDrafts({});
      setProblem("");
      store.toast("Saved. It holds from the next command on.");
    } catch (failed) {
      setProblem((failed as Error).message);
    }
    setReview(null);
    setAgain(again + 1);
  };
  return (
    <section class="settings-part">
      <h2>{title}</h2>
      <p>{about}</p>
      {!canAct ? <p class="page-note">A view link shows no settings.</p> : null}
      {error ? <p class="page-note">{error}</p> : null}
      {(answer?.errors ?? []).map((each) => <p class="page-note" key={each}>{each}</p>)}
      {problem ? <p class="page-note" role="alert">{problem}</p> : null}
      {rows.length > 0 ? (
        <div class="box">
          {rows.map((row) => {
            const fixed = row.source === "environment";
            const text = drafts[row.name] ?? shownValue(row);
            return (
              <div class="setting" key={row.name} data-setting={row.name}>
                <div class="setting-words"><code>{row.name}</code><small>{row.about}</small>
                  <small class="dim">{fixed ? `Set by ${row.where}, which counts more than the file.` : row.source === "file" ? <>In the file. <button type="button" class="link" onClick={() => setDrafts({ ...drafts, [row.name]: null })}>Use the default, {row.usual}</button>{drafts[row.name] === null ? " (chosen)" : ""}</> : "The default."}</small></div>
                <fieldset disabled={fixed}><Field row={row} text={text} onText={(value) => setDrafts({ ...drafts, [row.name]: value })} /></fieldset>
              </div>
            );
          })}
        </div>
      ) : null}
      {rows.length > 0 ? (
        <div class="acts acts-left settings-acts">
          <button type="button" class="btn btn-main" disabled={changed.length === 0} onClick={() => void preview()}>Review…</button>
          {changed.length > 0 ? <button type="button" class="btn btn-bare" onClick={() => setDrafts({})}>Undo</button> : null}
        </div>
      ) : null}
      {review ? (
        <Dialog title="Save to config.toml?" onClose={() => setReview(null)} wide>
          <Difference before={review.before} after={review.after} />
          <p>Holds from the next command on.</p>
          <div class="acts"><button type="button" class="btn btn-bare" onClick={() => setReview(null)}>Back</button><span class="gap" />
            <button type="button" class="btn btn-main" onClick={() => void save()}>Save</button></div>
        </Dialog>
      ) : null}
    </section>
  );
}

const FOLDERS = ["policy.allowed_roots", "sandbox.readable", "sandbox.writable", "sandbox.hidden", "sandbox.unprotected"];
const DECIDING = ["policy.mode", "policy.ask", "policy.approval_expiry", "policy.confine", "policy.auto_approve_safe_commands", "policy.confirm_dangerous_commands",
  "policy.share_agent_terminals", "policy.client_dialogue"];

export function NewSessions() {
  return <ConfigPart title="New sessions" about="What holds for a session when it begins, and how questions are asked." names={(name) => DECIDING.includes(name)} />;
}
export function Folders() {
  return <ConfigPart title="Folders" about="Where agents may work, and what their confined commands can read and change." names={(name) => FOLDERS.includes(name)} />;
}
export function SandboxSettings() {
  return <ConfigPart title="Sandbox" about="How commands and terminals of agents are confined." names={(name) => name.startsWith("sandbox.") && !FOLDERS.includes(name)} />;
}
