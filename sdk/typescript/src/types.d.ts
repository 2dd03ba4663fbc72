// Made by tools/make_sdks.py from docs/protocol/socket.schema.json: change that, not this.

/** The result of a command. `exit_code` is present only if it was observed, and `known_by` says how. */
export interface Result {
  /** its id */
  command_id: string | null;
  /** the terminal it ran in */
  terminal_id: string | null;
  /** the command line */
  command: string;
  /** what it is for, as its caller said */
  description?: string;
  /** where it began */
  cwd: string | null;
  /** where the shell was afterwards */
  cwd_after: string | null;
  /**
   * `queued`: not started, because a person has the keyboard; `reason` says who. `lost`: its end was not
   * observed
   */
  state: "pending_approval" | "queued" | "running" | "awaiting_input" | "exited" | "signaled" | "timed_out" | "interrupted" | "denied" | "skipped" | "failed_to_start" | "lost";
  /** only if it was observed */
  exit_code: number | null;
  /**
   * what killed it. In a shell a command killed by signal n has code 128 + n: then this names it, and `state`
   * stays `exited`
   */
  signal: string | null;
  /** null: not known, because shells do not report it */
  core_dumped: boolean | null;
  /** how the end is known */
  known_by: "wait" | "shell_mark" | "prompt_mark" | "sentinel" | null;
  /** exit codes of the parts of a pipeline */
  pipeline: number[] | null;
  /** an explanation, where the state needs one */
  reason: string | null;
  /** what it waits for */
  waiting: ResultWaiting | null;
  /** as a person sees it, cut to the asked size */
  output: string;
  /** what was cut out of the output */
  omitted: ResultOmitted | null;
  /** printed */
  total_bytes: number;
  /** printed */
  total_lines: number;
  /** printed and counted, but not kept: a quota or a full disk */
  lost_bytes: number;
  /** the output is not text */
  binary: boolean;
  /** the output ended in the middle of a line */
  no_newline?: boolean;
  /** of the output, where it is not UTF-8 */
  encoding: string | null;
  /** when it began */
  started_at: string | null;
  /** how long it ran, or runs */
  duration_ms: number;
  /** until its time limit, while it runs */
  time_left_ms?: number | null;
  /** until it has been silent for too long */
  idle_left_ms?: number | null;
  /** of a command on its own; in a shell, while it is in the foreground */
  pid?: number | null;
  /** the same */
  process_group?: number | null;
  /** processor time */
  cpu_ms: number | null;
  /** most memory */
  max_rss_kib: number | null;
  /** processes that it left behind and that are still alive */
  background: ResultBackground[];
  /** processes that it left behind and that were stopped with it */
  ended_background?: ResultEndedBackground[];
  /** ports that those listen on; for a running command, ports that it listens on now */
  ports: ResultPorts[];
  /** where it ran, if not on this machine: `ssh:HOST`, `podman:NAME` */
  place?: string;
  /** how its process was made */
  provider: "pty" | "pipe" | null;
  /** why it is pipe although pty was asked for */
  fallback_reason: string | null;
  /** how well the shell reports */
  integration: "rich" | "basic" | "none" | null;
  /** what policy said */
  verdict: Verdict | null;
  /** the open question, while the state is `pending_approval` */
  approval: string | null;
  /** what confined it; without it, nothing did */
  sandbox?: ResultSandbox | null;
  /** command lines that a person ran since the agent's last command */
  typed_meanwhile?: string[];
  /** of an `exec` with `replies`: which were given */
  dialogue?: ResultDialogue | null;
  /** in `environment`: lines of output that are new to the reader */
  new_lines?: number | null;
  /** with the view `agent`, while it runs: how it went before, in the same folder */
  usual?: ResultUsual | null;
  /** with the view `digest`: what it found */
  facts?: Facts | null;
  /** commands that may help, where `output.suggestions` is set */
  suggestions?: string[];
  /** of a command that ran with `try`: what it changed */
  changes?: Changes | null;
}

export interface ResultWaiting {
  /** what the program reads */
  kind: "line" | "password" | "key" | "pager" | "editor" | "fullscreen";
  /** the line the cursor is on */
  prompt: string;
  /** the program that reads */
  program: string;
  /** its process */
  pid: number;
  /** how it is known */
  evidence: string;
}

export interface ResultOmitted {
  /** left out */
  bytes: number;
  /** left out */
  lines: number;
  /** the first line that is not whole in the output */
  first_line: number;
  /** the last */
  last_line: number;
}

export interface ResultBackground {
  /** the process */
  pid: number;
  /** its parent, in `show` */
  parent?: number | null;
  /** its command line */
  command: string;
}

export interface ResultEndedBackground {
  /** the process */
  pid: number;
  /** its parent, in `show` */
  parent?: number | null;
  /** its command line */
  command: string;
}

export interface ResultPorts {
  /** a TCP port */
  port: number;
  /** the process that listens on it */
  pid: number;
}

export interface ResultSandbox {
  /** its name */
  profile: string;
  /** the folder that is the workspace */
  workspace: string;
  /** what was enforced */
  layers: string[];
  /** what the command does that the profile does not allow */
  denied?: string[];
  /** what else to know about it */
  notes?: string[];
}

export interface ResultDialogue {
  /** how it ended */
  end: string;
  /** in words */
  reason: string | null;
  /** the replies that were given */
  used: ResultDialogueUsed[];
  /** how many there were */
  used_count: number;
}

export interface ResultDialogueUsed {
  /** which of the replies, from 0 */
  reply: number;
  /** where it was asked */
  line: number;
  /** what was asked */
  asked: string;
}

export interface ResultUsual {
  /** how long it took; the median */
  duration_ms: number;
  /** how much it printed; the median */
  lines: number;
  /** so many of them are known */
  runs: number;
}

/**
 * What a digest found in the output, as data: diagnostics of compilers and linters, tests that did not pass,
 * files of listings and of git status and diff, commits of git log.
 */
export interface Facts {
  /** of compilers and linters */
  diagnostics?: FactsDiagnostics[];
  /** that did not pass */
  tests?: FactsTests[];
  /** of a listing, a status or a diff */
  files?: FactsFiles[];
  /** of a log */
  commits?: FactsCommits[];
}

export interface FactsDiagnostics {
  /** where */
  file?: string;
  /** of the file; 0: not said */
  line: number;
  /** the same */
  column: number;
  /** error, warning, as the tool says it */
  severity: string;
  /** the tool's name for it */
  code?: string;
  /** what is wrong */
  message: string;
  /** the line of the output */
  at: number;
}

export interface FactsTests {
  /** of a test that did not pass */
  name: string;
  /** how it ended */
  outcome: "failed" | "error" | "timeout";
  /** why, where one line says so */
  message?: string;
  /** the line of the output */
  at: number;
}

export interface FactsFiles {
  /** of a file */
  name: string;
  /** of a listing: file, directory, link; of a repository: modified, untracked and so on */
  state?: string;
  /** bytes; 0: not said */
  size: number;
  /** lines, of a change */
  added: number;
  /** the same */
  removed: number;
}

export interface FactsCommits {
  /** as it was printed */
  hash: string;
  /** the same */
  author?: string;
  /** the same */
  date?: string;
  /** first line of its message */
  subject: string;
}

/** A terminal, as it is now. */
export interface Terminal {
  /** its id */
  id: string;
  /** its name */
  name: string | null;
  /** whose it is */
  owner: "agent" | "user" | "system";
  /** the task it is bound to */
  task: string | null;
  /** sessions it is associated with */
  sessions: TerminalSessions[];
  /** where it is, if not on this machine: `ssh:HOST`, `podman:NAME` */
  place?: string;
  /** of one in another place: why it cannot be reached now; its commands run on */
  link_lost?: string;
  /** how its process was made */
  provider: "pty" | "pipe";
  /** why it is pipe although pty was asked for */
  fallback_reason: string | null;
  /** how well the shell reports */
  integration: "rich" | "basic" | "none";
  /** the profile that confines it; null: none */
  sandbox: string | null;
  /** which kind of shell; null: it runs one command */
  shell: string | null;
  /** what was started */
  argv: string[];
  /** where it is now */
  cwd: string | null;
  /** how that is known */
  cwd_known_by: "shell" | "kernel" | "text" | "start";
  /** what it does */
  state: "starting" | "idle" | "busy" | "awaiting_input" | "finished" | "lost";
  /** no command can be sent to it now */
  busy: boolean;
  /** a command runs */
  running: boolean;
  /** it is removed when its command ends */
  temporary: boolean;
  /** the shell's process */
  pid: number | null;
  /** the process that keeps it alive */
  holder_pid: number | null;
  /** columns */
  cols: number;
  /** rows */
  rows: number;
  /** as a program set it */
  title: string | null;
  /** a full-screen program has it */
  alternate: boolean;
  /** as a program reports it */
  progress: TerminalProgress | null;
  /** the current command, without output */
  command: Result | null;
  /** the last command line */
  last_command: string | null;
  /** how many there were */
  commands: number;
  /** when it was opened */
  created_at: string;
  /** when something was printed last */
  last_output_at: string | null;
  /** it is still printing */
  hot: boolean;
  /** a person has the keyboard */
  lease: TerminalLease | null;
  /** the command that waits for a person's keyboard */
  queued?: TerminalQueued | null;
  /** the agent's session that opened it */
  session: string | null;
  /** a person lent it to agents */
  lent: TerminalLent | null;
  /** of the shell, when it has ended */
  exit_code: number | null;
  /** what killed the shell */
  signal: string | null;
  /** what is kept of its output */
  journal: TerminalJournal;
  /** command lines that a person ran since the agent's last command */
  typed_meanwhile: string[];
}

