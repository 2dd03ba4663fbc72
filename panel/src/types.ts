// The objects of the daemon's socket that the page uses: docs/protocol/socket.md has all of their members.

export type Risk = "low" | "medium" | "high" | "critical";

export interface Effect { kind: string; target: string | null }
export interface Reason { text: string; begin: number; end: number; risk: Risk; decision: string }
export interface Verdict {
  decision: "allow" | "allow_confined" | "ask" | "deny";
  risk: Risk;
  effects: Effect[];
  reasons: Reason[];
  rule: string;
  commands: string[];
}

export interface Approval {
  id: string;
  command: string;
  shown: string;
  cwd: string;
  environment: string[];
  terminal_id: string | null;
  task: string | null;
  session: string | null;
  asked_by: string | null;
  verdict: Verdict | null;
  created_at: string;
  expires_at: string | null;
  state: "open" | "allowed" | "denied" | "skipped" | "expired" | "withdrawn";
  answered_by: string | null;
  answered_at: string | null;
  reason: string | null;
  always: string[];
  always_words: string[];
  always_scope: "global" | "session" | null;
}

export interface Waiting { kind: string; prompt: string | null; program: string | null }

export interface Result {
  command_id: string | null;
  terminal_id: string | null;
  command: string;
  cwd: string | null;
  state: string;
  exit_code: number | null;
  signal: string | null;
  known_by: string | null;
  reason: string | null;
  waiting: Waiting | null;
  total_lines: number;
  total_bytes: number;
  started_at: string | null;
  duration_ms: number;
  ports: { port: number; pid: number }[];
  verdict: Verdict | null;
  sandbox?: { profile: string; denied?: unknown[] };
  facts?: Facts;
  changes?: Changes;
}

export interface Facts {
  diagnostics?: { file: string; line: number | null; column: number | null; severity: string; code: string | null; message: string; at: number | null }[];
  tests?: { name: string; outcome: string; message: string | null; at: number | null }[];
}

export interface Changes {
  state: "running" | "finished" | "applying" | "applied" | "undone";
  workspace: string;
  added: number;
  changed: number;
  deleted: number;
  lines_added: number;
  lines_removed: number;
  list: { path: string; kind: "added" | "changed" | "deleted"; type: string; lines_added?: number; lines_removed?: number; binary?: boolean; note?: string }[];
  more: number;
  problem?: string;
}

export interface Terminal {
  id: string;
  name: string | null;
  owner: "agent" | "user" | "system";
  task: string | null;
  integration: string;
  shell: string | null;
  argv: string[];
  cwd: string | null;
  state: "starting" | "idle" | "busy" | "awaiting_input" | "finished" | "lost";
  running: boolean;
  pid: number | null;
  cols: number;
  rows: number;
  title: string | null;
  alternate: boolean;
  progress: { state: string; percent: number | null } | null;
  command: Result | null;
  last_command: string | null;
  created_at: string;
  last_output_at: string | null;
  lease: { by: string; since: string } | null;
  queued?: { command_id: string; command: string; by: string };
  session: string | null;
  sandbox?: string | null;
  exit_code: number | null;
  signal: string | null;
  journal: { bytes: number; dropped: number; paused: boolean };
}

export interface HistoryRow {
  command_id: string;
  terminal_id: string | null;
  terminal_name: string | null;
  task: string | null;
  owner: string;
  command: string;
  cwd: string | null;
  state: string;
  exit_code: number | null;
  signal: string | null;
  known_by: string | null;
  started_at: string;
  duration_ms: number | null;
  total_bytes: number;
  total_lines: number;
  reason: string | null;
}

export interface DecisionRow {
  id: string;
  at: string;
  command_id: string | null;
  terminal_id: string | null;
  action: string;
  asked_by: string;
  command: string;
  cwd: string | null;
  decision: "allow" | "ask_allow" | "deny" | "skip" | "expired" | "withdrawn";
  decided_by: string | null;
  risk: Risk | null;
  effects: string | null;
  reason: string | null;
  answered_by: string | null;
  answered_at: string | null;
}

export interface ScreenRun {
  text: string;
  cols: number;
  fg?: string;
  bg?: string;
  underline?: string;
  underline_colour?: string;
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  blink?: boolean;
  inverse?: boolean;
  hidden?: boolean;
  strike?: boolean;
  overline?: boolean;
}

export interface ScreenDelta {
  reset: boolean;
  cols: number;
  rows: number;
  first_row: number;
  lines: { row: number; runs: ScreenRun[] }[];
  cursor: { row: number; col: number; visible: boolean; shape: string | number; blinks: boolean };
  alternate: boolean;
  modes: number[];
}

export interface ReadAnswer {
  text: string;
  first_line: number;
  last_line: number;
  total_lines: number;
  total_bytes: number;
  more: boolean;
  binary: boolean;
  base64: string | null;
  next_offset: number | null;
  matches: { line: number; text: string }[];
}

export interface Rule { name: string; level: string; text: string; source: string }

export interface Status {
  pid: number;
  version: string;
  started_at: string;
  memory_kib: number;
  warnings: string[];
  terminals?: number;
  commands?: number;
  journals?: { bytes: number; quota: number };
}

export interface Welcome {
  version: string;
  daemon: string;
  role: string;
  why: string;
  client: string;
  asked: string;
  notices: string[];
  home?: string;
}
