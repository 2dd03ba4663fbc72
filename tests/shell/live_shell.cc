#include "shell/live_shell.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/ids.h"
#include "shell/mark_nonce.h"

namespace ttyward::shell::testing {
namespace {

namespace fs = std::filesystem;
using pty::testing::Clock;

// Far beyond what any of it takes on a loaded machine.
constexpr auto kPatience = std::chrono::seconds(60);

void write_file(const std::string& path, const std::string& content, uint32_t mode) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << content;
  ::chmod(path.c_str(), mode);
}

}  // namespace

std::string visible(std::string_view output) {
  std::string out;
  bool only_escapes = false;
  for (size_t i = 0; i < output.size(); i++) {
    if (output[i] != '\x1b') {
      if (out.empty() && only_escapes && output[i] == '\r') continue;
      out += output[i];
      continue;
    }
    only_escapes = true;
    const char kind = i + 1 < output.size() ? output[i + 1] : '\0';
    if (kind == ']') {
      i = output.find('\a', i);
    } else if (kind == '[') {
      i = output.find_first_of("ABCDEFGHJKSTfhlmnu", i + 2);
    } else {
      i += kind == '(' ? 2 : 1;
    }
    if (i == std::string_view::npos) break;
  }
  return out;
}

LiveShell::LiveShell(const LiveOptions& options)
    : home_(scratch_.path() + "/home"),
      folder_(scratch_.path() + "/private"),
      secret_(base::random_nonce()),
      history_(options.history) {
  fs::create_directories(home_);
  fs::create_directories(folder_);
  ::chmod(folder_.c_str(), 0700);
  for (const auto& [path, content] : options.home_files) write_file(home_ + "/" + path, content, 0644);

  ShellSpec spec;
  spec.argv = options.argv;
  spec.login = options.login;
  spec.private_folder = folder_;
  spec.nonce = mark_nonce(secret_, 0);
  spec.history = options.history;
  pty::SpawnSpec start;
  start.environment = {"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
                       "HOME=" + home_,
                       "XDG_CONFIG_HOME=" + home_ + "/.config",
                       "XDG_DATA_HOME=" + home_ + "/.local/share",
                       "XDG_CACHE_HOME=" + home_ + "/.cache",
                       "TERM=xterm-256color",
                       "LANG=C.UTF-8"};
  for (const std::string& entry : options.environment) {
    start.environment.push_back(entry);
    if (entry.starts_with("ZDOTDIR=")) spec.user_zdotdir = entry.substr(8);
    if (entry.starts_with("ENV=")) spec.user_env = entry.substr(4);
  }
  plan_ = prepare(spec);
  if (!options.integrate) {
    plan_ = LaunchPlan{};
    plan_.argv = options.argv;
  }
  for (const PlannedFile& file : plan_.files) write_file(file.path, file.content, file.mode);
  for (const auto& [name, value] : plan_.environment) {
    std::erase_if(start.environment, [&](const std::string& entry) { return entry.starts_with(name + "="); });
    start.environment.push_back(name + "=" + value);
  }
  write_file(folder_ + "/" + kNextNonceFile, mark_nonce(secret_, 1) + "\n", 0600);
  start.argv = plan_.argv;
  start.cwd = home_;
  auto spawned = pty::spawn(start);
  EXPECT_TRUE(spawned.has_value()) << (spawned ? "" : spawned.error().error.message);
  if (!spawned) std::abort();
  running_.emplace(std::move(*spawned));
  tracker_.emplace(
      TrackerOptions{options.integrate ? secret_ : "", plan_.expected, home_, false, plan_.identity.kind});
}

void LiveShell::take() {
  for (vt::Event& event : screen_.take_events())
    if (const auto* mark = std::get_if<vt::ShellMark>(&event)) tracker_->mark(*mark);
  for (TrackerEvent& event : tracker_->take_events()) {
    if (std::holds_alternative<PromptReady>(event)) {
      // As the terminal does: what started the shell is not needed any more.
      for (const std::string& path : plan_.remove_when_ready) fs::remove(path);
      write_file(folder_ + "/" + kNextNonceFile, tracker_->next_nonce() + "\n", 0600);
      fs::remove(folder_ + "/" + kTypedFile);
    }
    events_.push_back(std::move(event));
  }
}

