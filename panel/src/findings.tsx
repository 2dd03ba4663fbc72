// What the daemon found in a command's output, and what a command changed that ran on a layer over its folder.
import { useState } from "preact/hooks";
import { Dialog, Icon } from "./parts";
import { link, store, useCall, useStore } from "./store";
import type { Args, Changes, Facts, Result } from "./types";
import { count } from "./words";

export interface Finding { where: string; what: string; at: number | null }

export function findingsOf(facts: Facts | null | undefined): Finding[] {
  return [
    ...(facts?.tests ?? []).map((test) => ({ where: test.name, what: test.message ?? test.outcome, at: test.at })),
    ...(facts?.diagnostics ?? []).map((each) => ({
      where: `${each.file}${each.line ? `:${each.line}` : ""}`, what: `${each.severity === "error" ? "" : `${each.severity}: `}${each.message}`, at: each.at,
    })),
  ];
}

// The lines of the output in which they are.
export function linesOf(facts: Facts | null | undefined): number[] {
  return findingsOf(facts).flatMap((each) => (each.at ? [each.at] : []));
}

// Absent where the digest found nothing: nothing is guessed here.
export function useFindings(command: string, again: unknown, wanted: boolean): Result | null {
  const { answer } = useCall("result", wanted ? { command, view: "digest" } : null, again);
  return wanted ? answer : null;
}

export function FactsBox({ facts, onLine }: { facts: Facts | null | undefined; onLine: (line: number) => void }) {
  const [all, setAll] = useState(false);
  const found = findingsOf(facts);
  if (found.length === 0) return null;
  const title = [
    facts?.tests?.length ? `${count(facts.tests.length, "test")} did not pass` : "",
    facts?.diagnostics?.length ? count(facts.diagnostics.length, "finding") : "",
  ].filter(Boolean).join(", ");
  return (
    <section class="facts" aria-label="Found in the output">
      <h4><Icon name="warn" small />{title}</h4>
      <ul>
        {(all ? found : found.slice(0, 6)).map((each, at) => (
          <li key={at}>
            <bdi class="mono cut" title={each.where}>{each.where}</bdi>
            <bdi class="cut" title={each.what}>{each.what}</bdi>
            {each.at ? <button type="button" class="link" onClick={() => onLine(each.at!)}>Line {each.at}</button> : <span />}
          </li>
        ))}
      </ul>
      {found.length > 6 && !all ? <button type="button" class="link" onClick={() => setAll(true)}>All {found.length}</button> : null}
    </section>
  );
}

const STATES: Record<Changes["state"], string> = { running: "still running", finished: "not applied", applying: "being applied", applied: "applied", undone: "taken back" };

function lineClass(line: string): string {
  if (line.startsWith("+++") || line.startsWith("---") || line.startsWith("diff ") || line.startsWith("index ") || line.startsWith("@@")) return "at";
  return line.startsWith("+") ? "add" : line.startsWith("-") ? "del" : "";
}

export function ChangesBox({ command, onChanged }: { command: string; onChanged: () => void }) {
  const { canAct } = useStore();
  const [again, setAgain] = useState(0);
  const [asks, setAsks] = useState<"" | "discard" | "force" | "undo">("");
  const [conflicts, setConflicts] = useState<{ path: string; reason: string }[]>([]);
  const { answer, error } = useCall("changes", { command, diff: true }, again);
  if (error && !answer) return null;
  const changes = answer?.changes;
  if (!changes) return null;
  const files = changes.added + changes.changed + changes.deleted;
  const call = async (name: "apply" | "undo" | "discard", more: Partial<Args<"apply">> = {}) => {
    setAsks("");
    try {
      const done = await link.call(name, { command, ...more });
      const left = "conflicts" in done ? done.conflicts ?? [] : [];
      setConflicts(left);
      if (left.length > 0) setAsks("force");
      else store.toast({ apply: "Applied.", undo: "Taken back.", discard: "Discarded." }[name]);
    } catch (problem) {
      store.toast((problem as Error).message);
    }
    setAgain((value) => value + 1);
    onChanged();
  };
  return (
    <section class="changes" aria-label="Changes of this try">
      <header><h4>Changes of this try</h4><span class="dim">{count(files, "file")}, +{changes.lines_added} −{changes.lines_removed}, {STATES[changes.state]}</span></header>
      {changes.problem ? <p class="page-note">{changes.problem}</p> : null}
      {answer.diff ? (
        <pre class="patch">{answer.diff.split("\n").map((line, at) => <div key={at} class={lineClass(line)}>{line || " "}</div>)}</pre>
      ) : (
        <ul class="rows">{changes.list.map((each) => <li key={each.path}><b>{each.kind}</b><bdi class="mono cut">{each.path}</bdi></li>)}</ul>
      )}
      {answer.diff_cut || changes.more > 0 ? <p class="log-found">This is not all of it: <code>ttyward changes {command}</code></p> : null}
      {canAct && (changes.state === "finished" || changes.state === "applied" || changes.state === "undone") ? (
        <div class="acts">
          <button type="button" class="btn btn-deny" onClick={() => setAsks("discard")}>Discard…</button>
          <span class="gap" />
          {changes.state === "applied" ? <button type="button" class="btn" onClick={() => void call("undo")}>Undo</button>
            : <button type="button" class="btn btn-main" disabled={files === 0} onClick={() => void call("apply")}>Apply {count(files, "file")}</button>}
        </div>
      ) : null}
      {asks === "discard" ? (
        <Dialog title="Discard the changes of this try?" onClose={() => setAsks("")}>
          <p>{changes.state === "applied" ? "What was applied stays, and cannot be taken back any more." : `${count(files, "file")} ${files === 1 ? "goes" : "go"} back to what ${files === 1 ? "it was" : "they were"}.`}</p>
          <div class="acts"><button type="button" class="btn btn-bare" onClick={() => setAsks("")}>Cancel</button><span class="gap" /><button type="button" class="btn btn-kill" onClick={() => void call("discard")}>Discard</button></div>
        </Dialog>
      ) : null}
      {asks === "force" ? (
        <Dialog title="The folder changed meanwhile" onClose={() => setAsks("")}>
          <ul class="rows">{conflicts.map((each) => <li key={each.path}><bdi class="mono cut">{each.path}</bdi><span class="num">{each.reason}</span></li>)}</ul>
          <p>Nothing was changed.</p>
          <div class="acts"><button type="button" class="btn btn-bare" onClick={() => setAsks("")}>Leave it</button><span class="gap" /><button type="button" class="btn btn-kill" onClick={() => void call("apply", { force: true })}>Replace</button></div>
        </Dialog>
      ) : null}
    </section>
  );
}