export interface TerminalSessions {
  /** whose */
  session: string;
  /** how it is associated */
  quality: string;
}

export interface TerminalProgress {
  /** of a terminal */
  state?: "none" | "normal" | "error" | "indeterminate" | "paused" | null;
  /** how far it is */
  percent: number;
}

export interface TerminalLease {
  /** who has the keyboard */
  by: string;
  /** since when */
  since: string;
}

export interface TerminalQueued {
  /** its id */
  command_id: string;
  /** the command line */
  command: string;
  /** who sent it */
  by: "agent" | "user" | "system";
}

export interface TerminalLent {
  /** a session; null: every agent */
  to: string | null;
  /** only for reading */
  read_only: boolean;
  /** who lent it */
  by: string;
  /** since when */
  since: string;
}

/** what is kept of its output */
export interface TerminalJournal {
  /** printed so far */
  bytes: number;
  /** how many of them were not kept */
  dropped: number;
  /** it is paused, because the journal is at its quota; see `resume` */
  paused: boolean;
}

/** What policy says about a command. */
export interface Verdict {
  /** what follows; `allow_confined`: it runs in a sandbox */
  decision: "allow" | "allow_confined" | "ask" | "deny";
  /** the highest risk of its parts */
  risk: "low" | "medium" | "high" | "critical";
  /** what the command does */
  effects: VerdictEffects[];
  /** why, highest risk first */
  reasons: VerdictReasons[];
  /** what decided: built-in, a mode, or a rule's name */
  rule: string;
  /** every simple command found, as understood */
  commands: string[];
  /** objections that rules overruled */
  waived?: VerdictWaived[];
  /** rules that almost cover it, and why they do not */
  hints?: string[];
  /** the profile that confines it */
  sandbox?: string;
}

export interface VerdictEffects {
  /** what it does */
  kind: "read" | "list" | "write" | "delete" | "network" | "process" | "privilege" | "install" | "execute" | "state" | "secret" | "unknown";
  /** a path, host or program; empty: it has none */
  target: string;
}

export interface VerdictReasons {
  /** in words */
  text: string;
  /** first byte of the command that it is about */
  begin: number;
  /** the byte after the last */
  end: number;
  /** of this part */
  risk: "low" | "medium" | "high" | "critical";
  /** for this part */
  decision: "allow" | "ask" | "deny";
}

export interface VerdictWaived {
  /** the objection */
  text: string;
  /** its risk */
  risk: "low" | "medium" | "high" | "critical";
  /** the rule that overruled it */
  rule: string;
}

/** A question to a person about one command. */
export interface Approval {
  /** its id */
  id: string;
  /** the exact bytes that run if it is allowed */
  command: string;
  /** the same for display: escaped and bounded */
  shown: string;
  /** where it would run */
  cwd: string;
  /** NAME=value, the variables that the command changes */
  environment: string[];
  /** the command that runs if it is allowed */
  command_id: string | null;
  /** where */
  terminal_id: string | null;
  /** for which task */
  task: string | null;
  /** of which session */
  session: string | null;
  /** the client that asked */
  asked_by: string | null;
  /** what policy said */
  verdict: Verdict | null;
  /** when it was asked */
  created_at: string;
  /** when it expires; null: never */
  expires_at: string | null;
  /** the answer if nobody answers */
  default: "deny";
  /** an `allow` can end as `denied`, when the command would no longer do what was shown; `reason` says so */
  state: "open" | "allowed" | "denied" | "skipped" | "expired" | "withdrawn";
  /** who answered */
  answered_by: string | null;
  /** when */
  answered_at: string | null;
  /** the person's reason, or why it was closed without an answer */
  reason: string | null;
  /** rules that "always" would store, as text of a rule file */
  always: string[];
  /** the same in words */
  always_words: string[];
  /** rules that are one step wider; empty: there are none */
  wider: string[];
  /** the same in words */
  wider_words: string[];
  /** how long an answer can be remembered; `session`: critical; null: not at all */
  always_scope: "global" | "session" | null;
}

/** A command in the history. */
export interface HistoryRow {
  /** its id */
  command_id: string;
  /** the terminal it ran in */
  terminal_id: string | null;
  /** its name at that time */
  terminal_name: string | null;
  /** for which task */
  task: string | null;
  /** who ran it */
  owner: "agent" | "user" | "system";
  /** the command line; secrets are masked */
  command: string;
  /** what it was for, as its caller said */
  description: string | null;
  /** where it ran, if not on this machine */
  place?: string;
  /** where it began */
  cwd: string | null;
  /** where the shell was afterwards */
  cwd_after: string | null;
  /** as in a Result */
  state: string;
  /** only if it was observed */
  exit_code: number | null;
  /** what killed it */
  signal: string | null;
  /** how the end is known; `told`: only from the agent, which ran it itself */
  known_by: string | null;
  /** how its process was made */
  provider: string | null;
  /** how well the shell reported */
  integration: string | null;
  /** when it began */
  started_at: string;
  /** how long it ran; null: it has not ended */
  duration_ms: number | null;
  /** where its output is kept */
  output: HistoryRowOutput;
  /** printed */
  total_bytes: number;
  /** printed */
  total_lines: number;
  /** an explanation, where the state needs one */
  reason: string | null;
}

/** where its output is kept */
export interface HistoryRowOutput {
  /** the id of the journal */
  journal: string;
  /** first byte */
  begin: number;
  /** the byte after the last */
  end: number;
}

/** One decision about a command or an action; the audit. */
export interface DecisionRow {
  /** its id */
  id: string;
  /** when it was decided */
  at: string;
  /** null: it never became a command */
  command_id: string | null;
  /** where */
  terminal_id: string | null;
  /** the action that was requested */
  action: "run" | "open" | "type" | "interrupt" | "signal" | "kill" | "lend" | "permit";
  /** the client that asked */
  asked_by: string;
  /** the command line; secrets are masked */
  command: string;
  /** where */
  cwd: string | null;
  /** what was decided */
  decision: "allow" | "ask_allow" | "deny" | "skip" | "expired" | "withdrawn";
  /** a rule, a person, the default, an expiry */
  decided_by: string | null;
  /** its risk */
  risk: string | null;
  /** what the command does, in short */
  effects: string | null;
  /** in words */
  reason: string | null;
  /** null: nobody was asked, or nobody answered */
  answered_by: string | null;
  /** when */
  answered_at: string | null;
}

/** What a call with `stream` sends before its answer. Only what is new is present. */
export interface Part {
  /** finished lines as a person sees them, at most every 100 ms */
  output?: string;
  /** arguments to add when this call has to be repeated */
  again?: PartAgain | null;
  /** of the command, when it changes */
  state?: string;
  /** what it waits for now; null: for nothing */
  waiting?: PartWaiting | null;
  /** with `pending_approval`: the open question */
  approval?: string;
  /** with `pending_approval`: why it was asked */
  reason?: string | null;
  /** the output is not text: only its size is told */
  binary?: PartBinary | null;
  /** as the program reports it; null: it has ended */
  progress?: PartProgress | null;
}

export interface PartAgain {
  /** of `exec` and `run`: how many lines came so far */
  from_line?: number | null;
  /** of `wait`: the command that is meant */
  command?: string;
  /** of `wait`: where it began to look */
  from_place?: PartAgainFromPlace | null;
}

export interface PartAgainFromPlace {
  /** the line's number */
  line: number;
  /** what it held, up to this place */
  text: string;
}

export interface PartWaiting {
  /** what the program reads */
  kind: "line" | "password" | "key" | "pager" | "editor" | "fullscreen";
  /** the line the cursor is on */
  prompt: string;
  /** the program that reads */
  program: string;
  /** its process */
  pid: number;
  /** how it is known */
  evidence: string;
}

export interface PartBinary {
  /** so far */
  bytes: number;
}

export interface PartProgress {
  /** of a terminal */
  state?: "none" | "normal" | "error" | "indeterminate" | "paused" | null;
  /** how far it is */
  percent: number;
}

/**
 * What changed on a screen. Rows have stable numbers: one that scrolls up keeps its number and is not sent
 * again. A viewer keeps rows by number, replaces those that come, and shows those from `first_row` on;
 * everything that is not a row is as it is now.
 */
export interface ScreenDelta {
  /** grows with each change */
  sequence: number;
  /** forget all rows: all there are, are in `lines` */
  reset: boolean;
  /** columns of the screen */
  cols: number;
  /** rows of the screen */
  rows: number;
  /** the stable number of the topmost row */
  first_row: number;
  /** rows that changed */
  lines: ScreenDeltaLines[];
  /** where it is */
  cursor: ScreenDeltaCursor;
  /** a full-screen program has it */
  alternate: boolean;
  /** DEC private modes that are set: they decide what keys and the mouse send */
  modes: number[];
  /** flags of that protocol */
  kitty_keyboard?: number;
  /** as xterm has it */
  modify_other_keys?: number;
}

export interface ScreenDeltaLines {
  /** its stable number */
  row: number;
  /** from the first column on; what they do not reach is blank */
  runs: ScreenRun[];
}

/** where it is */
export interface ScreenDeltaCursor {
  /** of the screen, from 0 */
  row: number;
  /** from 0 */
  col: number;
  /** it is shown */
  visible: boolean;
  /** how */
  shape: "block" | "underline" | "bar";
  /** it blinks */
  blinks: boolean;
}