void LiveShell::pump(Clock::time_point deadline) {
  input_.flush((*running_)->master.get());
  pollfd entries[2] = {{(*running_)->master.get(), POLLIN, 0}, {(*running_)->child.pidfd(), POLLIN, 0}};
  if (!input_.empty()) entries[0].events |= POLLOUT;
  if (::poll(entries, gone_ ? 1 : 2, pty::testing::until(deadline)) <= 0) return;
  char buffer[65536];
  const ssize_t n = ::read((*running_)->master.get(), buffer, sizeof buffer);
  if (n > 0) {
    bytes_.append(buffer, static_cast<size_t>(n));
    screen_.feed({buffer, static_cast<size_t>(n)});
    const std::string replies = screen_.take_replies();
    if (!replies.empty()) static_cast<void>(input_.push(replies));
    take();
    return;
  }
  if (gone_ || (entries[1].revents & POLLIN) == 0) return;
  // All it printed was read above: the terminal is empty.
  const auto exit = (*running_)->child.try_reap();
  if (!exit || !*exit) return;
  gone_ = true;
  const auto& status = (*exit)->status;
  const bool exited = status.kind == pty::ExitStatus::Kind::Exited;
  tracker_->shell_gone(exited ? std::optional(status.code) : std::nullopt,
                       exited ? std::nullopt : std::optional(status.signal), bytes_.size());
  take();
}

bool LiveShell::wait_for(const std::function<bool()>& holds, const char* what) {
  const auto deadline = Clock::now() + kPatience;
  while (!holds()) {
    if (Clock::now() >= deadline) {
      ADD_FAILURE() << "waited in vain for " << what << "; last bytes: "
                    << ::testing::PrintToString(
                           bytes_.substr(bytes_.size() - std::min<size_t>(bytes_.size(), 600)));
      return false;
    }
    pump(deadline);
  }
  return true;
}

bool LiveShell::wait_ready() {
  const auto ready = [this] {
    // Line editors switch bracketed paste on around their prompt, not all before its last mark.
    return tracker_->ready() &&
           (tracker_->quality() != Quality::Rich || screen_.modes().has(vt::Mode::BracketedPaste));
  };
  return wait_for([&] { return ready() || gone_; }, "a prompt") && !gone_;
}

bool LiveShell::wait_bytes(const std::string& needle, size_t from) {
  return wait_for([&] { return bytes_.find(needle, from) != std::string::npos; }, needle.c_str());
}

bool LiveShell::submit(const std::string& text) {
  if (!wait_ready()) return false;
  DeliveryContext context;
  context.kind = plan_.identity.kind;
  context.history = history_;
  context.bracketed_paste = screen_.modes().has(vt::Mode::BracketedPaste);
  context.nonce = tracker_->next_nonce();
  context.file_name = "c" + std::to_string(next_id_);
  const auto delivery = deliver(text, context);
  EXPECT_TRUE(delivery.has_value()) << (delivery ? "" : delivery.error().message);
  if (!delivery) return false;
  if (delivery->file_content) write_file(folder_ + "/" + context.file_name, *delivery->file_content, 0600);
  tracker_->submitted({next_id_++, text, delivery->line, bytes_.size(), ""});
  send(delivery->bytes);
  return true;
}

std::optional<Outcome> LiveShell::wait_finished() {
  const size_t wanted = finished_read_ + 1;
  if (!wait_for([&] { return events<CommandFinished>().size() >= wanted; }, "the command's end"))
    return std::nullopt;
  Outcome outcome{events<CommandFinished>()[finished_read_++], ""};
  const ByteRange range = outcome.finished.output;
  outcome.output = bytes_.substr(range.begin, range.end - range.begin);
  return outcome;
}

void LiveShell::press_until(const std::string& key, const std::function<bool()>& holds) {
  const auto deadline = Clock::now() + kPatience;
  while (!holds() && Clock::now() < deadline) {
    type(key);
    const auto pause = Clock::now() + std::chrono::milliseconds(kAbandonRetryMs);
    while (!holds() && Clock::now() < pause) pump(pause);
  }
  EXPECT_TRUE(holds()) << "the key had no effect";
}

std::optional<Outcome> LiveShell::run(const std::string& text) {
  if (!submit(text)) return std::nullopt;
  return wait_finished();
}

void LiveShell::send(const std::string& bytes) {
  ASSERT_TRUE(input_.push(bytes).has_value());
}

void LiveShell::type(const std::string& bytes) {
  tracker_->typed(bytes, bytes_.size());
  send(bytes);
}

void LiveShell::note_typed() {
  write_file(folder_ + "/" + kTypedFile, "", 0600);
}

std::string LiveShell::file(const std::string& path) const {
  std::ifstream in(home_ + "/" + path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace ttyward::shell::testing
