"""The calls, answers and events of the daemon's socket. Made by tools/make_sdks.py from docs/protocol/socket.schema.json: change that, not this."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, TypedDict, Union, Literal

# When a call may be sent again: always, or with this argument.
REPEAT = {
    "run": "command_id",
    "batch": "batch_id",
    "open": "request",
    "exec": "command_id",
    "resize": "always",
    "wait": "wait",
    "read": "read",
    "recording": "always",
    "result": "always",
    "screen": "always",
    "list": "always",
    "show": "always",
    "resume": "always",
    "rename": "always",
    "assign": "always",
    "associate": "always",
    "session_terminals": "always",
    "session_cwd": "always",
    "path_list": "always",
    "check": "always",
    "agent": "always",
    "approvals": "always",
    "rules": "always",
    "settings": "always",
    "mode": "always",
    "history": "always",
    "decisions": "always",
    "change_sets": "always",
    "changes": "always",
    "status": "always",
    "metrics": "always",
    "reload": "always",
}
# What the client puts into such an argument: random characters behind a letter.
AIDS = {'run': ('command_id', 'c'), 'exec': ('command_id', 'c'), 'batch': ('batch_id', 'b'), 'open': ('request', 'r')}
EVENTS = ['approval_closed', 'approval_opened', 'attach_closed', 'attach_keyboard', 'attach_screen', 'command_finished', 'command_started', 'command_state', 'integration_changed', 'lagged', 'notice', 'output', 'terminal_changed', 'terminal_closed', 'terminal_lent', 'terminal_opened', 'terminal_taken_back']


class _Result(TypedDict):
    command_id: Optional[str]
    terminal_id: Optional[str]
    command: str
    cwd: Optional[str]
    cwd_after: Optional[str]
    state: Literal["pending_approval", "queued", "running", "awaiting_input", "exited", "signaled", "timed_out", "interrupted", "denied", "skipped", "failed_to_start", "lost"]
    exit_code: Optional[int]
    signal: Optional[str]
    core_dumped: Optional[bool]
    known_by: Optional[Literal["wait", "shell_mark", "prompt_mark", "sentinel"]]
    pipeline: Optional[List[int]]
    reason: Optional[str]
    waiting: Optional[ResultWaiting]
    output: str
    omitted: Optional[ResultOmitted]
    total_bytes: int
    total_lines: int
    lost_bytes: int
    binary: bool
    encoding: Optional[str]
    started_at: Optional[str]
    duration_ms: int
    cpu_ms: Optional[int]
    max_rss_kib: Optional[int]
    background: List[ResultBackground]
    ports: List[ResultPorts]
    provider: Optional[Literal["pty", "pipe"]]
    fallback_reason: Optional[str]
    integration: Optional[Literal["rich", "basic", "none"]]
    verdict: Optional[Verdict]
    approval: Optional[str]


class Result(_Result, total=False):
    """The result of a command. `exit_code` is present only if it was observed, and `known_by` says how."""
    description: str
    no_newline: bool
    time_left_ms: Optional[int]
    idle_left_ms: Optional[int]
    pid: Optional[int]
    process_group: Optional[int]
    ended_background: List[ResultEndedBackground]
    place: str
    sandbox: Optional[ResultSandbox]
    typed_meanwhile: List[str]
    dialogue: Optional[ResultDialogue]
    new_lines: Optional[int]
    usual: Optional[ResultUsual]
    facts: Optional[Facts]
    suggestions: List[str]
    changes: Optional[Changes]


class ResultWaiting(TypedDict):
    kind: Literal["line", "password", "key", "pager", "editor", "fullscreen"]
    prompt: str
    program: str
    pid: int
    evidence: str


class ResultOmitted(TypedDict):
    bytes: int
    lines: int
    first_line: int
    last_line: int


class _ResultBackground(TypedDict):
    pid: int
    command: str


class ResultBackground(_ResultBackground, total=False):
    parent: Optional[int]


class _ResultEndedBackground(TypedDict):
    pid: int
    command: str


class ResultEndedBackground(_ResultEndedBackground, total=False):
    parent: Optional[int]


class ResultPorts(TypedDict):
    port: int
    pid: int


class _ResultSandbox(TypedDict):
    profile: str
    workspace: str
    layers: List[str]


class ResultSandbox(_ResultSandbox, total=False):
    denied: List[str]
    notes: List[str]


class ResultDialogue(TypedDict):
    end: str
    reason: Optional[str]
    used: List[ResultDialogueUsed]
    used_count: int


class ResultDialogueUsed(TypedDict):
    reply: int
    line: int
    asked: str


class ResultUsual(TypedDict):
    duration_ms: int
    lines: int
    runs: int


class Facts(TypedDict, total=False):
    """What a digest found in the output, as data: diagnostics of compilers and linters, tests that did not
    pass, files of listings and of git status and diff, commits of git log."""
    diagnostics: List[FactsDiagnostics]
    tests: List[FactsTests]
    files: List[FactsFiles]
    commits: List[FactsCommits]


class _FactsDiagnostics(TypedDict):
    line: int
    column: int
    severity: str
    message: str
    at: int


class FactsDiagnostics(_FactsDiagnostics, total=False):
    file: str
    code: str


class _FactsTests(TypedDict):
    name: str
    outcome: Literal["failed", "error", "timeout"]
    at: int


class FactsTests(_FactsTests, total=False):
    message: str


class _FactsFiles(TypedDict):
    name: str
    size: int
    added: int
    removed: int


class FactsFiles(_FactsFiles, total=False):
    state: str


class _FactsCommits(TypedDict):
    hash: str
    subject: str


class FactsCommits(_FactsCommits, total=False):
    author: str
    date: str


class _Terminal(TypedDict):
    id: str
    name: Optional[str]
    owner: Literal["agent", "user", "system"]
    task: Optional[str]
    sessions: List[TerminalSessions]
    provider: Literal["pty", "pipe"]
    fallback_reason: Optional[str]
    integration: Literal["rich", "basic", "none"]
    sandbox: Optional[str]
    shell: Optional[str]
    argv: List[str]
    cwd: Optional[str]
    cwd_known_by: Literal["shell", "kernel", "text", "start"]
    state: Literal["starting", "idle", "busy", "awaiting_input", "finished", "lost"]
    busy: bool
    running: bool
    temporary: bool
    pid: Optional[int]
    holder_pid: Optional[int]
    cols: int
    rows: int
    title: Optional[str]
    alternate: bool
    progress: Optional[TerminalProgress]
    command: Optional[Result]
    last_command: Optional[str]
    commands: int
    created_at: str
    last_output_at: Optional[str]
    hot: bool
    lease: Optional[TerminalLease]
    session: Optional[str]
    lent: Optional[TerminalLent]
    exit_code: Optional[int]
    signal: Optional[str]
    journal: TerminalJournal
    typed_meanwhile: List[str]


class Terminal(_Terminal, total=False):
    """A terminal, as it is now."""
    place: str
    link_lost: str
    queued: Optional[TerminalQueued]


class TerminalSessions(TypedDict):
    session: str
    quality: str


class _TerminalProgress(TypedDict):
    percent: int


class TerminalProgress(_TerminalProgress, total=False):
    state: Optional[Literal["none", "normal", "error", "indeterminate", "paused"]]


class TerminalLease(TypedDict):
    by: str
    since: str


class TerminalQueued(TypedDict):
    command_id: str
    command: str
    by: Literal["agent", "user", "system"]


class TerminalLent(TypedDict):
    to: Optional[str]
    read_only: bool
    by: str
    since: str


class TerminalJournal(TypedDict):
    """what is kept of its output"""
    bytes: int
    dropped: int
    paused: bool


class _Verdict(TypedDict):
    decision: Literal["allow", "allow_confined", "ask", "deny"]
    risk: Literal["low", "medium", "high", "critical"]
    effects: List[VerdictEffects]
    reasons: List[VerdictReasons]
    rule: str
    commands: List[str]


class Verdict(_Verdict, total=False):
    """What policy says about a command."""
    waived: List[VerdictWaived]
    hints: List[str]
    sandbox: str


class VerdictEffects(TypedDict):
    kind: Literal["read", "list", "write", "delete", "network", "process", "privilege", "install", "execute", "state", "secret", "unknown"]
    target: str


class VerdictReasons(TypedDict):
    text: str
    begin: int
    end: int
    risk: Literal["low", "medium", "high", "critical"]
    decision: Literal["allow", "ask", "deny"]


class VerdictWaived(TypedDict):
    text: str
    risk: Literal["low", "medium", "high", "critical"]
    rule: str


class Approval(TypedDict):
    """A question to a person about one command."""
    id: str
    command: str
    shown: str
    cwd: str
    environment: List[str]
    command_id: Optional[str]
    terminal_id: Optional[str]
    task: Optional[str]
    session: Optional[str]
    asked_by: Optional[str]
    verdict: Optional[Verdict]
    created_at: str
    expires_at: Optional[str]
    default: Literal["deny"]
    state: Literal["open", "allowed", "denied", "skipped", "expired", "withdrawn"]
    answered_by: Optional[str]
    answered_at: Optional[str]
    reason: Optional[str]
    always: List[str]
    always_words: List[str]
    wider: List[str]
    wider_words: List[str]
    always_scope: Optional[Literal["global", "session"]]


class _HistoryRow(TypedDict):
    command_id: str
    terminal_id: Optional[str]
    terminal_name: Optional[str]
    task: Optional[str]
    owner: Literal["agent", "user", "system"]
    command: str
    description: Optional[str]
    cwd: Optional[str]
    cwd_after: Optional[str]
    state: str
    exit_code: Optional[int]
    signal: Optional[str]
    known_by: Optional[str]
    provider: Optional[str]
    integration: Optional[str]
    started_at: str
    duration_ms: Optional[int]
    output: HistoryRowOutput
    total_bytes: int
    total_lines: int
    reason: Optional[str]


class HistoryRow(_HistoryRow, total=False):
    """A command in the history."""
    place: str


class HistoryRowOutput(TypedDict):
    """where its output is kept"""
    journal: str
    begin: int
    end: int


class DecisionRow(TypedDict):
    """One decision about a command or an action; the audit."""
    id: str
    at: str
    command_id: Optional[str]
    terminal_id: Optional[str]
    action: Literal["run", "open", "type", "interrupt", "signal", "kill", "lend", "permit"]
    asked_by: str
    command: str
    cwd: Optional[str]
    decision: Literal["allow", "ask_allow", "deny", "skip", "expired", "withdrawn"]
    decided_by: Optional[str]
    risk: Optional[str]
    effects: Optional[str]
    reason: Optional[str]
    answered_by: Optional[str]
    answered_at: Optional[str]


class Part(TypedDict, total=False):
    """What a call with `stream` sends before its answer. Only what is new is present."""
    output: str
    again: Optional[PartAgain]
    state: str
    waiting: Optional[PartWaiting]
    approval: str
    reason: Optional[str]
    binary: Optional[PartBinary]
    progress: Optional[PartProgress]


class PartAgain(TypedDict, total=False):
    from_line: Optional[int]
    command: str
    from_place: Optional[PartAgainFromPlace]


class PartAgainFromPlace(TypedDict):
    line: int
    text: str


class PartWaiting(TypedDict):
    kind: Literal["line", "password", "key", "pager", "editor", "fullscreen"]
    prompt: str
    program: str
    pid: int
    evidence: str


class PartBinary(TypedDict):
    bytes: int


class _PartProgress(TypedDict):
    percent: int


class PartProgress(_PartProgress, total=False):
    state: Optional[Literal["none", "normal", "error", "indeterminate", "paused"]]


class _ScreenDelta(TypedDict):
    sequence: int
    reset: bool
    cols: int
    rows: int
    first_row: int
    lines: List[ScreenDeltaLines]
    cursor: ScreenDeltaCursor
    alternate: bool
    modes: List[int]


class ScreenDelta(_ScreenDelta, total=False):
    """What changed on a screen. Rows have stable numbers: one that scrolls up keeps its number and is not
    sent again. A viewer keeps rows by number, replaces those that come, and shows those from `first_row`
    on; everything that is not a row is as it is now."""
    kitty_keyboard: int
    modify_other_keys: int


class ScreenDeltaLines(TypedDict):
    row: int
    runs: List[ScreenRun]


class ScreenDeltaCursor(TypedDict):
    """where it is"""
    row: int
    col: int
    visible: bool
    shape: Literal["block", "underline", "bar"]
    blinks: bool


class _ScreenRun(TypedDict):
    text: str
    cols: int


class ScreenRun(_ScreenRun, total=False):
    """Neighbouring columns that look alike."""
    fg: str
    bg: str
    underline: Literal["single", "double", "curly", "dotted", "dashed"]
    underline_colour: str
    bold: bool
    dim: bool
    italic: bool
    blink: bool
    inverse: bool
    hidden: bool
    strike: bool
    overline: bool


class _Changes(TypedDict):
    state: Literal["running", "finished", "applying", "applied", "undone"]
    workspace: str
    added: int
    changed: int
    deleted: int
    lines_added: int
    lines_removed: int
    list: List[Change]
    more: int


class Changes(_Changes, total=False):
    """What a command changed that ran on a layer over its workspace. The workspace has none of it until it
    is applied."""
    problem: str


class _Change(TypedDict):
    path: str
    kind: Literal["added", "changed", "deleted"]
    type: Literal["file", "folder", "link", "special"]
    files: int


class Change(_Change, total=False):
    """One file, folder or link that a command changed."""
    lines_added: Optional[int]
    lines_removed: Optional[int]
    binary: bool
    mode_before: str
    mode: str
    link: str
    applied: bool
    note: str


class RunRequestSize(TypedDict):
    cols: int
    rows: int


class _BatchAnswer(TypedDict):
    results: List[Result]
    not_run: List[str]


class BatchAnswer(_BatchAnswer, total=False):
    stopped_by: Literal["failure", "time"]
    state: str
    duration_ms: Optional[int]


class OpenRequestSize(TypedDict):
    cols: int
    rows: int


class OpenAnswer(TypedDict):
    terminal: Terminal


class AcquireAnswer(TypedDict):
    terminal: Terminal
    created: bool


class ReleaseAnswer(TypedDict):
    terminals: List[Terminal]


class _ExecRequestReplies(TypedDict):
    when: str


class ExecRequestReplies(_ExecRequestReplies, total=False):
    text: Optional[str]
    keys: Optional[str]
    secret: Optional[str]
    repeat: bool


class InputAnswer(TypedDict, total=False):
    bytes: Optional[int]
    command_id: str
    state: Literal["pending_approval"]
    approval: str
    reason: str


class InterruptAnswer(TypedDict):
    interrupted: bool


class SignalAnswer(TypedDict):
    pass


class KillAnswer(TypedDict):
    killed: bool
    survivors: List[KillAnswerSurvivors]


class KillAnswerSurvivors(TypedDict):
    pid: int


class ResizeAnswer(TypedDict):
    pass


class WaitRequestFromPlace(TypedDict):
    line: int
    text: str


class _WaitAnswer(TypedDict):
    condition: Literal["exit", "pattern", "port", "file", "quiet", "stable", "input", "prompt", "closed", "approval", "timeout"]
    result: Optional[Result]


class WaitAnswer(_WaitAnswer, total=False):
    match: Optional[WaitAnswerMatch]
    port: Optional[int]
    file: Optional[str]
    terminal: Optional[Terminal]
    approval: Optional[Approval]


class _WaitAnswerMatch(TypedDict):
    line: int
    text: str


class WaitAnswerMatch(_WaitAnswerMatch, total=False):
    repeat: Optional[int]


class ReadRequestRaw(TypedDict):
    offset: int
    bytes: int


class _ReadAnswer(TypedDict):
    text: str
    first_line: int
    last_line: int
    total_lines: int
    total_bytes: int
    more: bool
    binary: bool
    omitted: Optional[ReadAnswerOmitted]
    base64: Optional[str]
    next_offset: Optional[int]
    terminal_id: str
    command_id: Optional[str]
    state: str
    matches: List[ReadAnswerMatches]


class ReadAnswer(_ReadAnswer, total=False):
    longest_line: Optional[int]


class ReadAnswerOmitted(TypedDict):
    bytes: int
    lines: int
    first_line: int
    last_line: int


class _ReadAnswerMatches(TypedDict):
    line: int
    text: str


class ReadAnswerMatches(_ReadAnswerMatches, total=False):
    repeat: Optional[int]


class RecordingAnswer(TypedDict):
    terminal_id: str
    command_id: Optional[str]
    name: Optional[str]
    provider: str
    ended: bool
    created_at_us: int
    begin: int
    end: int
    next_offset: int
    more: bool
    base64: str
    marks: List[RecordingAnswerMarks]
    commands: List[RecordingAnswerCommands]


class _RecordingAnswerMarks(TypedDict):
    kind: Literal["time", "resize", "gap"]
    offset: int
    at_us: int


class RecordingAnswerMarks(_RecordingAnswerMarks, total=False):
    cols: Optional[int]
    rows: Optional[int]
    bytes: Optional[int]
    newlines: Optional[int]


class RecordingAnswerCommands(TypedDict):
    command_id: str
    command: str
    offset: int
    started_at: str
    exit_code: Optional[int]


class ScreenAnswer(TypedDict):
    format: Literal["text", "ansi", "json", "html", "svg"]
    content: str
    cols: int
    rows: int
    cursor: ScreenAnswerCursor
    alternate: bool
    title: Optional[str]
    terminal: str
    state: str


class ScreenAnswerCursor(TypedDict):
    """where it is"""
    row: int
    col: int
    visible: bool


class ListAnswer(TypedDict):
    terminals: List[Terminal]


class ShowAnswer(TypedDict):
    terminal: Terminal
    commands: List[Result]
    processes: List[ShowAnswerProcesses]
    ports: List[ShowAnswerPorts]
    environment: Dict[str, str]


class _ShowAnswerProcesses(TypedDict):
    pid: int
    command: str


class ShowAnswerProcesses(_ShowAnswerProcesses, total=False):
    parent: Optional[int]


class ShowAnswerPorts(TypedDict):
    port: int
    pid: int


class LendAnswer(TypedDict):
    terminal: Terminal


class PersonTokenAnswer(TypedDict):
    file: str


class ResumeAnswer(TypedDict):
    resumed: bool
    terminal: Terminal


class RenameAnswer(TypedDict):
    terminal: Terminal


class AssignAnswer(TypedDict):
    terminal: Terminal


class AssociateAnswer(TypedDict):
    terminal: Terminal


class SessionTerminalsAnswer(TypedDict):
    terminals: List[Terminal]


class SessionCwdAnswer(TypedDict):
    cwd: Optional[str]


class PathAddAnswer(TypedDict):
    paths: List[PathAddAnswerPaths]


class PathAddAnswerPaths(TypedDict):
    contributor: str
    path: str
    description: Optional[str]
    prepend: bool


class PathRemoveAnswer(TypedDict):
    paths: List[PathRemoveAnswerPaths]


class PathRemoveAnswerPaths(TypedDict):
    contributor: str
    path: str
    description: Optional[str]
    prepend: bool


class PathListAnswer(TypedDict):
    paths: List[PathListAnswerPaths]


class PathListAnswerPaths(TypedDict):
    contributor: str
    path: str
    description: Optional[str]
    prepend: bool


class _EnvironmentAnswer(TypedDict):
    text: str
    active: List[EnvironmentAnswerActive]
    inactive: List[EnvironmentAnswerInactive]


class EnvironmentAnswer(_EnvironmentAnswer, total=False):
    person: Optional[EnvironmentAnswerPerson]
    selection: Optional[EnvironmentAnswerSelection]


class EnvironmentAnswerActive(TypedDict):
    id: str
    name: Optional[str]
    cwd: Optional[str]
    hot: bool
    running: Optional[Result]
    finished: List[Result]


class EnvironmentAnswerInactive(TypedDict):
    id: str
    name: Optional[str]
    cwd: Optional[str]
    hot: bool
    running: Optional[Result]
    finished: List[Result]


class EnvironmentAnswerPerson(TypedDict):
    terminal: str
    attached: bool
    shell: Optional[str]
    last_command: Optional[str]


class EnvironmentAnswerSelection(TypedDict):
    terminal: str
    text: str
    by: str
    at: str


class AttachRequestSize(TypedDict):
    cols: int
    rows: int


class AttachAnswer(TypedDict):
    subscription: int
    screen: ScreenDelta
    writable: bool
    terminal: Terminal


class AttachInputAnswer(TypedDict):
    pass


class AttachResizeAnswer(TypedDict):
    pass


class DetachAnswer(TypedDict):
    pass


class SelectAnswer(TypedDict):
    selection: Optional[SelectAnswerSelection]


class SelectAnswerSelection(TypedDict):
    terminal: str
    text: str
    by: str
    at: str


class SubscribeAnswer(TypedDict):
    subscription: int
    terminals: List[Terminal]


class UnsubscribeAnswer(TypedDict):
    pass


class PermitAnswer(TypedDict):
    decision: Literal["allow", "deny", "skip"]
    reason: Optional[str]
    approval: Optional[str]
    verdict: Optional[Verdict]


class ToldAnswer(TypedDict):
    command_id: str


class AgentAnswer(TypedDict):
    pass


class ApprovalsAnswer(TypedDict):
    approvals: List[Approval]


class AnswerAnswer(TypedDict):
    approval: Approval


class WithdrawAnswer(TypedDict):
    approval: Approval


class RulesAnswer(TypedDict):
    rules: List[RulesAnswerRules]
    errors: List[str]
    unconfirmed: List[RulesAnswerUnconfirmed]


class RulesAnswerRules(TypedDict):
    name: str
    level: Literal["global", "project", "session"]
    text: str
    source: str


class RulesAnswerUnconfirmed(TypedDict):
    change: Literal["added", "removed"]
    name: str
    words: str
    text: str


class RuleAddAnswer(TypedDict):
    added: List[str]


class RuleRemoveAnswer(TypedDict):
    removed: int


class RulesUnconfirmedAnswer(TypedDict):
    rules: List[RulesUnconfirmedAnswerRules]
    settings: List[RulesUnconfirmedAnswerSettings]
    problem: str
    digest: str


class RulesUnconfirmedAnswerRules(TypedDict):
    change: Literal["added", "removed"]
    name: str
    words: str
    text: str


class RulesUnconfirmedAnswerSettings(TypedDict):
    name: str
    holds: str
    wanted: str
    where: str


class RulesConfirmAnswer(TypedDict):
    confirmed: bool


class SettingsAnswer(TypedDict):
    settings: List[SettingsAnswerSettings]
    file: str
    digest: str
    errors: List[str]


class SettingsAnswerSettings(TypedDict):
    name: str
    kind: Literal["flag", "number", "bytes", "duration", "choice", "text", "list"]
    value: str
    words: List[str]
    usual: str
    choices: List[str]
    source: Literal["default", "file", "environment", "project"]
    where: str
    about: str


class _SettingsChangeRequestChanges(TypedDict):
    name: str


class SettingsChangeRequestChanges(_SettingsChangeRequestChanges, total=False):
    value: Optional[str]
    words: Optional[List[str]]


class SettingsChangeAnswer(TypedDict):
    before: str
    after: str
    digest: str
    saved: bool


class ModeAnswer(TypedDict):
    mode: Literal["plan", "default", "auto-edit", "auto", "yolo"]


class HistoryAnswer(TypedDict):
    commands: List[HistoryRow]


class DecisionsAnswer(TypedDict):
    decisions: List[DecisionRow]


class ChangeSetsAnswer(TypedDict):
    sets: List[ChangeSetsAnswerSets]


class _ChangeSetsAnswerSets(TypedDict):
    command_id: str
    command: str
    workspace: str
    state: Literal["running", "finished", "applying", "applied", "undone"]
    created_at: Optional[str]
    applied_at: Optional[str]
    bytes: int


class ChangeSetsAnswerSets(_ChangeSetsAnswerSets, total=False):
    kept: bool


class _ChangesAnswer(TypedDict):
    changes: Changes


class ChangesAnswer(_ChangesAnswer, total=False):
    diff: str
    diff_cut: bool


class ApplyAnswer(TypedDict):
    applied: List[str]
    conflicts: List[ApplyAnswerConflicts]
    left_out: List[ApplyAnswerLeftOut]
    command_id: str


class ApplyAnswerConflicts(TypedDict):
    path: str
    reason: str


class ApplyAnswerLeftOut(TypedDict):
    path: str
    reason: str


class UndoAnswer(TypedDict):
    applied: List[str]
    conflicts: List[UndoAnswerConflicts]
    left_out: List[UndoAnswerLeftOut]
    command_id: str


class UndoAnswerConflicts(TypedDict):
    path: str
    reason: str


class UndoAnswerLeftOut(TypedDict):
    path: str
    reason: str


class DiscardAnswer(TypedDict):
    discarded: bool


class _StatusAnswer(TypedDict):
    pid: int
    version: str
    started_at: str
    connections: int
    memory_kib: int
    warnings: List[str]


class StatusAnswer(_StatusAnswer, total=False):
    terminals: Optional[int]
    commands: Optional[int]
    approvals: Optional[int]
    journals: Optional[StatusAnswerJournals]
    recovered: Optional[StatusAnswerRecovered]
    config: Optional[StatusAnswerConfig]
    agents: List[StatusAnswerAgents]


class StatusAnswerJournals(TypedDict):
    bytes: int
    quota: int


class StatusAnswerRecovered(TypedDict):
    terminals: int
    ended: int
    ms: int


class StatusAnswerConfig(TypedDict):
    path: str
    errors: List[str]


class StatusAnswerAgents(TypedDict):
    name: str
    version: Optional[str]
    shell: Literal["terminals", "mcp", "not_governed"]
    note: Optional[str]
    session: Optional[str]


class MetricsAnswer(TypedDict):
    content_type: str
    text: str


class ReloadAnswer(TypedDict):
    errors: List[str]


class StopAnswer(TypedDict):
    pass


class TerminalOpenedEvent(TypedDict):
    """A terminal was opened."""
    terminal: Terminal


class TerminalChangedEvent(TypedDict):
    """Its name, task, cwd, integration, lease or title changed, or it became ready."""
    terminal: Terminal


class TerminalLentEvent(TypedDict):
    """A person lent it to agents."""
    terminal: Terminal


class TerminalTakenBackEvent(TypedDict):
    """A person took it back."""
    terminal: Terminal


class TerminalClosedEvent(TypedDict):
    """It has ended."""
    id: str
    exit_code: Optional[int]
    signal: Optional[str]


class CommandStartedEvent(TypedDict):
    """A command began."""
    result: Result


class CommandStateEvent(TypedDict):
    """It waits for input, or no longer does."""
    command_id: Optional[str]
    state: str
    waiting: Optional[CommandStateEventWaiting]


class CommandStateEventWaiting(TypedDict):
    kind: Literal["line", "password", "key", "pager", "editor", "fullscreen"]
    prompt: str
    program: str
    pid: int
    evidence: str


class CommandFinishedEvent(TypedDict):
    """A command ended."""
    result: Result


class _OutputEvent(TypedDict):
    id: str
    lines: int


class OutputEvent(_OutputEvent, total=False):
    """Something was printed; at most every 100 ms. With `text` in the subscription it carries the lines
    that have ended since the last such event, at most 16 000 characters."""
    first_line: Optional[int]
    text: Optional[str]


IntegrationChangedEvent = TypedDict('IntegrationChangedEvent', {"id": "str", "from": Literal["rich", "basic", "none"], "to": Literal["rich", "basic", "none"], "reason": "str"}, total=False)


class ApprovalOpenedEvent(TypedDict):
    """A person is asked."""
    approval: Approval


class ApprovalClosedEvent(TypedDict):
    """A question was closed."""
    approval: Approval


class NoticeEvent(TypedDict):
    """A change that loosens policy was not confirmed."""
    text: str


class LaggedEvent(TypedDict):
    """Events were dropped, because the client did not read."""
    count: int


class AttachScreenEvent(TypedDict):
    """What changed on the screen. A slow reader gets fewer and later ones."""
    screen: ScreenDelta


class AttachKeyboardEvent(TypedDict):
    """The watcher lost the keyboard: somebody took it, or it was idle for `give_back_ms`."""
    writable: bool
    reason: Literal["taken", "idle"]


class AttachClosedEvent(TypedDict):
    """The attachment has ended."""
    reason: str


class AsyncCalls:
    """Every call of the daemon, to be awaited."""

    def _call(self, name: str, args: Dict[str, Any]) -> Any:
        raise NotImplementedError

    def _stream(self, name: str, args: Dict[str, Any]) -> Any:
        raise NotImplementedError

    async def run(self, command: Optional[str] = None, *, argv: Optional[List[str]] = None,
                  command_id: Optional[str] = None, description: Optional[str] = None,
                  from_line: Optional[int] = None, cwd: Optional[str] = None, env: Optional[Dict[str, str]] = None,
                  provider: Optional[Literal["pty", "pipe"]] = None, size: Optional[RunRequestSize] = None,
                  timeout_ms: Optional[int] = None, idle_timeout_ms: Optional[int] = None,
                  yield_after_ms: Optional[int] = None, keep_background: Optional[bool] = None,
                  task: Optional[str] = None, stdin: Optional[str] = None,
                  on_cancel: Optional[Literal["leave", "interrupt"]] = None, wait_for_input: Optional[bool] = None,
                  sandbox: Optional[str] = None, place: Optional[str] = None, try_: Optional[bool] = None,
                  view: Optional[Literal["default", "digest", "head", "tail", "full", "agent", "void", "roo", "gemini"]] = None,
                  lines: Optional[int] = None, chars: Optional[int] = None) -> Result:
        """Runs one command in its own terminal, which is removed when the command ends.

        command: a line for the shell; this or `argv`
        argv: a program and its arguments, without a shell
        command_id: chosen by the client, a `c` and 12 characters of a-z and 2-7; a call that is
            repeated with the same id runs nothing twice
        description: what it is for, in the caller's words; kept in the history, and no part of any
            decision
        from_line: with `stream`, when the call is repeated: how many lines were received before
        cwd: where it runs
        env: variables to set
        provider: in a terminal, or on pipes
        size: of the terminal
        timeout_ms: time limit after which the command is stopped
        idle_timeout_ms: time without output after which the command is stopped
        yield_after_ms: after which the call answers with `state: running` and the command keeps
            running; 0: never
        keep_background: keep the processes that it leaves behind; otherwise they are stopped with it
        task: the task it is for
        stdin: its whole standard input, byte for byte, followed by end of file; without it, it reads
            the terminal
        on_cancel: what happens to the command when the call is cancelled
        wait_for_input: keep waiting when the command waits for input; otherwise the call answers
            then
        sandbox: the profile that confines it (docs/sandbox.md); an agent can only ask for a stricter
            one than is configured
        place: where it runs: `ssh:HOST`, `podman:NAME`, `docker:NAME` (docs/places.md); judged as
            the line that would run it there from here
        try_: run it on a layer over its workspace: the result lists what it changed, and the
            workspace has none of it until `apply` (docs/try.md)
        view: preset of how much output is returned; `agent` is the configured one, and a digest
            unless one is configured
        lines: lines of output at most, instead of the preset's
        chars: characters of output at most, instead of the preset's
        """
        return await self._call("run", {"command": command, "argv": argv, "command_id": command_id, "description": description, "from_line": from_line, "cwd": cwd, "env": env, "provider": provider, "size": size, "timeout_ms": timeout_ms, "idle_timeout_ms": idle_timeout_ms, "yield_after_ms": yield_after_ms, "keep_background": keep_background, "task": task, "stdin": stdin, "on_cancel": on_cancel, "wait_for_input": wait_for_input, "sandbox": sandbox, "place": place, "try": try_, "view": view, "lines": lines, "chars": chars})

    def run_stream(self, command: Optional[str] = None, *, argv: Optional[List[str]] = None,
                   command_id: Optional[str] = None, description: Optional[str] = None,
                   from_line: Optional[int] = None, cwd: Optional[str] = None, env: Optional[Dict[str, str]] = None,
                   provider: Optional[Literal["pty", "pipe"]] = None, size: Optional[RunRequestSize] = None,
                   timeout_ms: Optional[int] = None, idle_timeout_ms: Optional[int] = None,
                   yield_after_ms: Optional[int] = None, keep_background: Optional[bool] = None,
                   task: Optional[str] = None, stdin: Optional[str] = None,
                   on_cancel: Optional[Literal["leave", "interrupt"]] = None, wait_for_input: Optional[bool] = None,
                   sandbox: Optional[str] = None, place: Optional[str] = None, try_: Optional[bool] = None,
                   view: Optional[Literal["default", "digest", "head", "tail", "full", "agent", "void", "roo", "gemini"]] = None,
                   lines: Optional[int] = None, chars: Optional[int] = None) -> Any:
        """As `run`; gives what it prints while it runs."""
        return self._stream("run", {"command": command, "argv": argv, "command_id": command_id, "description": description, "from_line": from_line, "cwd": cwd, "env": env, "provider": provider, "size": size, "timeout_ms": timeout_ms, "idle_timeout_ms": idle_timeout_ms, "yield_after_ms": yield_after_ms, "keep_background": keep_background, "task": task, "stdin": stdin, "on_cancel": on_cancel, "wait_for_input": wait_for_input, "sandbox": sandbox, "place": place, "try": try_, "view": view, "lines": lines, "chars": chars})

    async def batch(self, commands: List[str], *, cwd: Optional[str] = None, env: Optional[Dict[str, str]] = None,
                    task: Optional[str] = None, keep_going: Optional[bool] = None, separate: Optional[bool] = None,
                    parallel: Optional[int] = None, timeout_ms: Optional[int] = None,
                    idle_timeout_ms: Optional[int] = None, yield_after_ms: Optional[int] = None,
                    batch_id: Optional[str] = None, sandbox: Optional[str] = None,
                    view: Optional[Literal["default", "digest", "head", "tail", "full", "agent", "void", "roo", "gemini"]] = None,
                    lines: Optional[int] = None, chars: Optional[int] = None) -> BatchAnswer:
        """Runs several commands, in one shell or each on its own. After `yield_after_ms` the running
        commands keep running, and the rest is not run.

        commands: 1 to 1000 command lines
        cwd: where they begin
        env: variables to set
        task: the task they are for
        keep_going: continue after a command that failed
        separate: run each on its own, with its own limits
        parallel: with `separate`: how many at once
        timeout_ms: time limit for all together; with `separate`, for each
        idle_timeout_ms: with `separate`: time without output, for each
        yield_after_ms: after which the call answers; 0: never
        batch_id: chosen by the client, at most 40 letters, digits, `-` and `_`; a call that is
            repeated with the same id runs nothing twice. In one shell the command with number n has the
            id `batch_id-n`
        sandbox: the profile that confines it (docs/sandbox.md); an agent can only ask for a stricter
            one than is configured
        view: preset of how much output is returned; `agent` is the configured one, and a digest
            unless one is configured
        lines: lines of output at most, instead of the preset's
        chars: characters of output at most, instead of the preset's
        """
        return await self._call("batch", {"commands": commands, "cwd": cwd, "env": env, "task": task, "keep_going": keep_going, "separate": separate, "parallel": parallel, "timeout_ms": timeout_ms, "idle_timeout_ms": idle_timeout_ms, "yield_after_ms": yield_after_ms, "batch_id": batch_id, "sandbox": sandbox, "view": view, "lines": lines, "chars": chars})

    async def open(self, name: Optional[str] = None, *, cwd: Optional[str] = None, shell: Optional[str] = None,
                   shell_args: Optional[List[str]] = None, login: Optional[bool] = None,
                   provider: Optional[Literal["pty", "pipe"]] = None, task: Optional[str] = None,
                   owner: Optional[Literal["agent", "user", "system"]] = None, env: Optional[Dict[str, str]] = None,
                   size: Optional[OpenRequestSize] = None, request: Optional[str] = None,
                   sandbox: Optional[str] = None, place: Optional[str] = None) -> OpenAnswer:
        """Opens a terminal. Answers once its shell is ready, or integration has timed out.

        name: a name that no living terminal has
        cwd: where it begins
        shell: a path or a name; an agent is asked about what is in neither /etc/shells nor the
            configuration
        shell_args: for that shell; an agent is asked about them, as about a command
        login: a login shell
        provider: `pipe`: a shell without a terminal, whose commands read nothing, and to which
            nothing can be typed
        task: the task it is bound to
        owner: whose it is; an agent's are an agent's
        env: variables to set
        size: of the terminal
        request: chosen by the client; a call that is repeated with the same id opens no second
            terminal
        sandbox: the profile that confines it and all its commands (docs/sandbox.md); an agent can
            only ask for a stricter one than is configured
        place: where it is opened: `ssh:HOST`, `podman:NAME`, `docker:NAME` (docs/places.md); an
            agent is asked about, unless a rule allows it
        """
        return await self._call("open", {"name": name, "cwd": cwd, "shell": shell, "shell_args": shell_args, "login": login, "provider": provider, "task": task, "owner": owner, "env": env, "size": size, "request": request, "sandbox": sandbox, "place": place})

    async def acquire(self, cwd: Optional[str] = None, *, task: Optional[str] = None,
                      provider: Optional[Literal["pty", "pipe"]] = None,
                      wait_ms: Optional[int] = None) -> AcquireAnswer:
        """An idle terminal of the same provider, task and live cwd, else an idle one of the same provider
        and live cwd, else a new one. A terminal whose cwd is unknown never matches. It is bound to the
        task, and no other task gets it before a command was sent to it, it was released, or 30 s have
        passed. Where no more may be opened (`pool.limit`, `limits.terminals`) the call waits for one
        that fits to be free, or for room.

        cwd: where it has to be
        task: the task it is for
        provider: in a terminal, or on pipes
        wait_ms: how long to wait where no more may be opened; 0: not at all
        """
        return await self._call("acquire", {"cwd": cwd, "task": task, "provider": provider, "wait_ms": wait_ms})

    async def release(self, task: str) -> ReleaseAnswer:
        """Removes the task from its terminals; they stay open as background terminals.

        task: the task
        """
        return await self._call("release", {"task": task})

    async def exec(self, terminal: str, command: str, *, command_id: Optional[str] = None,
                   description: Optional[str] = None, from_line: Optional[int] = None, cwd: Optional[str] = None,
                   timeout_ms: Optional[int] = None, idle_timeout_ms: Optional[int] = None,
                   yield_after_ms: Optional[int] = None, on_busy: Optional[Literal["fail", "wait"]] = None,
                   on_cancel: Optional[Literal["leave", "interrupt"]] = None, wait_for_input: Optional[bool] = None,
                   replies: Optional[List[ExecRequestReplies]] = None, replies_timeout_ms: Optional[int] = None,
                   sentinel: Optional[bool] = None, sandbox: Optional[str] = None,
                   view: Optional[Literal["default", "digest", "head", "tail", "full", "agent", "void", "roo", "gemini"]] = None,
                   lines: Optional[int] = None, chars: Optional[int] = None) -> Result:
        """Runs a command in a terminal.

        terminal: its id or name
        command: the command line
        command_id: chosen by the client, a `c` and 12 characters of a-z and 2-7; a call that is
            repeated with the same id runs nothing twice
        description: what it is for, in the caller's words; kept in the history, and no part of any
            decision
        from_line: with `stream`, when the call is repeated: how many lines were received before
        cwd: for this command only
        timeout_ms: time limit after which the command is stopped; 0: never
        idle_timeout_ms: time without output after which the command is stopped; 0: never
        yield_after_ms: after which the call answers and the command keeps running; 0: never
        on_busy: what to do when another command runs there
        on_cancel: what happens to the command when the call is cancelled
        wait_for_input: keep waiting when the command waits for input; otherwise the call answers
            then
        replies: what to answer when the command asks
        replies_timeout_ms: how long to wait for each question; 0: for ever
        sentinel: type it into the program that reads the terminal now, such as ssh
        sandbox: the profile that must confine it at least; where the terminal's is weaker, the
            command runs beside the terminal, in its folder
        view: preset of how much output is returned; `agent` is the configured one, and a digest
            unless one is configured
        lines: lines of output at most, instead of the preset's
        chars: characters of output at most, instead of the preset's
        """
        return await self._call("exec", {"terminal": terminal, "command": command, "command_id": command_id, "description": description, "from_line": from_line, "cwd": cwd, "timeout_ms": timeout_ms, "idle_timeout_ms": idle_timeout_ms, "yield_after_ms": yield_after_ms, "on_busy": on_busy, "on_cancel": on_cancel, "wait_for_input": wait_for_input, "replies": replies, "replies_timeout_ms": replies_timeout_ms, "sentinel": sentinel, "sandbox": sandbox, "view": view, "lines": lines, "chars": chars})

    def exec_stream(self, terminal: str, command: str, *, command_id: Optional[str] = None,
                    description: Optional[str] = None, from_line: Optional[int] = None, cwd: Optional[str] = None,
                    timeout_ms: Optional[int] = None, idle_timeout_ms: Optional[int] = None,
                    yield_after_ms: Optional[int] = None, on_busy: Optional[Literal["fail", "wait"]] = None,
                    on_cancel: Optional[Literal["leave", "interrupt"]] = None, wait_for_input: Optional[bool] = None,
                    replies: Optional[List[ExecRequestReplies]] = None, replies_timeout_ms: Optional[int] = None,
                    sentinel: Optional[bool] = None, sandbox: Optional[str] = None,
                    view: Optional[Literal["default", "digest", "head", "tail", "full", "agent", "void", "roo", "gemini"]] = None,
                    lines: Optional[int] = None, chars: Optional[int] = None) -> Any:
        """As `exec`; gives what it prints while it runs."""
        return self._stream("exec", {"terminal": terminal, "command": command, "command_id": command_id, "description": description, "from_line": from_line, "cwd": cwd, "timeout_ms": timeout_ms, "idle_timeout_ms": idle_timeout_ms, "yield_after_ms": yield_after_ms, "on_busy": on_busy, "on_cancel": on_cancel, "wait_for_input": wait_for_input, "replies": replies, "replies_timeout_ms": replies_timeout_ms, "sentinel": sentinel, "sandbox": sandbox, "view": view, "lines": lines, "chars": chars})

    async def input(self, terminal: str, *, text: Optional[str] = None, keys: Optional[str] = None,
                    paste: Optional[str] = None, secret: Optional[str] = None,
                    base64: Optional[str] = None) -> InputAnswer:
        """Types into a terminal: exactly one kind of input.

        terminal: its id or name
        text: text; a line end is Enter
        keys: keys, such as "C-c Enter"
        paste: text to paste
        secret: typed only while echo is off, followed by Enter, never recorded
        base64: raw bytes
        """
        return await self._call("input", {"terminal": terminal, "text": text, "keys": keys, "paste": paste, "secret": secret, "base64": base64})

    async def interrupt(self, terminal: Optional[str] = None, *, command: Optional[str] = None) -> InterruptAnswer:
        """Interrupts the running command, as Ctrl-C does.

        terminal: its id or name; this or `command`
        command: the command's id
        """
        return await self._call("interrupt", {"terminal": terminal, "command": command})

    async def signal(self, signal: Optional[Union[int, str]], *, terminal: Optional[str] = None,
                     command: Optional[str] = None,
                     to: Optional[Literal["foreground", "leader", "all"]] = None) -> SignalAnswer:
        """Sends a signal.

        signal: a name or a number
        terminal: its id or name; this or `command`
        command: the command's id
        to: whom
        """
        return await self._call("signal", {"signal": signal, "terminal": terminal, "command": command, "to": to})

    async def kill(self, terminal: Optional[str] = None, *, command: Optional[str] = None,
                   force: Optional[bool] = None) -> KillAnswer:
        """Ends a terminal or a command. When a command in a shell is ended, the shell stays.

        terminal: its id or name; this or `command`
        command: the command's id
        force: kill it at once, without asking it to exit
        """
        return await self._call("kill", {"terminal": terminal, "command": command, "force": force})

    async def resize(self, terminal: str, *, cols: Optional[int] = None, rows: Optional[int] = None) -> ResizeAnswer:
        """Sets the size of a terminal.

        terminal: its id or name
        cols: columns
        rows: rows
        """
        return await self._call("resize", {"terminal": terminal, "cols": cols, "rows": rows})

    async def wait(self, terminal: Optional[str] = None, *, command: Optional[str] = None,
                   approval: Optional[str] = None, exit: Optional[bool] = None, pattern: Optional[str] = None,
                   port: Optional[int] = None, file: Optional[str] = None, quiet_ms: Optional[int] = None,
                   stable_ms: Optional[int] = None, input: Optional[bool] = None, prompt: Optional[bool] = None,
                   from_: Optional[Literal["now", "start"]] = None,
                   from_place: Optional[WaitRequestFromPlace] = None, only_new: Optional[bool] = None,
                   timeout_ms: Optional[int] = None,
                   view: Optional[Literal["default", "digest", "head", "tail", "full", "agent", "void", "roo", "gemini"]] = None,
                   lines: Optional[int] = None, chars: Optional[int] = None) -> WaitAnswer:
        """Waits for the first of several conditions of a terminal, a command or a question.

        terminal: its id or name; this, `command` or `approval`
        command: the command's id
        approval: a question's id
        exit: the command has ended
        pattern: RE2; a line of the output matches
        port: a process of the command listens on it; 0: on any port
        file: it exists
        quiet_ms: nothing was printed for this long
        stable_ms: the screen did not change for this long
        input: the command waits for input
        prompt: the terminal is idle
        from_: where `pattern` begins to look
        from_place: the same, for a wait that is repeated
        only_new: the result's output is what this reader has not seen
        timeout_ms: after which it answers `timeout`; 0: never
        view: preset of how much output is returned; `agent` is the configured one, and a digest
            unless one is configured
        lines: lines of output at most, instead of the preset's
        chars: characters of output at most, instead of the preset's
        """
        return await self._call("wait", {"terminal": terminal, "command": command, "approval": approval, "exit": exit, "pattern": pattern, "port": port, "file": file, "quiet_ms": quiet_ms, "stable_ms": stable_ms, "input": input, "prompt": prompt, "from": from_, "from_place": from_place, "only_new": only_new, "timeout_ms": timeout_ms, "view": view, "lines": lines, "chars": chars})

    async def read(self, terminal: Optional[str] = None, *, command: Optional[str] = None,
                   range: Optional[List[int]] = None, columns: Optional[List[int]] = None,
                   tail: Optional[int] = None, grep: Optional[str] = None, context: Optional[int] = None,
                   most: Optional[int] = None, new: Optional[bool] = None, raw: Optional[ReadRequestRaw] = None,
                   reader: Optional[str] = None, ansi: Optional[bool] = None,
                   view: Optional[Literal["default", "digest", "head", "tail", "full", "agent", "void", "roo", "gemini"]] = None,
                   lines: Optional[int] = None, chars: Optional[int] = None) -> ReadAnswer:
        """Any part of the output: one of `range`, `tail`, `grep`, `new` and `raw`; without any, all of it,
        cut to size.

        terminal: its id or name; this or `command`
        command: the command's id
        range: two line numbers: these lines
        columns: with `range`: of each line these characters
        tail: the last lines
        grep: RE2; the lines that match
        context: with `grep`: lines before and after
        most: with `grep`: matches at most
        new: what this reader has not seen
        raw: bytes as they were printed
        reader: the reader whose unread output is returned
        ansi: with colours, as escape sequences
        view: preset of how much output is returned; `agent` is the configured one, and a digest
            unless one is configured
        lines: lines of output at most, instead of the preset's
        chars: characters of output at most, instead of the preset's
        """
        return await self._call("read", {"terminal": terminal, "command": command, "range": range, "columns": columns, "tail": tail, "grep": grep, "context": context, "most": most, "new": new, "raw": raw, "reader": reader, "ansi": ansi, "view": view, "lines": lines, "chars": chars})

    async def recording(self, terminal: Optional[str] = None, *, command: Optional[str] = None,
                        offset: Optional[int] = None, bytes: Optional[int] = None) -> RecordingAnswer:
        """A part of what a terminal or a command printed, with the times, sizes and gaps a recording is
        made of.

        terminal: its id or name; this or `command`
        command: the command's id
        offset: where to go on
        bytes: how many at most
        """
        return await self._call("recording", {"terminal": terminal, "command": command, "offset": offset, "bytes": bytes})

    async def result(self, command: str, *,
                     view: Optional[Literal["default", "digest", "head", "tail", "full", "agent", "void", "roo", "gemini"]] = None,
                     lines: Optional[int] = None, chars: Optional[int] = None) -> Result:
        """A command's result as it is now.

        command: its id
        view: preset of how much output is returned; `agent` is the configured one, and a digest
            unless one is configured
        lines: lines of output at most, instead of the preset's
        chars: characters of output at most, instead of the preset's
        """
        return await self._call("result", {"command": command, "view": view, "lines": lines, "chars": chars})

    async def screen(self, terminal: str, *, format: Optional[Literal["text", "ansi", "json", "html", "svg"]] = None,
                     history: Optional[int] = None) -> ScreenAnswer:
        """What the screen shows now.

        terminal: its id or name
        format: how it is written
        history: lines above the screen; text only
        """
        return await self._call("screen", {"terminal": terminal, "format": format, "history": history})

    async def list(self, task: Optional[str] = None, *, owner: Optional[Literal["agent", "user", "system"]] = None,
                   all: Optional[bool] = None, background: Optional[bool] = None) -> ListAnswer:
        """Terminals that the caller may see.

        task: of this task
        owner: of this owner
        all: include terminals that have ended
        background: without a task
        """
        return await self._call("list", {"task": task, "owner": owner, "all": all, "background": background})

    async def show(self, terminal: str, *, most: Optional[int] = None) -> ShowAnswer:
        """A terminal with its commands, processes and ports.

        terminal: its id or name
        most: commands at most
        """
        return await self._call("show", {"terminal": terminal, "most": most})

    async def lend(self, terminal: str, *, read_only: Optional[bool] = None, to: Optional[str] = None,
                   back: Optional[bool] = None) -> LendAnswer:
        """Lends a person's terminal to agents, for use or only for reading, until it is taken back.

        terminal: its id or name
        read_only: only for reading
        to: a session
        back: take it back
        """
        return await self._call("lend", {"terminal": terminal, "read_only": read_only, "to": to, "back": back})

    async def person_token(self, new: Optional[bool] = None) -> PersonTokenAnswer:
        """The token for `hello.token`.

        new: make a new one; the old one is no longer valid
        """
        return await self._call("person_token", {"new": new})

    async def resume(self, terminal: str, *, bytes: Optional[int] = None) -> ResumeAnswer:
        """Resumes a terminal that is paused because its journal is at its quota (`overflow = "pause"`),
        with more space.

        terminal: its id or name
        bytes: how much more; an agent gets at most `limits.journal`
        """
        return await self._call("resume", {"terminal": terminal, "bytes": bytes})

    async def rename(self, terminal: str, *, name: Optional[str] = None) -> RenameAnswer:
        """Names a terminal. A name that another living one has is refused.

        terminal: its id or name
        name: the new name; empty: none
        """
        return await self._call("rename", {"terminal": terminal, "name": name})

    async def assign(self, terminal: str, *, task: Optional[str] = None) -> AssignAnswer:
        """Binds a terminal to a task.

        terminal: its id or name
        task: the task; empty: none
        """
        return await self._call("assign", {"terminal": terminal, "task": task})

    async def associate(self, terminal: str, session: str, *, quality: Optional[str] = None) -> AssociateAnswer:
        """Associates a terminal with a session.

        terminal: its id or name
        session: the session; an agent's own
        quality: how close the association is
        """
        return await self._call("associate", {"terminal": terminal, "session": session, "quality": quality})

    async def session_terminals(self, session: str) -> SessionTerminalsAnswer:
        """The terminals of a session.

        session: the session
        """
        return await self._call("session_terminals", {"session": session})

    async def session_cwd(self, session: str) -> SessionCwdAnswer:
        """Where a session works.

        session: the session
        """
        return await self._call("session_cwd", {"session": session})

    async def path_add(self, contributor: str, path: str, *, description: Optional[str] = None,
                       prepend: Optional[bool] = None) -> PathAddAnswer:
        """Adds a folder to the PATH of terminals opened from now on.

        contributor: who wants it
        path: an absolute folder without a colon
        description: what for
        prepend: before the others
        """
        return await self._call("path_add", {"contributor": contributor, "path": path, "description": description, "prepend": prepend})

    async def path_remove(self, contributor: str) -> PathRemoveAnswer:
        """Removes what a contributor added.

        contributor: whose
        """
        return await self._call("path_remove", {"contributor": contributor})

    async def path_list(self) -> PathListAnswer:
        """The folders that were added."""
        return await self._call("path_list", {})

    async def environment(self, task: Optional[str] = None, *, reader: Optional[str] = None,
                          edited: Optional[bool] = None, cool_down_ms: Optional[int] = None,
                          view: Optional[Literal["default", "digest", "head", "tail", "full", "agent", "void", "roo", "gemini"]] = None,
                          lines: Optional[int] = None, chars: Optional[int] = None) -> EnvironmentAnswer:
        """What is running where, and what is new since this reader last asked.

        task: terminals of this task, and of none
        reader: the reader whose unread output is returned
        edited: a file was just written
        cool_down_ms: how long to wait for terminals that are still printing
        view: preset of how much output is returned; `agent` is the configured one, and a digest
            unless one is configured
        lines: lines of output at most, instead of the preset's
        chars: characters of output at most, instead of the preset's
        """
        return await self._call("environment", {"task": task, "reader": reader, "edited": edited, "cool_down_ms": cool_down_ms, "view": view, "lines": lines, "chars": chars})

    async def attach(self, terminal: str, *, read_only: Optional[bool] = None, take: Optional[bool] = None,
                     give_back_ms: Optional[int] = None, size: Optional[AttachRequestSize] = None) -> AttachAnswer:
        """Watches a terminal's screen and, for a person, takes the keyboard. Events `attach_screen`,
        `attach_keyboard` and `attach_closed` follow.

        terminal: its id or name
        read_only: only watch
        take: take the keyboard from another person
        give_back_ms: after so long without `attach_input` the keyboard is given back, and the caller
            watches; 0: never
        size: who takes the keyboard gives the terminal this size
        """
        return await self._call("attach", {"terminal": terminal, "read_only": read_only, "take": take, "give_back_ms": give_back_ms, "size": size})

    async def attach_input(self, subscription: Optional[int] = None, *, base64: Optional[str] = None,
                           keys: Optional[str] = None) -> AttachInputAnswer:
        """Sends what a person types.

        subscription: of the attachment
        base64: the bytes
        keys: keys, such as "C-c Up", encoded as the terminal's modes want them; instead of `base64`
        """
        return await self._call("attach_input", {"subscription": subscription, "base64": base64, "keys": keys})

    async def attach_resize(self, subscription: Optional[int] = None, *, cols: Optional[int] = None,
                            rows: Optional[int] = None) -> AttachResizeAnswer:
        """The screen of whoever has the keyboard has another size, and so has the terminal; of others
        nothing happens.

        subscription: of the attachment
        cols: columns
        rows: rows
        """
        return await self._call("attach_resize", {"subscription": subscription, "cols": cols, "rows": rows})

    async def detach(self, subscription: Optional[int] = None) -> DetachAnswer:
        """Ends an attachment.

        subscription: of the attachment
        """
        return await self._call("detach", {"subscription": subscription})

    async def select(self, terminal: Optional[str] = None, *, range: Optional[List[int]] = None,
                     clear: Optional[bool] = None) -> SelectAnswer:
        """Marks text of a terminal for agents that may read it: `environment` tells them. One thing is
        marked at a time, and not beyond the daemon's life.

        terminal: its id or name; `@active`: the one a person attached to last
        range: two line numbers: these lines
        clear: nothing is marked any more
        """
        return await self._call("select", {"terminal": terminal, "range": range, "clear": clear})

    async def subscribe(self, terminal: Optional[str] = None, *, kinds: Optional[List[str]] = None,
                        text: Optional[bool] = None) -> SubscribeAnswer:
        """Subscribes to events.

        terminal: only events of this terminal
        kinds: names of events
        text: with `terminal`: output events carry the text
        """
        return await self._call("subscribe", {"terminal": terminal, "kinds": kinds, "text": text})

    async def unsubscribe(self, subscription: Optional[int] = None) -> UnsubscribeAnswer:
        """Ends a subscription.

        subscription: its number
        """
        return await self._call("unsubscribe", {"subscription": subscription})

    async def check(self, command: str, *, cwd: Optional[str] = None,
                    mode: Optional[Literal["plan", "default", "auto-edit", "auto", "yolo"]] = None,
                    session: Optional[str] = None) -> Verdict:
        """What policy would say if an agent asked. Runs nothing.

        command: the command line
        cwd: where it would run
        mode: with this mode
        session: whose rules count; only a person may name another's
        """
        return await self._call("check", {"command": command, "cwd": cwd, "mode": mode, "session": session})

    async def permit(self, command: Optional[str] = None, *, argv: Optional[List[str]] = None,
                     cwd: Optional[str] = None, task: Optional[str] = None) -> PermitAnswer:
        """Whether an agent may run a command with its own tools, outside ttyward. Policy decides; where it
        asks, a person is asked, and the call answers when the question is closed. Runs nothing.

        command: a line for the shell; this or `argv`
        argv: a program and its arguments, without a shell
        cwd: where it would run
        task: the task it is for
        """
        return await self._call("permit", {"command": command, "argv": argv, "cwd": cwd, "task": task})

    async def told(self, command: str, *, cwd: Optional[str] = None, task: Optional[str] = None,
                   description: Optional[str] = None, exit_code: Optional[int] = None, signal: Optional[str] = None,
                   duration_ms: Optional[int] = None, bytes: Optional[int] = None,
                   lines: Optional[int] = None) -> ToldAnswer:
        """Adds a command to the history that an agent ran with its own tools. ttyward observed nothing of
        it: `known_by` is `told`.

        command: as the agent tells it
        cwd: where it ran
        task: the task it was for
        description: what it is for, in the caller's words; kept in the history, and no part of any
            decision
        exit_code: as the agent tells it
        signal: what killed it
        duration_ms: how long it ran
        bytes: of output that the agent showed
        lines: the same
        """
        return await self._call("told", {"command": command, "cwd": cwd, "task": task, "description": description, "exit_code": exit_code, "signal": signal, "duration_ms": duration_ms, "bytes": bytes, "lines": lines})

    async def agent(self, name: str, *, version: Optional[str] = None,
                    shell: Optional[Literal["terminals", "mcp", "not_governed"]] = None,
                    note: Optional[str] = None) -> AgentAnswer:
        """Says which agent this connection serves. `status` lists it until the connection ends.

        name: what it calls itself
        version: the same
        shell: how its commands reach ttyward
        note: in words
        """
        return await self._call("agent", {"name": name, "version": version, "shell": shell, "note": note})

    async def approvals(self, all: Optional[bool] = None) -> ApprovalsAnswer:
        """Lists questions to people.

        all: include closed questions
        """
        return await self._call("approvals", {"all": all})

    async def answer(self, approval: str, decision: Optional[Literal["allow", "deny", "skip"]], *,
                     always: Optional[Literal["no", "session", "global"]] = None, wider: Optional[bool] = None,
                     rules: Optional[str] = None, reason: Optional[str] = None) -> AnswerAnswer:
        """A person answers a question; never the connection that asked. The role `dialogue` may answer
        those of its own session.

        approval: the question's id
        decision: `skip`: do not run it, and continue
        always: remember the answer for this long
        wider: store the wider rules
        rules: store these instead: the text of a rule file that allows the command
        reason: the person's reason, for the agent
        """
        return await self._call("answer", {"approval": approval, "decision": decision, "always": always, "wider": wider, "rules": rules, "reason": reason})

    async def withdraw(self, approval: str) -> WithdrawAnswer:
        """Withdraws a question. Only the client that asked may do so.

        approval: the question's id
        """
        return await self._call("withdraw", {"approval": approval})

    async def rules(self, session: Optional[str] = None, *, cwd: Optional[str] = None) -> RulesAnswer:
        """The rules that hold in a folder for a session.

        session: whose; only a person may name another's
        cwd: the folder
        """
        return await self._call("rules", {"session": session, "cwd": cwd})

    async def rule_add(self, text: str, *, replaces: Optional[str] = None) -> RuleAddAnswer:
        """Adds rules to rules.toml; they count as confirmed.

        text: a rule file
        replaces: the name of rules that are replaced
        """
        return await self._call("rule_add", {"text": text, "replaces": replaces})

    async def rule_remove(self, name: str, *, scope: Optional[Literal["global", "session"]] = None,
                          session: Optional[str] = None) -> RuleRemoveAnswer:
        """Removes rules of that name.

        name: the rules' name
        scope: of rules.toml, or of a session
        session: whose
        """
        return await self._call("rule_remove", {"name": name, "scope": scope, "session": session})

    async def rules_unconfirmed(self, cwd: Optional[str] = None) -> RulesUnconfirmedAnswer:
        """Changes that loosen policy and were made without ttyward.

        cwd: the folder
        """
        return await self._call("rules_unconfirmed", {"cwd": cwd})

    async def rules_confirm(self, digest: str) -> RulesConfirmAnswer:
        """Confirms the files as they were shown.

        digest: of what was shown
        """
        return await self._call("rules_confirm", {"digest": digest})

    async def settings(self) -> SettingsAnswer:
        """What agents may do: the settings of the sections `policy` and `sandbox`."""
        return await self._call("settings", {})

    async def settings_change(self, changes: List[SettingsChangeRequestChanges], digest: str, *,
                              preview: Optional[bool] = None) -> SettingsChangeAnswer:
        """Changes settings of the sections `policy` and `sandbox` in config.toml, and nothing else in it.
        They count as confirmed and hold from the next command on.

        changes: what to change
        digest: of the file that was shown: if it is another one now, nothing is changed
        preview: only say what it would look like
        """
        return await self._call("settings_change", {"changes": changes, "digest": digest, "preview": preview})

    async def mode(self, session: Optional[str] = None, *,
                   set: Optional[Literal["plan", "default", "auto-edit", "auto", "yolo"]] = None) -> ModeAnswer:
        """The mode of a session; only a person sets it.

        session: whose; only a person may name another's
        set: the mode from now on
        """
        return await self._call("mode", {"session": session, "set": set})

    async def history(self, text: Optional[str] = None, *, failed: Optional[bool] = None, cwd: Optional[str] = None,
                      terminal: Optional[str] = None, task: Optional[str] = None, since_at: Optional[str] = None,
                      until_at: Optional[str] = None, limit: Optional[int] = None,
                      before: Optional[str] = None) -> HistoryAnswer:
        """What was run. An agent sees what agents ran.

        text: somewhere in the command
        failed: only those that failed
        cwd: in this folder or below
        terminal: in this terminal
        task: of this task
        since_at: at this moment or later
        until_at: before this moment
        limit: rows at most
        before: the next page: older than the row of this id
        """
        return await self._call("history", {"text": text, "failed": failed, "cwd": cwd, "terminal": terminal, "task": task, "since_at": since_at, "until_at": until_at, "limit": limit, "before": before})

    async def decisions(self, text: Optional[str] = None, *, failed: Optional[bool] = None,
                        cwd: Optional[str] = None, terminal: Optional[str] = None, task: Optional[str] = None,
                        since_at: Optional[str] = None, until_at: Optional[str] = None, limit: Optional[int] = None,
                        before: Optional[str] = None) -> DecisionsAnswer:
        """Decisions about commands and actions.

        text: somewhere in the command
        failed: only those that were denied
        cwd: in this folder or below
        terminal: in this terminal
        task: accepted and ignored
        since_at: at this moment or later
        until_at: before this moment
        limit: rows at most
        before: the next page: older than the row of this id
        """
        return await self._call("decisions", {"text": text, "failed": failed, "cwd": cwd, "terminal": terminal, "task": task, "since_at": since_at, "until_at": until_at, "limit": limit, "before": before})

    async def change_sets(self) -> ChangeSetsAnswer:
        """Lists the change sets that are kept."""
        return await self._call("change_sets", {})

    async def changes(self, command: str, *, paths: Optional[List[str]] = None, diff: Optional[bool] = None,
                      limit: Optional[int] = None) -> ChangesAnswer:
        """What a command changed that ran with `try`.

        command: the command's id
        paths: only these files and folders
        diff: show the lines, too
        limit: how many changes to list
        """
        return await self._call("changes", {"command": command, "paths": paths, "diff": diff, "limit": limit})

    async def apply(self, command: str, *, paths: Optional[List[str]] = None,
                    force: Optional[bool] = None) -> ApplyAnswer:
        """Puts the changes of a command that ran with `try` into the workspace.

        command: the command's id
        paths: only these files and folders
        force: replace what changed in the workspace meanwhile
        """
        return await self._call("apply", {"command": command, "paths": paths, "force": force})

    async def undo(self, cwd: Optional[str] = None, *, command: Optional[str] = None,
                   force: Optional[bool] = None) -> UndoAnswer:
        """Takes the changes back that were applied last, or those of one command.

        cwd: a folder of the workspace; this or `command`
        command: the command's id
        force: also where something changed since
        """
        return await self._call("undo", {"cwd": cwd, "command": command, "force": force})

    async def discard(self, command: str) -> DiscardAnswer:
        """Removes a change set. What was applied stays in the workspace and cannot be undone any more.

        command: the command's id
        """
        return await self._call("discard", {"command": command})

    async def status(self) -> StatusAnswer:
        """The state of the daemon."""
        return await self._call("status", {})

    async def metrics(self) -> MetricsAnswer:
        """Counts since the daemon started: commands by outcome, their durations and output, questions to
        people. See docs/observability.md."""
        return await self._call("metrics", {})

    async def reload(self) -> ReloadAnswer:
        """Reads config.toml and rules.toml again."""
        return await self._call("reload", {})

    async def stop(self, kill_terminals: Optional[bool] = None) -> StopAnswer:
        """Stops the daemon. Terminals stay alive unless `kill_terminals` is set.

        kill_terminals: end them, too
        """
        return await self._call("stop", {"kill_terminals": kill_terminals})


class Calls:
    """Every call of the daemon, blocking."""

    def _call(self, name: str, args: Dict[str, Any]) -> Any:
        raise NotImplementedError

    def _stream(self, name: str, args: Dict[str, Any]) -> Any:
        raise NotImplementedError

    def run(self, command: Optional[str] = None, *, argv: Optional[List[str]] = None,
            command_id: Optional[str] = None, description: Optional[str] = None, from_line: Optional[int] = None,
            cwd: Optional[str] = None, env: Optional[Dict[str, str]] = None,
            provider: Optional[Literal["pty", "pipe"]] = None, size: Optional[RunRequestSize] = None,
            timeout_ms: Optional[int] = None, idle_timeout_ms: Optional[int] = None,
            yield_after_ms: Optional[int] = None, keep_background: Optional[bool] = None, task: Optional[str] = None,
            stdin: Optional[str] = None, on_cancel: Optional[Literal["leave", "interrupt"]] = None,
            wait_for_input: Optional[bool] = None, sandbox: Optional[str] = None, place: Optional[str] = None,
            try_: Optional[bool] = None,
            view: Optional[Literal["default", "digest", "head", "tail", "full", "agent", "void", "roo", "gemini"]] = None,
            lines: Optional[int] = None, chars: Optional[int] = None) -> Result:
        """Runs one command in its own terminal, which is removed when the command ends.

        command: a line for the shell; this or `argv`
        argv: a program and its arguments, without a shell
        command_id: chosen by the client, a `c` and 12 characters of a-z and 2-7; a call that is
            repeated with the same id runs nothing twice
        description: what it is for, in the caller's words; kept in the history, and no part of any
            decision
        from_line: with `stream`, when the call is repeated: how many lines were received before
        cwd: where it runs
        env: variables to set
        provider: in a terminal, or on pipes
        size: of the terminal
        timeout_ms: time limit after which the command is stopped
        idle_timeout_ms: time without output after which the command is stopped
        yield_after_ms: after which the call answers with `state: running` and the command keeps
            running; 0: never
        keep_background: keep the processes that it leaves behind; otherwise they are stopped with it
        task: the task it is for
        stdin: its whole standard input, byte for byte, followed by end of file; without it, it reads
            the terminal
        on_cancel: what happens to the command when the call is cancelled
        wait_for_input: keep waiting when the command waits for input; otherwise the call answers
            then
        sandbox: the profile that confines it (docs/sandbox.md); an agent can only ask for a stricter
            one than is configured
        place: where it runs: `ssh:HOST`, `podman:NAME`, `docker:NAME` (docs/places.md); judged as
            the line that would run it there from here
        try_: run it on a layer over its workspace: the result lists what it changed, and the
            workspace has none of it until `apply` (docs/try.md)
        view: preset of how much output is returned; `agent` is the configured one, and a digest
            unless one is configured
        lines: lines of output at most, instead of the preset's
        chars: characters of output at most, instead of the preset's
        """
        return self._call("run", {"command": command, "argv": argv, "command_id": command_id, "description": description, "from_line": from_line, "cwd": cwd, "env": env, "provider": provider, "size": size, "timeout_ms": timeout_ms, "idle_timeout_ms": idle_timeout_ms, "yield_after_ms": yield_after_ms, "keep_background": keep_background, "task": task, "stdin": stdin, "on_cancel": on_cancel, "wait_for_input": wait_for_input, "sandbox": sandbox, "place": place, "try": try_, "view": view, "lines": lines, "chars": chars})

    def run_stream(self, command: Optional[str] = None, *, argv: Optional[List[str]] = None,
                   command_id: Optional[str] = None, description: Optional[str] = None,
                   from_line: Optional[int] = None, cwd: Optional[str] = None, env: Optional[Dict[str, str]] = None,
                   provider: Optional[Literal["pty", "pipe"]] = None, size: Optional[RunRequestSize] = None,
                   timeout_ms: Optional[int] = None, idle_timeout_ms: Optional[int] = None,
                   yield_after_ms: Optional[int] = None, keep_background: Optional[bool] = None,
                   task: Optional[str] = None, stdin: Optional[str] = None,
                   on_cancel: Optional[Literal["leave", "interrupt"]] = None, wait_for_input: Optional[bool] = None,
                   sandbox: Optional[str] = None, place: Optional[str] = None, try_: Optional[bool] = None,
                   view: Optional[Literal["default", "digest", "head", "tail", "full", "agent", "void", "roo", "gemini"]] = None,
                   lines: Optional[int] = None, chars: Optional[int] = None) -> Any:
        """As `run`; gives what it prints while it runs."""
        return self._stream("run", {"command": command, "argv": argv, "command_id": command_id, "description": description, "from_line": from_line, "cwd": cwd, "env": env, "provider": provider, "size": size, "timeout_ms": timeout_ms, "idle_timeout_ms": idle_timeout_ms, "yield_after_ms": yield_after_ms, "keep_background": keep_background, "task": task, "stdin": stdin, "on_cancel": on_cancel, "wait_for_input": wait_for_input, "sandbox": sandbox, "place": place, "try": try_, "view": view, "lines": lines, "chars": chars})

    def batch(self, commands: List[str], *, cwd: Optional[str] = None, env: Optional[Dict[str, str]] = None,
              task: Optional[str] = None, keep_going: Optional[bool] = None, separate: Optional[bool] = None,
              parallel: Optional[int] = None, timeout_ms: Optional[int] = None,
              idle_timeout_ms: Optional[int] = None, yield_after_ms: Optional[int] = None,
              batch_id: Optional[str] = None, sandbox: Optional[str] = None,
              view: Optional[Literal["default", "digest", "head", "tail", "full", "agent", "void", "roo", "gemini"]] = None,
              lines: Optional[int] = None, chars: Optional[int] = None) -> BatchAnswer:
        """Runs several commands, in one shell or each on its own. After `yield_after_ms` the running
        commands keep running, and the rest is not run.

        commands: 1 to 1000 command lines
        cwd: where they begin
        env: variables to set
        task: the task they are for
        keep_going: continue after a command that failed
        separate: run each on its own, with its own limits
        parallel: with `separate`: how many at once
        timeout_ms: time limit for all together; with `separate`, for each
        idle_timeout_ms: with `separate`: time without output, for each
        yield_after_ms: after which the call answers; 0: never
        batch_id: chosen by the client, at most 40 letters, digits, `-` and `_`; a call that is
            repeated with the same id runs nothing twice. In one shell the command with number n has the
            id `batch_id-n`
        sandbox: the profile that confines it (docs/sandbox.md); an agent can only ask for a stricter
            one than is configured
        view: preset of how much output is returned; `agent` is the configured one, and a digest
            unless one is configured
        lines: lines of output at most, instead of the preset's
        chars: characters of output at most, instead of the preset's
        """
        return self._call("batch", {"commands": commands, "cwd": cwd, "env": env, "task": task, "keep_going": keep_going, "separate": separate, "parallel": parallel, "timeout_ms": timeout_ms, "idle_timeout_ms": idle_timeout_ms, "yield_after_ms": yield_after_ms, "batch_id": batch_id, "sandbox": sandbox, "view": view, "lines": lines, "chars": chars})

    def open(self, name: Optional[str] = None, *, cwd: Optional[str] = None, shell: Optional[str] = None,
             shell_args: Optional[List[str]] = None, login: Optional[bool] = None,
             provider: Optional[Literal["pty", "pipe"]] = None, task: Optional[str] = None,
             owner: Optional[Literal["agent", "user", "system"]] = None, env: Optional[Dict[str, str]] = None,
             size: Optional[OpenRequestSize] = None, request: Optional[str] = None, sandbox: Optional[str] = None,
             place: Optional[str] = None) -> OpenAnswer:
        """Opens a terminal. Answers once its shell is ready, or integration has timed out.

        name: a name that no living terminal has
        cwd: where it begins
        shell: a path or a name; an agent is asked about what is in neither /etc/shells nor the
            configuration
        shell_args: for that shell; an agent is asked about them, as about a command
        login: a login shell
        provider: `pipe`: a shell without a terminal, whose commands read nothing, and to which
            nothing can be typed
        task: the task it is bound to
        owner: whose it is; an agent's are an agent's
        env: variables to set
        size: of the terminal
        request: chosen by the client; a call that is repeated with the same id opens no second
            terminal
        sandbox: the profile that confines it and all its commands (docs/sandbox.md); an agent can
            only ask for a stricter one than is configured
        place: where it is opened: `ssh:HOST`, `podman:NAME`, `docker:NAME` (docs/places.md); an
            agent is asked about, unless a rule allows it
        """
        return self._call("open", {"name": name, "cwd": cwd, "shell": shell, "shell_args": shell_args, "login": login, "provider": provider, "task": task, "owner": owner, "env": env, "size": size, "request": request, "sandbox": sandbox, "place": place})

    def acquire(self, cwd: Optional[str] = None, *, task: Optional[str] = None,
                provider: Optional[Literal["pty", "pipe"]] = None, wait_ms: Optional[int] = None) -> AcquireAnswer:
        """An idle terminal of the same provider, task and live cwd, else an idle one of the same provider
        and live cwd, else a new one. A terminal whose cwd is unknown never matches. It is bound to the
        task, and no other task gets it before a command was sent to it, it was released, or 30 s have
        passed. Where no more may be opened (`pool.limit`, `limits.terminals`) the call waits for one
        that fits to be free, or for room.

        cwd: where it has to be
        task: the task it is for
        provider: in a terminal, or on pipes
        wait_ms: how long to wait where no more may be opened; 0: not at all
        """
        return self._call("acquire", {"cwd": cwd, "task": task, "provider": provider, "wait_ms": wait_ms})

    def release(self, task: str) -> ReleaseAnswer:
        """Removes the task from its terminals; they stay open as background terminals.

        task: the task
        """
        return self._call("release", {"task": task})

    def exec(self, terminal: str, command: str, *, command_id: Optional[str] = None,
             description: Optional[str] = None, from_line: Optional[int] = None, cwd: Optional[str] = None,
             timeout_ms: Optional[int] = None, idle_timeout_ms: Optional[int] = None,
             yield_after_ms: Optional[int] = None, on_busy: Optional[Literal["fail", "wait"]] = None,
             on_cancel: Optional[Literal["leave", "interrupt"]] = None, wait_for_input: Optional[bool] = None,
             replies: Optional[List[ExecRequestReplies]] = None, replies_timeout_ms: Optional[int] = None,
             sentinel: Optional[bool] = None, sandbox: Optional[str] = None,
             view: Optional[Literal["default", "digest", "head", "tail", "full", "agent", "void", "roo", "gemini"]] = None,
             lines: Optional[int] = None, chars: Optional[int] = None) -> Result:
        """Runs a command in a terminal.

        terminal: its id or name
        command: the command line
        command_id: chosen by the client, a `c` and 12 characters of a-z and 2-7; a call that is
            repeated with the same id runs nothing twice
        description: what it is for, in the caller's words; kept in the history, and no part of any
            decision
        from_line: with `stream`, when the call is repeated: how many lines were received before
        cwd: for this command only
        timeout_ms: time limit after which the command is stopped; 0: never
        idle_timeout_ms: time without output after which the command is stopped; 0: never
        yield_after_ms: after which the call answers and the command keeps running; 0: never
        on_busy: what to do when another command runs there
        on_cancel: what happens to the command when the call is cancelled
        wait_for_input: keep waiting when the command waits for input; otherwise the call answers
            then
        replies: what to answer when the command asks
        replies_timeout_ms: how long to wait for each question; 0: for ever
        sentinel: type it into the program that reads the terminal now, such as ssh
        sandbox: the profile that must confine it at least; where the terminal's is weaker, the
            command runs beside the terminal, in its folder
        view: preset of how much output is returned; `agent` is the configured one, and a digest
            unless one is configured
        lines: lines of output at most, instead of the preset's
        chars: characters of output at most, instead of the preset's
        """
        return self._call("exec", {"terminal": terminal, "command": command, "command_id": command_id, "description": description, "from_line": from_line, "cwd": cwd, "timeout_ms": timeout_ms, "idle_timeout_ms": idle_timeout_ms, "yield_after_ms": yield_after_ms, "on_busy": on_busy, "on_cancel": on_cancel, "wait_for_input": wait_for_input, "replies": replies, "replies_timeout_ms": replies_timeout_ms, "sentinel": sentinel, "sandbox": sandbox, "view": view, "lines": lines, "chars": chars})

    def exec_stream(self, terminal: str, command: str, *, command_id: Optional[str] = None,
                    description: Optional[str] = None, from_line: Optional[int] = None, cwd: Optional[str] = None,
                    timeout_ms: Optional[int] = None, idle_timeout_ms: Optional[int] = None,
                    yield_after_ms: Optional[int] = None, on_busy: Optional[Literal["fail", "wait"]] = None,
                    on_cancel: Optional[Literal["leave", "interrupt"]] = None, wait_for_input: Optional[bool] = None,
                    replies: Optional[List[ExecRequestReplies]] = None, replies_timeout_ms: Optional[int] = None,
                    sentinel: Optional[bool] = None, sandbox: Optional[str] = None,
                    view: Optional[Literal["default", "digest", "head", "tail", "full", "agent", "void", "roo", "gemini"]] = None,
                    lines: Optional[int] = None, chars: Optional[int] = None) -> Any:
        """As `exec`; gives what it prints while it runs."""
        return self._stream("exec", {"terminal": terminal, "command": command, "command_id": command_id, "description": description, "from_line": from_line, "cwd": cwd, "timeout_ms": timeout_ms, "idle_timeout_ms": idle_timeout_ms, "yield_after_ms": yield_after_ms, "on_busy": on_busy, "on_cancel": on_cancel, "wait_for_input": wait_for_input, "replies": replies, "replies_timeout_ms": replies_timeout_ms, "sentinel": sentinel, "sandbox": sandbox, "view": view, "lines": lines, "chars": chars})

    def input(self, terminal: str, *, text: Optional[str] = None, keys: Optional[str] = None,
              paste: Optional[str] = None, secret: Optional[str] = None, base64: Optional[str] = None) -> InputAnswer:
        """Types into a terminal: exactly one kind of input.

        terminal: its id or name
        text: text; a line end is Enter
        keys: keys, such as "C-c Enter"
        paste: text to paste
        secret: typed only while echo is off, followed by Enter, never recorded
        base64: raw bytes
        """
        return self._call("input", {"terminal": terminal, "text": text, "keys": keys, "paste": paste, "secret": secret, "base64": base64})

    def interrupt(self, terminal: Optional[str] = None, *, command: Optional[str] = None) -> InterruptAnswer:
        """Interrupts the running command, as Ctrl-C does.

        terminal: its id or name; this or `command`
        command: the command's id
        """
        return self._call("interrupt", {"terminal": terminal, "command": command})

    def signal(self, signal: Optional[Union[int, str]], *, terminal: Optional[str] = None,
               command: Optional[str] = None,
               to: Optional[Literal["foreground", "leader", "all"]] = None) -> SignalAnswer:
        """Sends a signal.

        signal: a name or a number
        terminal: its id or name; this or `command`
        command: the command's id
        to: whom
        """
        return self._call("signal", {"signal": signal, "terminal": terminal, "command": command, "to": to})

    def kill(self, terminal: Optional[str] = None, *, command: Optional[str] = None,
             force: Optional[bool] = None) -> KillAnswer:
        """Ends a terminal or a command. When a command in a shell is ended, the shell stays.

        terminal: its id or name; this or `command`
        command: the command's id
        force: kill it at once, without asking it to exit
        """
        return self._call("kill", {"terminal": terminal, "command": command, "force": force})

    def resize(self, terminal: str, *, cols: Optional[int] = None, rows: Optional[int] = None) -> ResizeAnswer:
        """Sets the size of a terminal.

        terminal: its id or name
        cols: columns
        rows: rows
        """
        return self._call("resize", {"terminal": terminal, "cols": cols, "rows": rows})

    def wait(self, terminal: Optional[str] = None, *, command: Optional[str] = None, approval: Optional[str] = None,
             exit: Optional[bool] = None, pattern: Optional[str] = None, port: Optional[int] = None,
             file: Optional[str] = None, quiet_ms: Optional[int] = None, stable_ms: Optional[int] = None,
             input: Optional[bool] = None, prompt: Optional[bool] = None,
             from_: Optional[Literal["now", "start"]] = None, from_place: Optional[WaitRequestFromPlace] = None,
             only_new: Optional[bool] = None, timeout_ms: Optional[int] = None,
             view: Optional[Literal["default", "digest", "head", "tail", "full", "agent", "void", "roo", "gemini"]] = None,
             lines: Optional[int] = None, chars: Optional[int] = None) -> WaitAnswer:
        """Waits for the first of several conditions of a terminal, a command or a question.

        terminal: its id or name; this, `command` or `approval`
        command: the command's id
        approval: a question's id
        exit: the command has ended
        pattern: RE2; a line of the output matches
        port: a process of the command listens on it; 0: on any port
        file: it exists
        quiet_ms: nothing was printed for this long
        stable_ms: the screen did not change for this long
        input: the command waits for input
        prompt: the terminal is idle
        from_: where `pattern` begins to look
        from_place: the same, for a wait that is repeated
        only_new: the result's output is what this reader has not seen
        timeout_ms: after which it answers `timeout`; 0: never
        view: preset of how much output is returned; `agent` is the configured one, and a digest
            unless one is configured
        lines: lines of output at most, instead of the preset's
        chars: characters of output at most, instead of the preset's
        """
        return self._call("wait", {"terminal": terminal, "command": command, "approval": approval, "exit": exit, "pattern": pattern, "port": port, "file": file, "quiet_ms": quiet_ms, "stable_ms": stable_ms, "input": input, "prompt": prompt, "from": from_, "from_place": from_place, "only_new": only_new, "timeout_ms": timeout_ms, "view": view, "lines": lines, "chars": chars})

    def read(self, terminal: Optional[str] = None, *, command: Optional[str] = None,
             range: Optional[List[int]] = None, columns: Optional[List[int]] = None, tail: Optional[int] = None,
             grep: Optional[str] = None, context: Optional[int] = None, most: Optional[int] = None,
             new: Optional[bool] = None, raw: Optional[ReadRequestRaw] = None, reader: Optional[str] = None,
             ansi: Optional[bool] = None,
             view: Optional[Literal["default", "digest", "head", "tail", "full", "agent", "void", "roo", "gemini"]] = None,
             lines: Optional[int] = None, chars: Optional[int] = None) -> ReadAnswer:
        """Any part of the output: one of `range`, `tail`, `grep`, `new` and `raw`; without any, all of it,
        cut to size.

        terminal: its id or name; this or `command`
        command: the command's id
        range: two line numbers: these lines
        columns: with `range`: of each line these characters
        tail: the last lines
        grep: RE2; the lines that match
        context: with `grep`: lines before and after
        most: with `grep`: matches at most
        new: what this reader has not seen
        raw: bytes as they were printed
        reader: the reader whose unread output is returned
        ansi: with colours, as escape sequences
        view: preset of how much output is returned; `agent` is the configured one, and a digest
            unless one is configured
        lines: lines of output at most, instead of the preset's
        chars: characters of output at most, instead of the preset's
        """
        return self._call("read", {"terminal": terminal, "command": command, "range": range, "columns": columns, "tail": tail, "grep": grep, "context": context, "most": most, "new": new, "raw": raw, "reader": reader, "ansi": ansi, "view": view, "lines": lines, "chars": chars})

    def recording(self, terminal: Optional[str] = None, *, command: Optional[str] = None,
                  offset: Optional[int] = None, bytes: Optional[int] = None) -> RecordingAnswer:
        """A part of what a terminal or a command printed, with the times, sizes and gaps a recording is
        made of.

        terminal: its id or name; this or `command`
        command: the command's id
        offset: where to go on
        bytes: how many at most
        """
        return self._call("recording", {"terminal": terminal, "command": command, "offset": offset, "bytes": bytes})

    def result(self, command: str, *,
               view: Optional[Literal["default", "digest", "head", "tail", "full", "agent", "void", "roo", "gemini"]] = None,
               lines: Optional[int] = None, chars: Optional[int] = None) -> Result:
        """A command's result as it is now.

        command: its id
        view: preset of how much output is returned; `agent` is the configured one, and a digest
            unless one is configured
        lines: lines of output at most, instead of the preset's
        chars: characters of output at most, instead of the preset's
        """
        return self._call("result", {"command": command, "view": view, "lines": lines, "chars": chars})

    def screen(self, terminal: str, *, format: Optional[Literal["text", "ansi", "json", "html", "svg"]] = None,
               history: Optional[int] = None) -> ScreenAnswer:
        """What the screen shows now.

        terminal: its id or name
        format: how it is written
        history: lines above the screen; text only
        """
        return self._call("screen", {"terminal": terminal, "format": format, "history": history})

    def list(self, task: Optional[str] = None, *, owner: Optional[Literal["agent", "user", "system"]] = None,
             all: Optional[bool] = None, background: Optional[bool] = None) -> ListAnswer:
        """Terminals that the caller may see.

        task: of this task
        owner: of this owner
        all: include terminals that have ended
        background: without a task
        """
        return self._call("list", {"task": task, "owner": owner, "all": all, "background": background})

    def show(self, terminal: str, *, most: Optional[int] = None) -> ShowAnswer:
        """A terminal with its commands, processes and ports.

        terminal: its id or name
        most: commands at most
        """
        return self._call("show", {"terminal": terminal, "most": most})

    def lend(self, terminal: str, *, read_only: Optional[bool] = None, to: Optional[str] = None,
             back: Optional[bool] = None) -> LendAnswer:
        """Lends a person's terminal to agents, for use or only for reading, until it is taken back.

        terminal: its id or name
        read_only: only for reading
        to: a session
        back: take it back
        """
        return self._call("lend", {"terminal": terminal, "read_only": read_only, "to": to, "back": back})

    def person_token(self, new: Optional[bool] = None) -> PersonTokenAnswer:
        """The token for `hello.token`.

        new: make a new one; the old one is no longer valid
        """
        return self._call("person_token", {"new": new})

    def resume(self, terminal: str, *, bytes: Optional[int] = None) -> ResumeAnswer:
        """Resumes a terminal that is paused because its journal is at its quota (`overflow = "pause"`),
        with more space.

        terminal: its id or name
        bytes: how much more; an agent gets at most `limits.journal`
        """
        return self._call("resume", {"terminal": terminal, "bytes": bytes})

    def rename(self, terminal: str, *, name: Optional[str] = None) -> RenameAnswer:
        """Names a terminal. A name that another living one has is refused.

        terminal: its id or name
        name: the new name; empty: none
        """
        return self._call("rename", {"terminal": terminal, "name": name})

    def assign(self, terminal: str, *, task: Optional[str] = None) -> AssignAnswer:
        """Binds a terminal to a task.

        terminal: its id or name
        task: the task; empty: none
        """
        return self._call("assign", {"terminal": terminal, "task": task})

    def associate(self, terminal: str, session: str, *, quality: Optional[str] = None) -> AssociateAnswer:
        """Associates a terminal with a session.

        terminal: its id or name
        session: the session; an agent's own
        quality: how close the association is
        """
        return self._call("associate", {"terminal": terminal, "session": session, "quality": quality})

    def session_terminals(self, session: str) -> SessionTerminalsAnswer:
        """The terminals of a session.

        session: the session
        """
        return self._call("session_terminals", {"session": session})

    def session_cwd(self, session: str) -> SessionCwdAnswer:
        """Where a session works.

        session: the session
        """
        return self._call("session_cwd", {"session": session})

    def path_add(self, contributor: str, path: str, *, description: Optional[str] = None,
                 prepend: Optional[bool] = None) -> PathAddAnswer:
        """Adds a folder to the PATH of terminals opened from now on.

        contributor: who wants it
        path: an absolute folder without a colon
        description: what for
        prepend: before the others
        """
        return self._call("path_add", {"contributor": contributor, "path": path, "description": description, "prepend": prepend})

    def path_remove(self, contributor: str) -> PathRemoveAnswer:
        """Removes what a contributor added.

        contributor: whose
        """
        return self._call("path_remove", {"contributor": contributor})

    def path_list(self) -> PathListAnswer:
        """The folders that were added."""
        return self._call("path_list", {})

    def environment(self, task: Optional[str] = None, *, reader: Optional[str] = None, edited: Optional[bool] = None,
                    cool_down_ms: Optional[int] = None,
                    view: Optional[Literal["default", "digest", "head", "tail", "full", "agent", "void", "roo", "gemini"]] = None,
                    lines: Optional[int] = None, chars: Optional[int] = None) -> EnvironmentAnswer:
        """What is running where, and what is new since this reader last asked.

        task: terminals of this task, and of none
        reader: the reader whose unread output is returned
        edited: a file was just written
        cool_down_ms: how long to wait for terminals that are still printing
        view: preset of how much output is returned; `agent` is the configured one, and a digest
            unless one is configured
        lines: lines of output at most, instead of the preset's
        chars: characters of output at most, instead of the preset's
        """
        return self._call("environment", {"task": task, "reader": reader, "edited": edited, "cool_down_ms": cool_down_ms, "view": view, "lines": lines, "chars": chars})

    def attach(self, terminal: str, *, read_only: Optional[bool] = None, take: Optional[bool] = None,
               give_back_ms: Optional[int] = None, size: Optional[AttachRequestSize] = None) -> AttachAnswer:
        """Watches a terminal's screen and, for a person, takes the keyboard. Events `attach_screen`,
        `attach_keyboard` and `attach_closed` follow.

        terminal: its id or name
        read_only: only watch
        take: take the keyboard from another person
        give_back_ms: after so long without `attach_input` the keyboard is given back, and the caller
            watches; 0: never
        size: who takes the keyboard gives the terminal this size
        """
        return self._call("attach", {"terminal": terminal, "read_only": read_only, "take": take, "give_back_ms": give_back_ms, "size": size})

    def attach_input(self, subscription: Optional[int] = None, *, base64: Optional[str] = None,
                     keys: Optional[str] = None) -> AttachInputAnswer:
        """Sends what a person types.

        subscription: of the attachment
        base64: the bytes
        keys: keys, such as "C-c Up", encoded as the terminal's modes want them; instead of `base64`
        """
        return self._call("attach_input", {"subscription": subscription, "base64": base64, "keys": keys})

    def attach_resize(self, subscription: Optional[int] = None, *, cols: Optional[int] = None,
                      rows: Optional[int] = None) -> AttachResizeAnswer:
        """The screen of whoever has the keyboard has another size, and so has the terminal; of others
        nothing happens.

        subscription: of the attachment
        cols: columns
        rows: rows
        """
        return self._call("attach_resize", {"subscription": subscription, "cols": cols, "rows": rows})

    def detach(self, subscription: Optional[int] = None) -> DetachAnswer:
        """Ends an attachment.

        subscription: of the attachment
        """
        return self._call("detach", {"subscription": subscription})

    def select(self, terminal: Optional[str] = None, *, range: Optional[List[int]] = None,
               clear: Optional[bool] = None) -> SelectAnswer:
        """Marks text of a terminal for agents that may read it: `environment` tells them. One thing is
        marked at a time, and not beyond the daemon's life.

        terminal: its id or name; `@active`: the one a person attached to last
        range: two line numbers: these lines
        clear: nothing is marked any more
        """
        return self._call("select", {"terminal": terminal, "range": range, "clear": clear})

    def subscribe(self, terminal: Optional[str] = None, *, kinds: Optional[List[str]] = None,
                  text: Optional[bool] = None) -> SubscribeAnswer:
        """Subscribes to events.

        terminal: only events of this terminal
        kinds: names of events
        text: with `terminal`: output events carry the text
        """
        return self._call("subscribe", {"terminal": terminal, "kinds": kinds, "text": text})

    def unsubscribe(self, subscription: Optional[int] = None) -> UnsubscribeAnswer:
        """Ends a subscription.

        subscription: its number
        """
        return self._call("unsubscribe", {"subscription": subscription})

    def check(self, command: str, *, cwd: Optional[str] = None,
              mode: Optional[Literal["plan", "default", "auto-edit", "auto", "yolo"]] = None,
              session: Optional[str] = None) -> Verdict:
        """What policy would say if an agent asked. Runs nothing.

        command: the command line
        cwd: where it would run
        mode: with this mode
        session: whose rules count; only a person may name another's
        """
        return self._call("check", {"command": command, "cwd": cwd, "mode": mode, "session": session})

    def permit(self, command: Optional[str] = None, *, argv: Optional[List[str]] = None, cwd: Optional[str] = None,
               task: Optional[str] = None) -> PermitAnswer:
        """Whether an agent may run a command with its own tools, outside ttyward. Policy decides; where it
        asks, a person is asked, and the call answers when the question is closed. Runs nothing.

        command: a line for the shell; this or `argv`
        argv: a program and its arguments, without a shell
        cwd: where it would run
        task: the task it is for
        """
        return self._call("permit", {"command": command, "argv": argv, "cwd": cwd, "task": task})

    def told(self, command: str, *, cwd: Optional[str] = None, task: Optional[str] = None,
             description: Optional[str] = None, exit_code: Optional[int] = None, signal: Optional[str] = None,
             duration_ms: Optional[int] = None, bytes: Optional[int] = None,
             lines: Optional[int] = None) -> ToldAnswer:
        """Adds a command to the history that an agent ran with its own tools. ttyward observed nothing of
        it: `known_by` is `told`.

        command: as the agent tells it
        cwd: where it ran
        task: the task it was for
        description: what it is for, in the caller's words; kept in the history, and no part of any
            decision
        exit_code: as the agent tells it
        signal: what killed it
        duration_ms: how long it ran
        bytes: of output that the agent showed
        lines: the same
        """
        return self._call("told", {"command": command, "cwd": cwd, "task": task, "description": description, "exit_code": exit_code, "signal": signal, "duration_ms": duration_ms, "bytes": bytes, "lines": lines})

    def agent(self, name: str, *, version: Optional[str] = None,
              shell: Optional[Literal["terminals", "mcp", "not_governed"]] = None,
              note: Optional[str] = None) -> AgentAnswer:
        """Says which agent this connection serves. `status` lists it until the connection ends.

        name: what it calls itself
        version: the same
        shell: how its commands reach ttyward
        note: in words
        """
        return self._call("agent", {"name": name, "version": version, "shell": shell, "note": note})

    def approvals(self, all: Optional[bool] = None) -> ApprovalsAnswer:
        """Lists questions to people.

        all: include closed questions
        """
        return self._call("approvals", {"all": all})

    def answer(self, approval: str, decision: Optional[Literal["allow", "deny", "skip"]], *,
               always: Optional[Literal["no", "session", "global"]] = None, wider: Optional[bool] = None,
               rules: Optional[str] = None, reason: Optional[str] = None) -> AnswerAnswer:
        """A person answers a question; never the connection that asked. The role `dialogue` may answer
        those of its own session.

        approval: the question's id
        decision: `skip`: do not run it, and continue
        always: remember the answer for this long
        wider: store the wider rules
        rules: store these instead: the text of a rule file that allows the command
        reason: the person's reason, for the agent
        """
        return self._call("answer", {"approval": approval, "decision": decision, "always": always, "wider": wider, "rules": rules, "reason": reason})

    def withdraw(self, approval: str) -> WithdrawAnswer:
        """Withdraws a question. Only the client that asked may do so.

        approval: the question's id
        """
        return self._call("withdraw", {"approval": approval})

    def rules(self, session: Optional[str] = None, *, cwd: Optional[str] = None) -> RulesAnswer:
        """The rules that hold in a folder for a session.

        session: whose; only a person may name another's
        cwd: the folder
        """
        return self._call("rules", {"session": session, "cwd": cwd})

    def rule_add(self, text: str, *, replaces: Optional[str] = None) -> RuleAddAnswer:
        """Adds rules to rules.toml; they count as confirmed.

        text: a rule file
        replaces: the name of rules that are replaced
        """
        return self._call("rule_add", {"text": text, "replaces": replaces})

    def rule_remove(self, name: str, *, scope: Optional[Literal["global", "session"]] = None,
                    session: Optional[str] = None) -> RuleRemoveAnswer:
        """Removes rules of that name.

        name: the rules' name
        scope: of rules.toml, or of a session
        session: whose
        """
        return self._call("rule_remove", {"name": name, "scope": scope, "session": session})

    def rules_unconfirmed(self, cwd: Optional[str] = None) -> RulesUnconfirmedAnswer:
        """Changes that loosen policy and were made without ttyward.

        cwd: the folder
        """
        return self._call("rules_unconfirmed", {"cwd": cwd})

    def rules_confirm(self, digest: str) -> RulesConfirmAnswer:
        """Confirms the files as they were shown.

        digest: of what was shown
        """
        return self._call("rules_confirm", {"digest": digest})

    def settings(self) -> SettingsAnswer:
        """What agents may do: the settings of the sections `policy` and `sandbox`."""
        return self._call("settings", {})

    def settings_change(self, changes: List[SettingsChangeRequestChanges], digest: str, *,
                        preview: Optional[bool] = None) -> SettingsChangeAnswer:
        """Changes settings of the sections `policy` and `sandbox` in config.toml, and nothing else in it.
        They count as confirmed and hold from the next command on.

        changes: what to change
        digest: of the file that was shown: if it is another one now, nothing is changed
        preview: only say what it would look like
        """
        return self._call("settings_change", {"changes": changes, "digest": digest, "preview": preview})

    def mode(self, session: Optional[str] = None, *,
             set: Optional[Literal["plan", "default", "auto-edit", "auto", "yolo"]] = None) -> ModeAnswer:
        """The mode of a session; only a person sets it.

        session: whose; only a person may name another's
        set: the mode from now on
        """
        return self._call("mode", {"session": session, "set": set})

    def history(self, text: Optional[str] = None, *, failed: Optional[bool] = None, cwd: Optional[str] = None,
                terminal: Optional[str] = None, task: Optional[str] = None, since_at: Optional[str] = None,
                until_at: Optional[str] = None, limit: Optional[int] = None,
                before: Optional[str] = None) -> HistoryAnswer:
        """What was run. An agent sees what agents ran.

        text: somewhere in the command
        failed: only those that failed
        cwd: in this folder or below
        terminal: in this terminal
        task: of this task
        since_at: at this moment or later
        until_at: before this moment
        limit: rows at most
        before: the next page: older than the row of this id
        """
        return self._call("history", {"text": text, "failed": failed, "cwd": cwd, "terminal": terminal, "task": task, "since_at": since_at, "until_at": until_at, "limit": limit, "before": before})

    def decisions(self, text: Optional[str] = None, *, failed: Optional[bool] = None, cwd: Optional[str] = None,
                  terminal: Optional[str] = None, task: Optional[str] = None, since_at: Optional[str] = None,
                  until_at: Optional[str] = None, limit: Optional[int] = None,
                  before: Optional[str] = None) -> DecisionsAnswer:
        """Decisions about commands and actions.

        text: somewhere in the command
        failed: only those that were denied
        cwd: in this folder or below
        terminal: in this terminal
        task: accepted and ignored
        since_at: at this moment or later
        until_at: before this moment
        limit: rows at most
        before: the next page: older than the row of this id
        """
        return self._call("decisions", {"text": text, "failed": failed, "cwd": cwd, "terminal": terminal, "task": task, "since_at": since_at, "until_at": until_at, "limit": limit, "before": before})

    def change_sets(self) -> ChangeSetsAnswer:
        """Lists the change sets that are kept."""
        return self._call("change_sets", {})

    def changes(self, command: str, *, paths: Optional[List[str]] = None, diff: Optional[bool] = None,
                limit: Optional[int] = None) -> ChangesAnswer:
        """What a command changed that ran with `try`.

        command: the command's id
        paths: only these files and folders
        diff: show the lines, too
        limit: how many changes to list
        """
        return self._call("changes", {"command": command, "paths": paths, "diff": diff, "limit": limit})

    def apply(self, command: str, *, paths: Optional[List[str]] = None, force: Optional[bool] = None) -> ApplyAnswer:
        """Puts the changes of a command that ran with `try` into the workspace.

        command: the command's id
        paths: only these files and folders
        force: replace what changed in the workspace meanwhile
        """
        return self._call("apply", {"command": command, "paths": paths, "force": force})

    def undo(self, cwd: Optional[str] = None, *, command: Optional[str] = None,
             force: Optional[bool] = None) -> UndoAnswer:
        """Takes the changes back that were applied last, or those of one command.

        cwd: a folder of the workspace; this or `command`
        command: the command's id
        force: also where something changed since
        """
        return self._call("undo", {"cwd": cwd, "command": command, "force": force})

    def discard(self, command: str) -> DiscardAnswer:
        """Removes a change set. What was applied stays in the workspace and cannot be undone any more.

        command: the command's id
        """
        return self._call("discard", {"command": command})

    def status(self) -> StatusAnswer:
        """The state of the daemon."""
        return self._call("status", {})

    def metrics(self) -> MetricsAnswer:
        """Counts since the daemon started: commands by outcome, their durations and output, questions to
        people. See docs/observability.md."""
        return self._call("metrics", {})

    def reload(self) -> ReloadAnswer:
        """Reads config.toml and rules.toml again."""
        return self._call("reload", {})

    def stop(self, kill_terminals: Optional[bool] = None) -> StopAnswer:
        """Stops the daemon. Terminals stay alive unless `kill_terminals` is set.

        kill_terminals: end them, too
        """
        return self._call("stop", {"kill_terminals": kill_terminals})