/** Neighbouring columns that look alike. */
export interface ScreenRun {
  /** without control characters; an empty column is a space */
  text: string;
  /** how many columns it covers */
  cols: number;
  /** a number of the palette, "0" to "255", or "#rrggbb"; left out: the usual one */
  fg?: string;
  /** a number of the palette, "0" to "255", or "#rrggbb"; left out: the usual one */
  bg?: string;
  /** how it is underlined */
  underline?: "single" | "double" | "curly" | "dotted" | "dashed";
  /** a number of the palette, "0" to "255", or "#rrggbb"; left out: the usual one */
  underline_colour?: string;
  /** true, or left out */
  bold?: boolean;
  /** the same */
  dim?: boolean;
  /** the same */
  italic?: boolean;
  /** the same */
  blink?: boolean;
  /** colours exchanged */
  inverse?: boolean;
  /** not to be shown */
  hidden?: boolean;
  /** struck through */
  strike?: boolean;
  /** the same */
  overline?: boolean;
}

/**
 * What a command changed that ran on a layer over its workspace. The workspace has none of it until it is
 * applied.
 */
export interface Changes {
  /** how far it is */
  state: "running" | "finished" | "applying" | "applied" | "undone";
  /** the folder that was changed */
  workspace: string;
  /** how many files, folders and links are new */
  added: number;
  /** how many are changed */
  changed: number;
  /** how many are gone; a folder counts once */
  deleted: number;
  /** in all text files */
  lines_added: number;
  /** the same */
  lines_removed: number;
  /** the changes, by path */
  list: Change[];
  /** how many changes are not in the list */
  more: number;
  /** why there is no list, or why it was not applied */
  problem?: string;
}

/** One file, folder or link that a command changed. */
export interface Change {
  /** below the workspace */
  path: string;
  /** what happened to it */
  kind: "added" | "changed" | "deleted";
  /** what it is now, or was */
  type: "file" | "folder" | "link" | "special";
  /** of text */
  lines_added?: number | null;
  /** of text */
  lines_removed?: number | null;
  /** it is not text */
  binary?: boolean;
  /** permissions before, in octal, where they changed */
  mode_before?: string;
  /** permissions now, where they changed */
  mode?: string;
  /** where the link points */
  link?: string;
  /** of a deleted folder: the files in it */
  files: number;
  /** it is in the workspace */
  applied?: boolean;
  /** what else there is to know */
  note?: string;
}

export interface RunRequest {
  /** a line for the shell; this or `argv` */
  command?: string | null;
  /** a program and its arguments, without a shell */
  argv?: string[] | null;
  /**
   * chosen by the client, a `c` and 12 characters of a-z and 2-7; a call that is repeated with the same id runs
   * nothing twice
   */
  command_id?: string | null;
  /** what it is for, in the caller's words; kept in the history, and no part of any decision */
  description?: string | null;
  /** with `stream`, when the call is repeated: how many lines were received before */
  from_line?: number | null;
  /** where it runs */
  cwd?: string | null;
  /** variables to set */
  env?: Record<string, string> | null;
  /** in a terminal, or on pipes */
  provider?: "pty" | "pipe" | null;
  /** of the terminal */
  size?: RunRequestSize | null;
  /** time limit after which the command is stopped */
  timeout_ms?: number | null;
  /** time without output after which the command is stopped */
  idle_timeout_ms?: number | null;
  /** after which the call answers with `state: running` and the command keeps running; 0: never */
  yield_after_ms?: number | null;
  /** keep the processes that it leaves behind; otherwise they are stopped with it */
  keep_background?: boolean | null;
  /** the task it is for */
  task?: string | null;
  /** send parts while it runs */
  stream?: boolean | null;
  /** its whole standard input, byte for byte, followed by end of file; without it, it reads the terminal */
  stdin?: string | null;
  /** what happens to the command when the call is cancelled */
  on_cancel?: "leave" | "interrupt" | null;
  /** keep waiting when the command waits for input; otherwise the call answers then */
  wait_for_input?: boolean | null;
  /** the profile that confines it (docs/sandbox.md); an agent can only ask for a stricter one than is configured */
  sandbox?: string | null;
  /**
   * where it runs: `ssh:HOST`, `podman:NAME`, `docker:NAME` (docs/places.md); judged as the line that would run
   * it there from here
   */
  place?: string | null;
  /**
   * run it on a layer over its workspace: the result lists what it changed, and the workspace has none of it
   * until `apply` (docs/try.md)
   */
  try?: boolean | null;
  /** preset of how much output is returned; `agent` is the configured one, and a digest unless one is configured */
  view?: "default" | "digest" | "head" | "tail" | "full" | "agent" | "void" | "roo" | "gemini" | null;
  /** lines of output at most, instead of the preset's */
  lines?: number | null;
  /** characters of output at most, instead of the preset's */
  chars?: number | null;
}

export interface RunRequestSize {
  /** columns */
  cols: number;
  /** rows */
  rows: number;
}

export interface BatchRequest {
  /** 1 to 1000 command lines */
  commands: string[];
  /** where they begin */
  cwd?: string | null;
  /** variables to set */
  env?: Record<string, string> | null;
  /** the task they are for */
  task?: string | null;
  /** continue after a command that failed */
  keep_going?: boolean | null;
  /** run each on its own, with its own limits */
  separate?: boolean | null;
  /** with `separate`: how many at once */
  parallel?: number | null;
  /** time limit for all together; with `separate`, for each */
  timeout_ms?: number | null;
  /** with `separate`: time without output, for each */
  idle_timeout_ms?: number | null;
  /** after which the call answers; 0: never */
  yield_after_ms?: number | null;
  /**
   * chosen by the client, at most 40 letters, digits, `-` and `_`; a call that is repeated with the same id runs
   * nothing twice. In one shell the command with number n has the id `batch_id-n`
   */
  batch_id?: string | null;
  /** the profile that confines it (docs/sandbox.md); an agent can only ask for a stricter one than is configured */
  sandbox?: string | null;
  /** preset of how much output is returned; `agent` is the configured one, and a digest unless one is configured */
  view?: "default" | "digest" | "head" | "tail" | "full" | "agent" | "void" | "roo" | "gemini" | null;
  /** lines of output at most, instead of the preset's */
  lines?: number | null;
  /** characters of output at most, instead of the preset's */
  chars?: number | null;
}

export interface BatchAnswer {
  /** of the commands that began */
  results: Result[];
  /** commands that did not begin */
  not_run: string[];
  /** why */
  stopped_by?: "failure" | "time";
  /** of the one shell that ran them, if the command line ran it */
  state?: string;
  /** the same */
  duration_ms?: number | null;
}

export interface OpenRequest {
  /** a name that no living terminal has */
  name?: string | null;
  /** where it begins */
  cwd?: string | null;
  /** a path or a name; an agent is asked about what is in neither /etc/shells nor the configuration */
  shell?: string | null;
  /** for that shell; an agent is asked about them, as about a command */
  shell_args?: string[] | null;
  /** a login shell */
  login?: boolean | null;
  /** `pipe`: a shell without a terminal, whose commands read nothing, and to which nothing can be typed */
  provider?: "pty" | "pipe" | null;
  /** the task it is bound to */
  task?: string | null;
  /** whose it is; an agent's are an agent's */
  owner?: "agent" | "user" | "system" | null;
  /** variables to set */
  env?: Record<string, string> | null;
  /** of the terminal */
  size?: OpenRequestSize | null;
  /** chosen by the client; a call that is repeated with the same id opens no second terminal */
  request?: string | null;
  /**
   * the profile that confines it and all its commands (docs/sandbox.md); an agent can only ask for a stricter
   * one than is configured
   */
  sandbox?: string | null;
  /**
   * where it is opened: `ssh:HOST`, `podman:NAME`, `docker:NAME` (docs/places.md); an agent is asked about,
   * unless a rule allows it
   */
  place?: string | null;
}

export interface OpenRequestSize {
  /** columns */
  cols: number;
  /** rows */
  rows: number;
}

export interface OpenAnswer {
  /** as it is now */
  terminal: Terminal;
}

export interface AcquireRequest {
  /** where it has to be */
  cwd?: string | null;
  /** the task it is for */
  task?: string | null;
  /** in a terminal, or on pipes */
  provider?: "pty" | "pipe" | null;
  /** how long to wait where no more may be opened; 0: not at all */
  wait_ms?: number | null;
}

export interface AcquireAnswer {
  /** as it is now */
  terminal: Terminal;
  /** it is a new one */
  created: boolean;
}

export interface ReleaseRequest {
  /** the task */
  task: string;
}

export interface ReleaseAnswer {
  /** oldest first */
  terminals: Terminal[];
}

export interface ExecRequest {
  /** its id or name */
  terminal: string;
  /** the command line */
  command: string;
  /**
   * chosen by the client, a `c` and 12 characters of a-z and 2-7; a call that is repeated with the same id runs
   * nothing twice
   */
  command_id?: string | null;
  /** what it is for, in the caller's words; kept in the history, and no part of any decision */
  description?: string | null;
  /** with `stream`, when the call is repeated: how many lines were received before */
  from_line?: number | null;
  /** for this command only */
  cwd?: string | null;
  /** time limit after which the command is stopped; 0: never */
  timeout_ms?: number | null;
  /** time without output after which the command is stopped; 0: never */
  idle_timeout_ms?: number | null;
  /** after which the call answers and the command keeps running; 0: never */
  yield_after_ms?: number | null;
  /** what to do when another command runs there */
  on_busy?: "fail" | "wait" | null;
  /** send parts while it runs */
  stream?: boolean | null;
  /** what happens to the command when the call is cancelled */
  on_cancel?: "leave" | "interrupt" | null;
  /** keep waiting when the command waits for input; otherwise the call answers then */
  wait_for_input?: boolean | null;
  /** what to answer when the command asks */
  replies?: ExecRequestReplies[] | null;
  /** how long to wait for each question; 0: for ever */
  replies_timeout_ms?: number | null;
  /** type it into the program that reads the terminal now, such as ssh */
  sentinel?: boolean | null;
  /**
   * the profile that must confine it at least; where the terminal's is weaker, the command runs beside the
   * terminal, in its folder
   */
  sandbox?: string | null;
  /** preset of how much output is returned; `agent` is the configured one, and a digest unless one is configured */
  view?: "default" | "digest" | "head" | "tail" | "full" | "agent" | "void" | "roo" | "gemini" | null;
  /** lines of output at most, instead of the preset's */
  lines?: number | null;
  /** characters of output at most, instead of the preset's */
  chars?: number | null;
}

