// Keeping a shell's marks: the nonce it takes for each command, what must not reach its prompt, and what to
// do when a shell without marks reads the terminal.
//
// The kernel tells: a shell is blocked reading the terminal the way its line editor does, and no mark came.
// If that shell cannot be the one we hooked (it was replaced by exec, or runs inside it), or an interrupt did
// not bring a mark either, the command that led there is closed and the shell is given our hooks by one typed
// line. If it does not take them, commands go by sentinel, and every result says so.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "base/ids.h"
#include "engine/json_fields.h"
#include "engine/terminal.h"
#include "pty/proc.h"

namespace ttyward::engine {
namespace {

constexpr std::chrono::milliseconds kPromptPause{150};
// A shell that has read a command and waits again after this time has no mark to say so.
constexpr std::chrono::milliseconds kLongestStart{1000};
constexpr std::chrono::milliseconds kIntegrationTime{3000};
constexpr int kMostIntegrations = 2;  // without a command that ended with its mark in between

std::string target_of(const std::string& link) {
  char buffer[PATH_MAX];
  const ssize_t n = ::readlink(link.c_str(), buffer, sizeof buffer);
  return n > 0 ? std::string(buffer, static_cast<size_t>(n)) : std::string();
}

bool write_file(const std::string& path, std::string_view content) {
  ::unlink(path.c_str());
  const base::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return false;
  while (!content.empty()) {
    const ssize_t n = ::write(file.get(), content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    content.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

// Whether a program that passes on what is typed (ssh, a container's client) has a shell at its other end.
bool opens_shell_elsewhere(const std::vector<std::string>& argv) {
  if (argv.empty()) return false;
  const std::string name = argv[0].substr(argv[0].rfind('/') + 1);
  if (name == "ssh") {
    size_t words = 0;
    for (size_t i = 1; i < argv.size(); i++) {
      if (argv[i] == "-N" || argv[i] == "-f" || argv[i] == "-W") return false;
      if (words == 0 && argv[i].size() == 2 && argv[i][0] == '-' &&
          std::string_view("bcDEeFIiJLlmOopQRSw").find(argv[i][1]) != std::string_view::npos) {
        i++;
      } else if (!argv[i].starts_with('-') || words > 0) {
        words++;
      }
    }
    return words == 1;
  }
  return argv.size() > 1 && shell::identify_shell({argv.back()}).kind != shell::ShellKind::Other;
}

// Whether a shell started like this reads its commands from the terminal: no script, no -c.
bool reads_commands(const std::vector<std::string>& argv) {
  const bool multi_call = !argv.empty() && argv[0].ends_with("busybox");
  for (size_t i = multi_call ? 2 : 1; i < argv.size(); i++) {
    const std::string& word = argv[i];
    if (word == "--init-file" || word == "--rcfile" || word == "--init-command" || word == "-C" ||
        word == "-o" || word == "-O" || word == "+O" || word == "+o") {
      i++;
    } else if (word.starts_with("--")) {
      if (word == "--" || word == "--command") return false;
    } else if (word.size() < 2 || (word[0] != '-' && word[0] != '+') || word.find('c') != std::string::npos) {
      return false;
    }
  }
  return true;
}

bool ends_like_a_prompt(std::string_view line) {
  while (line.ends_with(' ')) line.remove_suffix(1);
  return !line.empty() && std::string_view("$#%>").find(line.back()) != std::string_view::npos;
}

// Whether running it changes how a shell prompts.
bool touches_prompts(std::string_view text) {
  for (const char* name : {"PROMPT_COMMAND", "PS0", "PS1", "precmd", "preexec", "fish_prompt"}) {
    if (text.find(name) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

const shell::ReadingState& Terminal::reading() const {
  static const shell::ReadingState kUnknown;
  return tracker_ ? tracker_->reading() : kUnknown;
}

bool Terminal::settled() const {
  if (closed_ || !tracker_ || on_pipes()) return true;
  return !integrating_ && tracker_->state() != shell::CommandTracker::State::Prompt;
}

base::Result<void> Terminal::open_nonce_file() {
  const std::string path = private_folder_ + "/" + shell::kNextNonceFile;
  nonce_file_.reset(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  typed_ = ::access((private_folder_ + "/" + shell::kTypedFile).c_str(), F_OK) == 0;
  if (!nonce_file_) return base::fail_errno(errno, "cannot write " + path);
  return {};
}

void Terminal::hand_over_nonce() {
  const std::string line = tracker_->next_nonce() + "\n";
  if (nonce_file_) (void)!::pwrite(nonce_file_.get(), line.data(), line.size(), 0);
}

// It was taken: programs of the command find nothing. In place, because some file systems write a file out
// that was cut and filled again.
void Terminal::blank_nonce() {
  if (replaying_ || !nonce_file_) return;
  const std::string blank(tracker_->next_nonce().size() + 1, '\n');
  (void)!::pwrite(nonce_file_.get(), blank.data(), blank.size(), 0);
}

// Before anything is typed to a running command: what it leaves unread must not become the shell's next
// command.
void Terminal::note_typed() {
  if (typed_ || replaying_ || !nonce_file_ || !tracker_) return;
  if (tracker_->state() != shell::CommandTracker::State::Executing) return;
  const std::string path = private_folder_ + "/" + shell::kTypedFile;
  typed_ = base::UniqueFd(::open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)).valid();
}

void Terminal::forget_typed() {
  if (!std::exchange(typed_, false)) return;
  ::unlink((private_folder_ + "/" + shell::kTypedFile).c_str());
  clear_line_ = true;
}

// Who, if a shell waits for a command: it reads, the way its editor does, and it has no script to read from.
std::optional<Terminal::ShellAtPrompt> Terminal::shell_at_prompt(const pty::RunState& state) const {
  if (!state.terminal) return std::nullopt;
  const pty::TerminalMode& mode = *state.terminal;
  if (!state.waiting) {
    const bool elsewhere = state.listened && mode.line_editor && mode.foreground > 0 &&
                           opens_shell_elsewhere(pty::read_arguments(mode.foreground)) &&
                           ends_like_a_prompt(output_->cursor_line());
    if (!elsewhere) return std::nullopt;
    return ShellAtPrompt{mode.foreground, shell::ShellKind::Other,
                         pty::read_command_line(mode.foreground, 80)};
  }
  const pid_t pid = state.waiting->pid;
  const auto argv = pty::read_arguments(pid);
  const auto identity = shell::identify_shell(argv, target_of("/proc/" + std::to_string(pid) + "/exe"));
  if (identity.kind == shell::ShellKind::Other || !reads_commands(argv)) return std::nullopt;
  bool prompts = mode.line_editor;
  if (identity.kind == shell::ShellKind::Dash || identity.kind == shell::ShellKind::PosixSh) {
    prompts = mode.line_editor || mode.canonical;
  } else if (identity.kind == shell::ShellKind::BusyboxAsh || identity.kind == shell::ShellKind::Ksh ||
             identity.kind == shell::ShellKind::Mksh) {
    prompts = !mode.canonical && !mode.echo;
  }
  if (!prompts) return std::nullopt;
  return ShellAtPrompt{pid, identity.kind, state.waiting->program};
}

// A shell may also read on behalf of a command (`read -e`). So the marks are missed only where they cannot
// come.
std::optional<std::string> Terminal::why_unmarked(const ShellAtPrompt& reader, const Command* command) const {
  if (reader.kind == shell::ShellKind::Other)
    return "a shell elsewhere reads the terminal (" + reader.program + ")";
  if (reader.pid != shell_pid()) {
    return reader.program + " (process " + std::to_string(reader.pid) +
           "), started inside the shell, reads the terminal now";
  }
  if (command == nullptr) return "the shell that reads the terminal has none of our hooks";
  const auto image = pty::read_image(child_pid_);
  if (reader.pid == child_pid_ && image_ && image && *image != *image_) {
    return "the shell was replaced by " + reader.program + " (exec)";
  }
  const bool unread = !command->started_seen && Clock::now() - command->last_output > kLongestStart;
  if (command->interrupted || command->answered || unread || touches_prompts(command->delivered)) {
    return "the shell prompts without marks: something took our hooks out";
  }
  return std::nullopt;
}

// True: a shell without marks reads, or seems to; whatever else the kernel said is not about the command.
bool Terminal::consider_unmarked(const pty::RunState& state) {
  const Command* command = current_;
  if (!tracker_ || expected_ == shell::Quality::None || integrating_ || killing_ || replaying_) return false;
  if (command != nullptr && !command->sentinel_nonce.empty()) return false;
  // A person's keyboard is theirs: nothing is typed between their keys.
  if (lease_ || (command != nullptr && command->by == Owner::User && spec_.owner != Owner::Agent))
    return false;
  const auto reader = shell_at_prompt(state);
  const auto why = reader ? why_unmarked(*reader, command) : std::nullopt;
  if (!why) {
    prompt_looks_ = 0;
    return false;
  }
  if (++prompt_looks_ >= 2) marks_lost(*reader, *why);
  return true;
}

// While it starts, or after an interrupt: whether or not anybody waits for an answer.
void Terminal::look_for_prompt(int looks) {
  if (prompt_timer_ != 0 || looks <= 0) return;
  prompt_timer_ = host_.loop.after(kPromptPause, [this, looks] {
    prompt_timer_ = 0;
    if (closed_ || !link_ || integrating_) return;
    if (ready_ && (current_ == nullptr || current_->over)) return;
    if (Clock::now() - last_output_ < kPromptPause) return look_for_prompt(looks - 1);
    ask_kernel([this, looks](const base::Result<pty::RunState>& state) {
      if (closed_ || (ready_ && current_ == nullptr)) return;
      if (state && !output_unread(*state)) consider_unmarked(*state);
      look_for_prompt(looks - 1);
    });
  });
}

void Terminal::marks_lost(const ShellAtPrompt& reader, const std::string& why) {
  prompt_looks_ = 0;
  const bool inside = reader.pid != shell_pid();
  log({{"k", "unmarked"}, {"at", read_to_}, {"why", why}, {"inner", inside}, {"pid", reader.pid}});
  unmarked_reason_ = why;
  fallback_reason_ = why;
  marks_lost_ = true;
  clear_line_ = false;
  tracker_->prompt_seen_unmarked(read_to_, why, inside);
  for (shell::TrackerEvent& event : tracker_->take_events()) handle(std::move(event));
  unmarked_reason_.clear();
  if (inside) inner_shells_.push_back(reader.pid);
  identity_.kind = reader.kind;
  changed(kMeta);
  if (failed_integrations_ >= kMostIntegrations) return integration_given_up();
  integrate(reader);
}

void Terminal::integrate(const ShellAtPrompt& reader) {
  failed_integrations_++;
  shell::ShellSpec spec;
  spec.private_folder = private_folder_;
  spec.history = host_.settings.history;
  spec.report_environment = host_.settings.report_environment;
  if (!shell::integrate_later(reader.kind, spec)) return integration_given_up();
  log({{"k", "integrate"}, {"at", read_to_}, {"shell", shell::shell_kind_name(reader.kind)}});
  tracker_->integrate(reader.kind, shell::attainable_quality(reader.kind));
  spec.nonce = tracker_->nonce();
  const auto late = shell::integrate_later(reader.kind, spec);
  if (!write_file(late->file.path, late->file.content)) return integration_given_up();
  remove_when_ready_.push_back(late->file.path);
  hand_over_nonce();
  integrating_ = true;
  integrate_timer_ = host_.loop.after(kIntegrationTime, [this] {
    integrate_timer_ = 0;
    integration_given_up();
  });
  send_bytes(std::string(shell::kClearLine) + late->line + "\r", {});
}

void Terminal::shell_integrated() {
  integrating_ = false;
  host_.loop.cancel(integrate_timer_);
  marks_lost_ = false;
  fallback_reason_.clear();
  changed(kMeta);
}

// The shell that reads now has no marks and gets none.
void Terminal::integration_given_up() {
  integrating_ = false;
  host_.loop.cancel(integrate_timer_);
  remove_start_files();
  fallback_reason_ += "; it takes no hooks, so commands are followed by a sentinel";
  if (!ready_) integration_timed_out();
  if (queued_ != nullptr && queued_->sentinel_nonce.empty()) queued_->sentinel_nonce = base::random_nonce();
  changed(kMeta | kPrompt);
  pump();
}

// The shell that started the one which read until now goes on.
void Terminal::shell_returned() {
  inner_shells_.resize(std::min(inner_shells_.size(), tracker_->depth()));
  identity_.kind = tracker_->kind();
  cwd_ = tracker_->cwd();  // the outer shell's; the inner one may have stood elsewhere
  cwd_known_by_ = "shell";
  integrating_ = false;
  host_.loop.cancel(integrate_timer_);
  marks_lost_ = false;
  fallback_reason_.clear();
}

}  // namespace ttyward::engine