export interface ExecRequestReplies {
  /** a pattern (RE2) of what is asked */
  when: string;
  /** what to type; one of `text`, `keys` and `secret` */
  text?: string | null;
  /** keys, such as "C-c Enter" */
  keys?: string | null;
  /** typed only while echo is off, and never recorded */
  secret?: string | null;
  /** answer every time it is asked */
  repeat?: boolean;
}

export interface InputRequest {
  /** its id or name */
  terminal: string;
  /** text; a line end is Enter */
  text?: string | null;
  /** keys, such as "C-c Enter" */
  keys?: string | null;
  /** text to paste */
  paste?: string | null;
  /** typed only while echo is off, followed by Enter, never recorded */
  secret?: string | null;
  /** raw bytes */
  base64?: string | null;
}

export interface InputAnswer {
  /** that were typed; 0 with `pending_approval` */
  bytes?: number | null;
  /** the command it was typed to */
  command_id?: string;
  /** it is typed once a person allows it */
  state?: "pending_approval";
  /** the open question */
  approval?: string;
  /** why it was asked */
  reason?: string;
}

export interface InterruptRequest {
  /** its id or name; this or `command` */
  terminal?: string | null;
  /** the command's id */
  command?: string | null;
}

export interface InterruptAnswer {
  /** false: it had ended already */
  interrupted: boolean;
}

export interface SignalRequest {
  /** its id or name; this or `command` */
  terminal?: string | null;
  /** the command's id */
  command?: string | null;
  /** a name or a number */
  signal: number | string | null;
  /** whom */
  to?: "foreground" | "leader" | "all" | null;
}

export interface SignalAnswer {
}

export interface KillRequest {
  /** its id or name; this or `command` */
  terminal?: string | null;
  /** the command's id */
  command?: string | null;
  /** kill it at once, without asking it to exit */
  force?: boolean | null;
}

export interface KillAnswer {
  /** false: it is not known, had already ended, or could not be ended */
  killed: boolean;
  /** what could not be ended */
  survivors: KillAnswerSurvivors[];
}

export interface KillAnswerSurvivors {
  /** a process that is still alive */
  pid: number;
}

export interface ResizeRequest {
  /** its id or name */
  terminal: string;
  /** columns */
  cols?: number | null;
  /** rows */
  rows?: number | null;
}

export interface ResizeAnswer {
}

export interface WaitRequest {
  /** its id or name; this, `command` or `approval` */
  terminal?: string | null;
  /** the command's id */
  command?: string | null;
  /** a question's id */
  approval?: string | null;
  /** the command has ended */
  exit?: boolean | null;
  /** RE2; a line of the output matches */
  pattern?: string | null;
  /** a process of the command listens on it; 0: on any port */
  port?: number | null;
  /** it exists */
  file?: string | null;
  /** nothing was printed for this long */
  quiet_ms?: number | null;
  /** the screen did not change for this long */
  stable_ms?: number | null;
  /** the command waits for input */
  input?: boolean | null;
  /** the terminal is idle */
  prompt?: boolean | null;
  /** where `pattern` begins to look */
  from?: "now" | "start" | null;
  /** the same, for a wait that is repeated */
  from_place?: WaitRequestFromPlace | null;
  /** report in a first part what "now" means */
  stream?: boolean | null;
  /** the result's output is what this reader has not seen */
  only_new?: boolean | null;
  /** after which it answers `timeout`; 0: never */
  timeout_ms?: number | null;
  /** preset of how much output is returned; `agent` is the configured one, and a digest unless one is configured */
  view?: "default" | "digest" | "head" | "tail" | "full" | "agent" | "void" | "roo" | "gemini" | null;
  /** lines of output at most, instead of the preset's */
  lines?: number | null;
  /** characters of output at most, instead of the preset's */
  chars?: number | null;
}

export interface WaitRequestFromPlace {
  /** the line's number */
  line: number;
  /** what it held, up to this place */
  text: string;
}

export interface WaitAnswer {
  /** the condition that was met first */
  condition: "exit" | "pattern" | "port" | "file" | "quiet" | "stable" | "input" | "prompt" | "closed" | "approval" | "timeout";
  /** of `pattern` */
  match?: WaitAnswerMatch | null;
  /** of `port` */
  port?: number | null;
  /** of `file` */
  file?: string | null;
  /** of the command it was about */
  result: Result | null;
  /** as it is now */
  terminal?: Terminal | null;
  /** of `approval` */
  approval?: Approval | null;
}

export interface WaitAnswerMatch {
  /** the line's number */
  line: number;
  /** the line */
  text: string;
  /** in `read`: how often the line is repeated */
  repeat?: number | null;
}

export interface ReadRequest {
  /** its id or name; this or `command` */
  terminal?: string | null;
  /** the command's id */
  command?: string | null;
  /** two line numbers: these lines */
  range?: number[] | null;
  /** with `range`: of each line these characters */
  columns?: number[] | null;
  /** the last lines */
  tail?: number | null;
  /** RE2; the lines that match */
  grep?: string | null;
  /** with `grep`: lines before and after */
  context?: number | null;
  /** with `grep`: matches at most */
  most?: number | null;
  /** what this reader has not seen */
  new?: boolean | null;
  /** bytes as they were printed */
  raw?: ReadRequestRaw | null;
  /** the reader whose unread output is returned */
  reader?: string | null;
  /** with colours, as escape sequences */
  ansi?: boolean | null;
  /** preset of how much output is returned; `agent` is the configured one, and a digest unless one is configured */
  view?: "default" | "digest" | "head" | "tail" | "full" | "agent" | "void" | "roo" | "gemini" | null;
  /** lines of output at most, instead of the preset's */
  lines?: number | null;
  /** characters of output at most, instead of the preset's */
  chars?: number | null;
}

export interface ReadRequestRaw {
  /** the first byte */
  offset: number;
  /** how many at most */
  bytes: number;
}

export interface ReadAnswer {
  /** what was asked for */
  text: string;
  /** of the text */
  first_line: number;
  /** of the text */
  last_line: number;
  /** of all the output */
  total_lines: number;
  /** of all the output */
  total_bytes: number;
  /** there is more after it */
  more: boolean;
  /** the output is not text */
  binary: boolean;
  /** what was cut out of the text */
  omitted: ReadAnswerOmitted | null;
  /** of `raw`: the bytes */
  base64: string | null;
  /** of `raw`: where to go on */
  next_offset: number | null;
  /** of which terminal */
  terminal_id: string;
  /** of which command */
  command_id: string | null;
  /** of the command, or of the terminal */
  state: string;
  /** of `grep` */
  matches: ReadAnswerMatches[];
  /** of `columns`: characters of the longest line */
  longest_line?: number | null;
}

export interface ReadAnswerOmitted {
  /** left out */
  bytes: number;
  /** left out */
  lines: number;
  /** the first line that is not whole in the output */
  first_line: number;
  /** the last */
  last_line: number;
}

export interface ReadAnswerMatches {
  /** the line's number */
  line: number;
  /** the line */
  text: string;
  /** in `read`: how often the line is repeated */
  repeat?: number | null;
}

export interface RecordingRequest {
  /** its id or name; this or `command` */
  terminal?: string | null;
  /** the command's id */
  command?: string | null;
  /** where to go on */
  offset?: number | null;
  /** how many at most */
  bytes?: number | null;
}

export interface RecordingAnswer {
  /** of which terminal */
  terminal_id: string;
  /** of which command */
  command_id: string | null;
  /** of the terminal */
  name: string | null;
  /** how its process was made */
  provider: string;
  /** nothing more will come */
  ended: boolean;
  /** when the terminal was made, in microseconds since the epoch: the zero of the marks' times */
  created_at_us: number;
  /** the first byte of what was asked for, in the terminal's output */
  begin: number;
  /** the byte after the last, as of now */
  end: number;
  /** where to go on */
  next_offset: number;
  /** there is more */
  more: boolean;
  /** the bytes that are there, in order */
  base64: string;
  /** in order; the first part begins with the time and size that hold there */
  marks: RecordingAnswerMarks[];
  /** of the first part: those that are known, in order */
  commands: RecordingAnswerCommands[];
}

export interface RecordingAnswerMarks {
  /** bytes arrived then; the terminal got another size; bytes are missing */
  kind: "time" | "resize" | "gap";
  /** the byte */
  offset: number;
  /** microseconds since the terminal was made */
  at_us: number;
  /** of `resize` */
  cols?: number | null;
  /** of `resize` */
  rows?: number | null;
  /** of `gap`: how many are missing */
  bytes?: number | null;
  /** of `gap`: line feeds among them */
  newlines?: number | null;
}

export interface RecordingAnswerCommands {
  /** its id */
  command_id: string;
  /** the command line; secrets are masked */
  command: string;
  /** the first byte of its output */
  offset: number;
  /** when it began */
  started_at: string;
  /** only if it was observed */
  exit_code: number | null;
}

export interface ResultRequest {
  /** its id */
  command: string;
  /** preset of how much output is returned; `agent` is the configured one, and a digest unless one is configured */
  view?: "default" | "digest" | "head" | "tail" | "full" | "agent" | "void" | "roo" | "gemini" | null;
  /** lines of output at most, instead of the preset's */
  lines?: number | null;
  /** characters of output at most, instead of the preset's */
  chars?: number | null;
}

export interface ScreenRequest {
  /** its id or name */
  terminal: string;
  /** how it is written */
  format?: "text" | "ansi" | "json" | "html" | "svg" | null;
  /** lines above the screen; text only */
  history?: number | null;
}

export interface ScreenAnswer {
  /** as asked */
  format: "text" | "ansi" | "json" | "html" | "svg";
  /** what is visible */
  content: string;
  /** columns */
  cols: number;
  /** rows */
  rows: number;
  /** where it is */
  cursor: ScreenAnswerCursor;
  /** a full-screen program has it */
  alternate: boolean;
  /** as a program set it */
  title: string | null;
  /** its id */
  terminal: string;
  /** as in a Terminal */
  state: string;
}

/** where it is */
export interface ScreenAnswerCursor {
  /** from 0 */
  row: number;
  /** from 0 */
  col: number;
  /** it is shown */
  visible: boolean;
}

export interface ListRequest {
  /** of this task */
  task?: string | null;
  /** of this owner */
  owner?: "agent" | "user" | "system" | null;
  /** include terminals that have ended */
  all?: boolean | null;
  /** without a task */
  background?: boolean | null;
}

export interface ListAnswer {
  /** oldest first */
  terminals: Terminal[];
}

export interface ShowRequest {
  /** its id or name */
  terminal: string;
  /** commands at most */
  most?: number | null;
}

export interface ShowAnswer {
  /** as it is now */
  terminal: Terminal;
  /** the last ones, without output */
  commands: Result[];
  /** that run in it */
  processes: ShowAnswerProcesses[];
  /** those listen on */
  ports: ShowAnswerPorts[];
  /** what its shell has changed */
  environment: Record<string, string>;
}

export interface ShowAnswerProcesses {
  /** the process */
  pid: number;
  /** its parent, in `show` */
  parent?: number | null;
  /** its command line */
  command: string;
}

export interface ShowAnswerPorts {
  /** a TCP port */
  port: number;
  /** the process that listens on it */
  pid: number;
}

export interface LendRequest {
  /** its id or name */
  terminal: string;
  /** only for reading */
  read_only?: boolean | null;
  /** a session */
  to?: string | null;
  /** take it back */
  back?: boolean | null;
}

export interface LendAnswer {
  /** as it is now */
  terminal: Terminal;
}

export interface PersonTokenRequest {
  /** make a new one; the old one is no longer valid */
  new?: boolean | null;
}

export interface PersonTokenAnswer {
  /** the file that holds it */
  file: string;
}

export interface ResumeRequest {
  /** its id or name */
  terminal: string;
  /** how much more; an agent gets at most `limits.journal` */
  bytes?: number | null;
}

export interface ResumeAnswer {
  /** false: it was not paused */
  resumed: boolean;
  /** as it is now */
  terminal: Terminal;
}

export interface RenameRequest {
  /** its id or name */
  terminal: string;
  /** the new name; empty: none */
  name?: string | null;
}

export interface RenameAnswer {
  /** as it is now */
  terminal: Terminal;
}

export interface AssignRequest {
  /** its id or name */
  terminal: string;
  /** the task; empty: none */
  task?: string | null;
}

export interface AssignAnswer {
  /** as it is now */
  terminal: Terminal;
}

export interface AssociateRequest {
  /** its id or name */
  terminal: string;
  /** the session; an agent's own */
  session: string;
  /** how close the association is */
  quality?: string | null;
}

export interface AssociateAnswer {
  /** as it is now */
  terminal: Terminal;
}

export interface SessionTerminalsRequest {
  /** the session */
  session: string;
}

export interface SessionTerminalsAnswer {
  /** oldest first */
  terminals: Terminal[];
}

export interface SessionCwdRequest {
  /** the session */
  session: string;
}

export interface SessionCwdAnswer {
  /** of its newest living terminal */
  cwd: string | null;
}

export interface PathAddRequest {
  /** who wants it */
  contributor: string;
  /** an absolute folder without a colon */
  path: string;
  /** what for */
  description?: string | null;
  /** before the others */
  prepend?: boolean | null;
}

export interface PathAddAnswer {
  /** for terminals opened from now on */
  paths: PathAddAnswerPaths[];
}

export interface PathAddAnswerPaths {
  /** who wants it */
  contributor: string;
  /** a folder for PATH */
  path: string;
  /** what for */
  description: string | null;
  /** before the others */
  prepend: boolean;
}

export interface PathRemoveRequest {
  /** whose */
  contributor: string;
}

export interface PathRemoveAnswer {
  /** for terminals opened from now on */
  paths: PathRemoveAnswerPaths[];
}

export interface PathRemoveAnswerPaths {
  /** who wants it */
  contributor: string;
  /** a folder for PATH */
  path: string;
  /** what for */
  description: string | null;
  /** before the others */
  prepend: boolean;
}

export interface PathListRequest {
}

export interface PathListAnswer {
  /** for terminals opened from now on */
  paths: PathListAnswerPaths[];
}

export interface PathListAnswerPaths {
  /** who wants it */
  contributor: string;
  /** a folder for PATH */
  path: string;
  /** what for */
  description: string | null;
  /** before the others */
  prepend: boolean;
}

export interface EnvironmentRequest {
  /** terminals of this task, and of none */
  task?: string | null;
  /** the reader whose unread output is returned */
  reader?: string | null;
  /** a file was just written */
  edited?: boolean | null;
  /** how long to wait for terminals that are still printing */
  cool_down_ms?: number | null;
  /** preset of how much output is returned; `agent` is the configured one, and a digest unless one is configured */
  view?: "default" | "digest" | "head" | "tail" | "full" | "agent" | "void" | "roo" | "gemini" | null;
  /** lines of output at most, instead of the preset's */
  lines?: number | null;
  /** characters of output at most, instead of the preset's */
  chars?: number | null;
}

export interface EnvironmentAnswer {
  /** a summary for a model */
  text: string;
  /** terminals in which something runs */
  active: EnvironmentAnswerActive[];
  /** the others */
  inactive: EnvironmentAnswerInactive[];
  /** where a person is, if the caller may read that terminal */
  person?: EnvironmentAnswerPerson | null;
  /** what a person marked, if the caller may read that terminal */
  selection?: EnvironmentAnswerSelection | null;
}

export interface EnvironmentAnswerActive {
  /** the terminal's id */
  id: string;
  /** its name */
  name: string | null;
  /** where it is */
  cwd: string | null;
  /** it is still printing */
  hot: boolean;
  /** what runs, with what is new */
  running: Result | null;
  /** what has ended, with what is new */
  finished: Result[];
}

export interface EnvironmentAnswerInactive {
  /** the terminal's id */
  id: string;
  /** its name */
  name: string | null;
  /** where it is */
  cwd: string | null;
  /** it is still printing */
  hot: boolean;
  /** what runs, with what is new */
  running: Result | null;
  /** what has ended, with what is new */
  finished: Result[];
}

export interface EnvironmentAnswerPerson {
  /** the one a person attached to last */
  terminal: string;
  /** somebody is attached to it now */
  attached: boolean;
  /** which kind of shell */
  shell: string | null;
  /** the last command line there */
  last_command: string | null;
}

export interface EnvironmentAnswerSelection {
  /** where it stands */
  terminal: string;
  /** what was marked; at most its last 16 000 characters */
  text: string;
  /** who marked it */
  by: string;
  /** when */
  at: string;
}

export interface AttachRequest {
  /** its id or name */
  terminal: string;
  /** only watch */
  read_only?: boolean | null;
  /** take the keyboard from another person */
  take?: boolean | null;
  /** after so long without `attach_input` the keyboard is given back, and the caller watches; 0: never */
  give_back_ms?: number | null;
  /** who takes the keyboard gives the terminal this size */
  size?: AttachRequestSize | null;
}

export interface AttachRequestSize {
  /** columns */
  cols: number;
  /** rows */
  rows: number;
}

export interface AttachAnswer {
  /** its number */
  subscription: number;
  /** all of it */
  screen: ScreenDelta;
  /** the caller has the keyboard */
  writable: boolean;
  /** as it is now */
  terminal: Terminal;
}

export interface AttachInputRequest {
  /** of the attachment */
  subscription?: number | null;
  /** the bytes */
  base64?: string | null;
  /** keys, such as "C-c Up", encoded as the terminal's modes want them; instead of `base64` */
  keys?: string | null;
}

export interface AttachInputAnswer {
}

export interface AttachResizeRequest {
  /** of the attachment */
  subscription?: number | null;
  /** columns */
  cols?: number | null;
  /** rows */
  rows?: number | null;
}

export interface AttachResizeAnswer {
}

export interface DetachRequest {
  /** of the attachment */
  subscription?: number | null;
}

export interface DetachAnswer {
}

export interface SelectRequest {
  /** its id or name; `@active`: the one a person attached to last */
  terminal?: string | null;
  /** two line numbers: these lines */
  range?: number[] | null;
  /** nothing is marked any more */
  clear?: boolean | null;
}

export interface SelectAnswer {
  /** what is marked now */
  selection: SelectAnswerSelection | null;
}

export interface SelectAnswerSelection {
  /** where it stands */
  terminal: string;
  /** what was marked; at most its last 16 000 characters */
  text: string;
  /** who marked it */
  by: string;
  /** when */
  at: string;
}

export interface SubscribeRequest {
  /** only events of this terminal */
  terminal?: string | null;
  /** names of events */
  kinds?: string[] | null;
  /** with `terminal`: output events carry the text */
  text?: boolean | null;
}

export interface SubscribeAnswer {
  /** its number */
  subscription: number;
  /** that live now */
  terminals: Terminal[];
}

export interface UnsubscribeRequest {
  /** its number */
  subscription?: number | null;
}

export interface UnsubscribeAnswer {
}

export interface CheckRequest {
  /** the command line */
  command: string;
  /** where it would run */
  cwd?: string | null;
  /** with this mode */
  mode?: "plan" | "default" | "auto-edit" | "auto" | "yolo" | null;
  /** whose rules count; only a person may name another's */
  session?: string | null;
}

export interface PermitRequest {
  /** a line for the shell; this or `argv` */
  command?: string | null;
  /** a program and its arguments, without a shell */
  argv?: string[] | null;
  /** where it would run */
  cwd?: string | null;
  /** the task it is for */
  task?: string | null;
  /** name the open question in a part */
  stream?: boolean | null;
}

export interface PermitAnswer {
  /** what was decided; `skip`: a person wants it left out */
  decision: "allow" | "deny" | "skip";
  /** why, in words */
  reason: string | null;
  /** the question that a person answered */
  approval: string | null;
  /** what policy said */
  verdict: Verdict | null;
}

export interface ToldRequest {
  /** as the agent tells it */
  command: string;
  /** where it ran */
  cwd?: string | null;
  /** the task it was for */
  task?: string | null;
  /** what it is for, in the caller's words; kept in the history, and no part of any decision */
  description?: string | null;
  /** as the agent tells it */
  exit_code?: number | null;
  /** what killed it */
  signal?: string | null;
  /** how long it ran */
  duration_ms?: number | null;
  /** of output that the agent showed */
  bytes?: number | null;
  /** the same */
  lines?: number | null;
}

export interface ToldAnswer {
  /** its id in the history */
  command_id: string;
}

export interface AgentRequest {
  /** what it calls itself */
  name: string;
  /** the same */
  version?: string | null;
  /** how its commands reach ttyward */
  shell?: "terminals" | "mcp" | "not_governed" | null;
  /** in words */
  note?: string | null;
}

export interface AgentAnswer {
}

export interface ApprovalsRequest {
  /** include closed questions */
  all?: boolean | null;
}

export interface ApprovalsAnswer {
  /** oldest first */
  approvals: Approval[];
}

export interface AnswerRequest {
  /** the question's id */
  approval: string;
  /** `skip`: do not run it, and continue */
  decision: "allow" | "deny" | "skip" | null;
  /** remember the answer for this long */
  always?: "no" | "session" | "global" | null;
  /** store the wider rules */
  wider?: boolean | null;
  /** store these instead: the text of a rule file that allows the command */
  rules?: string | null;
  /** the person's reason, for the agent */
  reason?: string | null;
}

export interface AnswerAnswer {
  /** as it is now */
  approval: Approval;
}

export interface WithdrawRequest {
  /** the question's id */
  approval: string;
}

export interface WithdrawAnswer {
  /** as it is now */
  approval: Approval;
}

export interface RulesRequest {
  /** whose; only a person may name another's */
  session?: string | null;
  /** the folder */
  cwd?: string | null;
}

export interface RulesAnswer {
  /** that hold */
  rules: RulesAnswerRules[];
  /** what is wrong with the files */
  errors: string[];
  /** changes that were made without ttyward */
  unconfirmed: RulesAnswerUnconfirmed[];
}

export interface RulesAnswerRules {
  /** its name */
  name: string;
  /** where it holds */
  level: "global" | "project" | "session";
  /** as a rule file has it */
  text: string;
  /** the file, or `session` */
  source: string;
}

export interface RulesAnswerUnconfirmed {
  /** what happened to it */
  change: "added" | "removed";
  /** its name */
  name: string;
  /** what it does, in words */
  words: string;
  /** as a rule file has it */
  text: string;
}

export interface RuleAddRequest {
  /** a rule file */
  text: string;
  /** the name of rules that are replaced */
  replaces?: string | null;
}

export interface RuleAddAnswer {
  /** names of the rules that are there now */
  added: string[];
}

export interface RuleRemoveRequest {
  /** the rules' name */
  name: string;
  /** of rules.toml, or of a session */
  scope?: "global" | "session" | null;
  /** whose */
  session?: string | null;
}

export interface RuleRemoveAnswer {
  /** how many there were */
  removed: number;
}

export interface RulesUnconfirmedRequest {
  /** the folder */
  cwd?: string | null;
}

export interface RulesUnconfirmedAnswer {
  /** changes of rules */
  rules: RulesUnconfirmedAnswerRules[];
  /** settings that were loosened */
  settings: RulesUnconfirmedAnswerSettings[];
  /** what is wrong with the record of confirmations; empty: nothing */
  problem: string;
  /** of exactly this, for `rules_confirm` */
  digest: string;
}

export interface RulesUnconfirmedAnswerRules {
  /** what happened to it */
  change: "added" | "removed";
  /** its name */
  name: string;
  /** what it does, in words */
  words: string;
  /** as a rule file has it */
  text: string;
}

export interface RulesUnconfirmedAnswerSettings {
  /** the setting */
  name: string;
  /** the value in effect */
  holds: string;
  /** the value that the file has */
  wanted: string;
  /** the file */
  where: string;
}

export interface RulesConfirmRequest {
  /** of what was shown */
  digest: string;
}

export interface RulesConfirmAnswer {
  /** the files are in effect as they are */
  confirmed: boolean;
}

export interface SettingsRequest {
}

export interface SettingsAnswer {
  /** all of the sections `policy` and `sandbox` */
  settings: SettingsAnswerSettings[];
  /** the person's config.toml */
  file: string;
  /** of that file as it is, for `settings_change` */
  digest: string;
  /** what is wrong with it */
  errors: string[];
}

export interface SettingsAnswerSettings {
  /** such as `policy.mode` */
  name: string;
  /** what it holds */
  kind: "flag" | "number" | "bytes" | "duration" | "choice" | "text" | "list";
  /** what holds for the daemon, as config.toml would have it */
  value: string;
  /** of a list: what is in it; of a choice: the word */
  words: string[];
  /** its default */
  usual: string;
  /** of a choice: what it can be */
  choices: string[];
  /** where its value comes from */
  source: "default" | "file" | "environment" | "project";
  /** FILE:LINE, or the name of a variable */
  where: string;
  /** what it does */
  about: string;
}

export interface SettingsChangeRequest {
  /** what to change */
  changes: SettingsChangeRequestChanges[];
  /** of the file that was shown: if it is another one now, nothing is changed */
  digest: string;
  /** only say what it would look like */
  preview?: boolean | null;
}

export interface SettingsChangeRequestChanges {
  /** such as `sandbox.profile` */
  name: string;
  /** as config.toml would have it; without it and `words`: the default */
  value?: string | null;
  /** of a list: what is in it; of a choice: one word */
  words?: string[] | null;
}

export interface SettingsChangeAnswer {
  /** config.toml as it was */
  before: string;
  /** with the changes */
  after: string;
  /** of the file as it is now */
  digest: string;
  /** false: it was only a preview */
  saved: boolean;
}

export interface ModeRequest {
  /** whose; only a person may name another's */
  session?: string | null;
  /** the mode from now on */
  set?: "plan" | "default" | "auto-edit" | "auto" | "yolo" | null;
}

export interface ModeAnswer {
  /** of the session */
  mode: "plan" | "default" | "auto-edit" | "auto" | "yolo";
}

export interface HistoryRequest {
  /** somewhere in the command */
  text?: string | null;
  /** only those that failed */
  failed?: boolean | null;
  /** in this folder or below */
  cwd?: string | null;
  /** in this terminal */
  terminal?: string | null;
  /** of this task */
  task?: string | null;
  /** at this moment or later */
  since_at?: string | null;
  /** before this moment */
  until_at?: string | null;
  /** rows at most */
  limit?: number | null;
  /** the next page: older than the row of this id */
  before?: string | null;
}

export interface HistoryAnswer {
  /** newest first */
  commands: HistoryRow[];
}

export interface DecisionsRequest {
  /** somewhere in the command */
  text?: string | null;
  /** only those that were denied */
  failed?: boolean | null;
  /** in this folder or below */
  cwd?: string | null;
  /** in this terminal */
  terminal?: string | null;
  /** accepted and ignored */
  task?: string | null;
  /** at this moment or later */
  since_at?: string | null;
  /** before this moment */
  until_at?: string | null;
  /** rows at most */
  limit?: number | null;
  /** the next page: older than the row of this id */
  before?: string | null;
}

export interface DecisionsAnswer {
  /** newest first */
  decisions: DecisionRow[];
}

export interface ChangeSetsRequest {
}

export interface ChangeSetsAnswer {
  /** newest first */
  sets: ChangeSetsAnswerSets[];
}

export interface ChangeSetsAnswerSets {
  /** the command whose changes these are */
  command_id: string;
  /** the command line */
  command: string;
  /** the folder that was changed */
  workspace: string;
  /** how far it is */
  state: "running" | "finished" | "applying" | "applied" | "undone";
  /** applied by itself and kept for `undo` (`sandbox.keep_changes`) */
  kept?: boolean;
  /** when the command began */
  created_at: string | null;
  /** when it was applied last */
  applied_at: string | null;
  /** on disk */
  bytes: number;
}

export interface ChangesRequest {
  /** the command's id */
  command: string;
  /** only these files and folders */
  paths?: string[] | null;
  /** show the lines, too */
  diff?: boolean | null;
  /** how many changes to list */
  limit?: number | null;
}

export interface ChangesAnswer {
  /** the change set */
  changes: Changes;
  /** with `diff`: a patch in the format of git */
  diff?: string;
  /** the patch was longer than 1 MiB: ask for paths one by one */
  diff_cut?: boolean;
}

export interface ApplyRequest {
  /** the command's id */
  command: string;
  /** only these files and folders */
  paths?: string[] | null;
  /** replace what changed in the workspace meanwhile */
  force?: boolean | null;
}

export interface ApplyAnswer {
  /** the paths that were changed in the workspace */
  applied: string[];
  /** where the workspace changed meanwhile. If there are any, nothing was changed */
  conflicts: ApplyAnswerConflicts[];
  /** what cannot be applied */
  left_out: ApplyAnswerLeftOut[];
  /** the command whose changes these are */
  command_id: string;
}

export interface ApplyAnswerConflicts {
  /** below the workspace */
  path: string;
  /** in words */
  reason: string;
}

export interface ApplyAnswerLeftOut {
  /** below the workspace */
  path: string;
  /** in words */
  reason: string;
}

export interface UndoRequest {
  /** a folder of the workspace; this or `command` */
  cwd?: string | null;
  /** the command's id */
  command?: string | null;
  /** also where something changed since */
  force?: boolean | null;
}

export interface UndoAnswer {
  /** the paths that were changed in the workspace */
  applied: string[];
  /** where the workspace changed meanwhile. If there are any, nothing was changed */
  conflicts: UndoAnswerConflicts[];
  /** what cannot be applied */
  left_out: UndoAnswerLeftOut[];
  /** the command whose changes these are */
  command_id: string;
}

export interface UndoAnswerConflicts {
  /** below the workspace */
  path: string;
  /** in words */
  reason: string;
}

export interface UndoAnswerLeftOut {
  /** below the workspace */
  path: string;
  /** in words */
  reason: string;
}

export interface DiscardRequest {
  /** the command's id */
  command: string;
}

export interface DiscardAnswer {
  /** it is gone */
  discarded: boolean;
}

export interface StatusRequest {
}

export interface StatusAnswer {
  /** the daemon's process */
  pid: number;
  /** of the program */
  version: string;
  /** when it was started */
  started_at: string;
  /** that are open */
  connections: number;
  /** resident memory */
  memory_kib: number;
  /** what a person should know */
  warnings: string[];
  /** that live */
  terminals?: number | null;
  /** that run, in terminals or on their own */
  commands?: number | null;
  /** open questions */
  approvals?: number | null;
  /** output on disk */
  journals?: StatusAnswerJournals | null;
  /** what was found when the daemon started */
  recovered?: StatusAnswerRecovered | null;
  /** the configuration */
  config?: StatusAnswerConfig | null;
  /** agents that speak the Agent Client Protocol */
  agents?: StatusAnswerAgents[];
}

export interface StatusAnswerJournals {
  /** kept */
  bytes: number;
  /** kept at most */
  quota: number;
}

export interface StatusAnswerRecovered {
  /** that were alive when the daemon started */
  terminals: number;
  /** that ended while no daemon was running */
  ended: number;
  /** how long it took to find them */
  ms: number;
}

export interface StatusAnswerConfig {
  /** the file */
  path: string;
  /** what is wrong with it */
  errors: string[];
}

export interface StatusAnswerAgents {
  /** what it calls itself */
  name: string;
  /** the same */
  version: string | null;
  /**
   * how its commands reach ttyward; `not_governed`: it also has a shell of its own that ttyward neither sees nor
   * judges
   */
  shell: "terminals" | "mcp" | "not_governed";
  /** in words */
  note: string | null;
  /** whose commands are its own */
  session: string | null;
}

export interface MetricsRequest {
}

export interface MetricsAnswer {
  /** what an HTTP server says of the text */
  content_type: string;
  /** in Prometheus's exposition format */
  text: string;
}

export interface ReloadRequest {
}

export interface ReloadAnswer {
  /** what is wrong with the files */
  errors: string[];
}

export interface StopRequest {
  /** end them, too */
  kill_terminals?: boolean | null;
}

export interface StopAnswer {
}

/** A terminal was opened. */
export interface TerminalOpenedEvent {
  event: "terminal_opened";
  subscription: number;
  /** as it is now */
  terminal: Terminal;
}

/** Its name, task, cwd, integration, lease or title changed, or it became ready. */
export interface TerminalChangedEvent {
  event: "terminal_changed";
  subscription: number;
  /** as it is now */
  terminal: Terminal;
}

/** A person lent it to agents. */
export interface TerminalLentEvent {
  event: "terminal_lent";
  subscription: number;
  /** as it is now */
  terminal: Terminal;
}

/** A person took it back. */
export interface TerminalTakenBackEvent {
  event: "terminal_taken_back";
  subscription: number;
  /** as it is now */
  terminal: Terminal;
}

/** It has ended. */
export interface TerminalClosedEvent {
  event: "terminal_closed";
  subscription: number;
  /** the terminal's id */
  id: string;
  /** of the shell */
  exit_code: number | null;
  /** what killed it */
  signal: string | null;
}

/** A command began. */
export interface CommandStartedEvent {
  event: "command_started";
  subscription: number;
  /** without output */
  result: Result;
}

/** It waits for input, or no longer does. */
export interface CommandStateEvent {
  event: "command_state";
  subscription: number;
  /** the command's id */
  command_id: string | null;
  /** as in a Result */
  state: string;
  /** what it waits for */
  waiting: CommandStateEventWaiting | null;
}

export interface CommandStateEventWaiting {
  /** what the program reads */
  kind: "line" | "password" | "key" | "pager" | "editor" | "fullscreen";
  /** the line the cursor is on */
  prompt: string;
  /** the program that reads */
  program: string;
  /** its process */
  pid: number;
  /** how it is known */
  evidence: string;
}

/** A command ended. */
export interface CommandFinishedEvent {
  event: "command_finished";
  subscription: number;
  /** without output */
  result: Result;
}

/**
 * Something was printed; at most every 100 ms. With `text` in the subscription it carries the lines that have
 * ended since the last such event, at most 16 000 characters.
 */
export interface OutputEvent {
  event: "output";
  subscription: number;
  /** the terminal's id */
  id: string;
  /** how many there are */
  lines: number;
  /** the number of the first line in `text` */
  first_line?: number | null;
  /** the lines */
  text?: string | null;
}

/** The shell reports better or worse than before. */
export interface IntegrationChangedEvent {
  event: "integration_changed";
  subscription: number;
  /** the terminal's id */
  id: string;
  /** as it was */
  from: "rich" | "basic" | "none";
  /** as it is */
  to: "rich" | "basic" | "none";
  /** why */
  reason: string;
}

/** A person is asked. */
export interface ApprovalOpenedEvent {
  event: "approval_opened";
  subscription: number;
  /** the question */
  approval: Approval;
}

/** A question was closed. */
export interface ApprovalClosedEvent {
  event: "approval_closed";
  subscription: number;
  /** how it ended */
  approval: Approval;
}

/** A change that loosens policy was not confirmed. */
export interface NoticeEvent {
  event: "notice";
  subscription: number;
  /** what */
  text: string;
}

/** Events were dropped, because the client did not read. */
export interface LaggedEvent {
  event: "lagged";
  subscription: number;
  /** how many */
  count: number;
}

/** What changed on the screen. A slow reader gets fewer and later ones. */
export interface AttachScreenEvent {
  event: "attach_screen";
  subscription: number;
  /** since the last one */
  screen: ScreenDelta;
}

/** The watcher lost the keyboard: somebody took it, or it was idle for `give_back_ms`. */
export interface AttachKeyboardEvent {
  event: "attach_keyboard";
  subscription: number;
  /** the watcher has the keyboard */
  writable: boolean;
  /** why it changed */
  reason: "taken" | "idle";
}

/** The attachment has ended. */
export interface AttachClosedEvent {
  event: "attach_closed";
  subscription: number;
  /** why */
  reason: string;
}

export type Event =
  | TerminalOpenedEvent
  | TerminalChangedEvent
  | TerminalLentEvent
  | TerminalTakenBackEvent
  | TerminalClosedEvent
  | CommandStartedEvent
  | CommandStateEvent
  | CommandFinishedEvent
  | OutputEvent
  | IntegrationChangedEvent
  | ApprovalOpenedEvent
  | ApprovalClosedEvent
  | NoticeEvent
  | LaggedEvent
  | AttachScreenEvent
  | AttachKeyboardEvent
  | AttachClosedEvent;

/** Every call of the daemon. */
export interface Calls {
  /** Runs one command in its own terminal, which is removed when the command ends. */
  run(args?: RunRequest, options?: CallOptions): Promise<Result>;
  /** As `run`; gives what it prints while it runs. */
  runStream(args: Omit<RunRequest, "stream">, options?: CallOptions): Stream<Result>;
  /**
   * Runs several commands, in one shell or each on its own. After `yield_after_ms` the running commands keep
   * running, and the rest is not run.
   */
  batch(args: BatchRequest, options?: CallOptions): Promise<BatchAnswer>;
  /** Opens a terminal. Answers once its shell is ready, or integration has timed out. */
  open(args?: OpenRequest, options?: CallOptions): Promise<OpenAnswer>;
  /**
   * An idle terminal of the same provider, task and live cwd, else an idle one of the same provider and live
   * cwd, else a new one. A terminal whose cwd is unknown never matches. It is bound to the task, and no other
   * task gets it before a command was sent to it, it was released, or 30 s have passed. Where no more may be
   * opened (`pool.limit`, `limits.terminals`) the call waits for one that fits to be free, or for room.
   */
  acquire(args?: AcquireRequest, options?: CallOptions): Promise<AcquireAnswer>;
  /** Removes the task from its terminals; they stay open as background terminals. */
  release(args: ReleaseRequest, options?: CallOptions): Promise<ReleaseAnswer>;
  /** Runs a command in a terminal. */
  exec(args: ExecRequest, options?: CallOptions): Promise<Result>;
  /** As `exec`; gives what it prints while it runs. */
  execStream(args: Omit<ExecRequest, "stream">, options?: CallOptions): Stream<Result>;
  /** Types into a terminal: exactly one kind of input. */
  input(args: InputRequest, options?: CallOptions): Promise<InputAnswer>;
  /** Interrupts the running command, as Ctrl-C does. */
  interrupt(args?: InterruptRequest, options?: CallOptions): Promise<InterruptAnswer>;
  /** Sends a signal. */
  signal(args: SignalRequest, options?: CallOptions): Promise<SignalAnswer>;
  /** Ends a terminal or a command. When a command in a shell is ended, the shell stays. */
  kill(args?: KillRequest, options?: CallOptions): Promise<KillAnswer>;
  /** Sets the size of a terminal. */
  resize(args: ResizeRequest, options?: CallOptions): Promise<ResizeAnswer>;
  /** Waits for the first of several conditions of a terminal, a command or a question. */
  wait(args?: WaitRequest, options?: CallOptions): Promise<WaitAnswer>;
  /**
   * Any part of the output: one of `range`, `tail`, `grep`, `new` and `raw`; without any, all of it, cut to
   * size.
   */
  read(args?: ReadRequest, options?: CallOptions): Promise<ReadAnswer>;
  /** A part of what a terminal or a command printed, with the times, sizes and gaps a recording is made of. */
  recording(args?: RecordingRequest, options?: CallOptions): Promise<RecordingAnswer>;
  /** A command's result as it is now. */
  result(args: ResultRequest, options?: CallOptions): Promise<Result>;
  /** What the screen shows now. */
  screen(args: ScreenRequest, options?: CallOptions): Promise<ScreenAnswer>;
  /** Terminals that the caller may see. */
  list(args?: ListRequest, options?: CallOptions): Promise<ListAnswer>;
  /** A terminal with its commands, processes and ports. */
  show(args: ShowRequest, options?: CallOptions): Promise<ShowAnswer>;
  /** Lends a person's terminal to agents, for use or only for reading, until it is taken back. */
  lend(args: LendRequest, options?: CallOptions): Promise<LendAnswer>;
  /** The token for `hello.token`. */
  person_token(args?: PersonTokenRequest, options?: CallOptions): Promise<PersonTokenAnswer>;
  /**
   * Resumes a terminal that is paused because its journal is at its quota (`overflow = "pause"`), with more
   * space.
   */
  resume(args: ResumeRequest, options?: CallOptions): Promise<ResumeAnswer>;
  /** Names a terminal. A name that another living one has is refused. */
  rename(args: RenameRequest, options?: CallOptions): Promise<RenameAnswer>;
  /** Binds a terminal to a task. */
  assign(args: AssignRequest, options?: CallOptions): Promise<AssignAnswer>;
  /** Associates a terminal with a session. */
  associate(args: AssociateRequest, options?: CallOptions): Promise<AssociateAnswer>;
  /** The terminals of a session. */
  session_terminals(args: SessionTerminalsRequest, options?: CallOptions): Promise<SessionTerminalsAnswer>;
  /** Where a session works. */
  session_cwd(args: SessionCwdRequest, options?: CallOptions): Promise<SessionCwdAnswer>;
  /** Adds a folder to the PATH of terminals opened from now on. */
  path_add(args: PathAddRequest, options?: CallOptions): Promise<PathAddAnswer>;
  /** Removes what a contributor added. */
  path_remove(args: PathRemoveRequest, options?: CallOptions): Promise<PathRemoveAnswer>;
  /** The folders that were added. */
  path_list(args?: PathListRequest, options?: CallOptions): Promise<PathListAnswer>;
  /** What is running where, and what is new since this reader last asked. */
  environment(args?: EnvironmentRequest, options?: CallOptions): Promise<EnvironmentAnswer>;
  /**
   * Watches a terminal's screen and, for a person, takes the keyboard. Events `attach_screen`, `attach_keyboard`
   * and `attach_closed` follow.
   */
  attach(args: AttachRequest, options?: CallOptions): Promise<AttachAnswer>;
  /** Sends what a person types. */
  attach_input(args?: AttachInputRequest, options?: CallOptions): Promise<AttachInputAnswer>;
  /** The screen of whoever has the keyboard has another size, and so has the terminal; of others nothing happens. */
  attach_resize(args?: AttachResizeRequest, options?: CallOptions): Promise<AttachResizeAnswer>;
  /** Ends an attachment. */
  detach(args?: DetachRequest, options?: CallOptions): Promise<DetachAnswer>;
  /**
   * Marks text of a terminal for agents that may read it: `environment` tells them. One thing is marked at a
   * time, and not beyond the daemon's life.
   */
  select(args?: SelectRequest, options?: CallOptions): Promise<SelectAnswer>;
  /** Subscribes to events. */
  subscribe(args?: SubscribeRequest, options?: CallOptions): Promise<SubscribeAnswer>;
  /** Ends a subscription. */
  unsubscribe(args?: UnsubscribeRequest, options?: CallOptions): Promise<UnsubscribeAnswer>;
  /** What policy would say if an agent asked. Runs nothing. */
  check(args: CheckRequest, options?: CallOptions): Promise<Verdict>;
  /**
   * Whether an agent may run a command with its own tools, outside ttyward. Policy decides; where it asks, a
   * person is asked, and the call answers when the question is closed. Runs nothing.
   */
  permit(args?: PermitRequest, options?: CallOptions): Promise<PermitAnswer>;
  /**
   * Adds a command to the history that an agent ran with its own tools. ttyward observed nothing of it:
   * `known_by` is `told`.
   */
  told(args: ToldRequest, options?: CallOptions): Promise<ToldAnswer>;
  /** Says which agent this connection serves. `status` lists it until the connection ends. */
  agent(args: AgentRequest, options?: CallOptions): Promise<AgentAnswer>;
  /** Lists questions to people. */
  approvals(args?: ApprovalsRequest, options?: CallOptions): Promise<ApprovalsAnswer>;
  /**
   * A person answers a question; never the connection that asked. The role `dialogue` may answer those of its
   * own session.
   */
  answer(args: AnswerRequest, options?: CallOptions): Promise<AnswerAnswer>;
  /** Withdraws a question. Only the client that asked may do so. */
  withdraw(args: WithdrawRequest, options?: CallOptions): Promise<WithdrawAnswer>;
  /** The rules that hold in a folder for a session. */
  rules(args?: RulesRequest, options?: CallOptions): Promise<RulesAnswer>;
  /** Adds rules to rules.toml; they count as confirmed. */
  rule_add(args: RuleAddRequest, options?: CallOptions): Promise<RuleAddAnswer>;
  /** Removes rules of that name. */
  rule_remove(args: RuleRemoveRequest, options?: CallOptions): Promise<RuleRemoveAnswer>;
  /** Changes that loosen policy and were made without ttyward. */
  rules_unconfirmed(args?: RulesUnconfirmedRequest, options?: CallOptions): Promise<RulesUnconfirmedAnswer>;
  /** Confirms the files as they were shown. */
  rules_confirm(args: RulesConfirmRequest, options?: CallOptions): Promise<RulesConfirmAnswer>;
  /** What agents may do: the settings of the sections `policy` and `sandbox`. */
  settings(args?: SettingsRequest, options?: CallOptions): Promise<SettingsAnswer>;
  /**
   * Changes settings of the sections `policy` and `sandbox` in config.toml, and nothing else in it. They count
   * as confirmed and hold from the next command on.
   */
  settings_change(args: SettingsChangeRequest, options?: CallOptions): Promise<SettingsChangeAnswer>;
  /** The mode of a session; only a person sets it. */
  mode(args?: ModeRequest, options?: CallOptions): Promise<ModeAnswer>;
  /** What was run. An agent sees what agents ran. */
  history(args?: HistoryRequest, options?: CallOptions): Promise<HistoryAnswer>;
  /** Decisions about commands and actions. */
  decisions(args?: DecisionsRequest, options?: CallOptions): Promise<DecisionsAnswer>;
  /** Lists the change sets that are kept. */
  change_sets(args?: ChangeSetsRequest, options?: CallOptions): Promise<ChangeSetsAnswer>;
  /** What a command changed that ran with `try`. */
  changes(args: ChangesRequest, options?: CallOptions): Promise<ChangesAnswer>;
  /** Puts the changes of a command that ran with `try` into the workspace. */
  apply(args: ApplyRequest, options?: CallOptions): Promise<ApplyAnswer>;
  /** Takes the changes back that were applied last, or those of one command. */
  undo(args?: UndoRequest, options?: CallOptions): Promise<UndoAnswer>;
  /** Removes a change set. What was applied stays in the workspace and cannot be undone any more. */
  discard(args: DiscardRequest, options?: CallOptions): Promise<DiscardAnswer>;
  /** The state of the daemon. */
  status(args?: StatusRequest, options?: CallOptions): Promise<StatusAnswer>;
  /**
   * Counts since the daemon started: commands by outcome, their durations and output, questions to people. See
   * docs/observability.md.
   */
  metrics(args?: MetricsRequest, options?: CallOptions): Promise<MetricsAnswer>;
  /** Reads config.toml and rules.toml again. */
  reload(args?: ReloadRequest, options?: CallOptions): Promise<ReloadAnswer>;
  /** Stops the daemon. Terminals stay alive unless `kill_terminals` is set. */
  stop(args?: StopRequest, options?: CallOptions): Promise<StopAnswer>;
}

export interface CallOptions {
  /** Ends the call; what it started keeps running unless `on_cancel` says otherwise. */
  signal?: AbortSignal;
}

/** What a command prints, part by part; `result` settles with its end. */
export interface Stream<T> extends AsyncIterable<Part> {
  readonly result: Promise<T>;
}
