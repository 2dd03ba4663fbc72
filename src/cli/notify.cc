#include "cli/notify.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "base/mask_secrets.h"
#include "cli/shown_text.h"
#include "pty/executable.h"
#include "pty/spawn.h"

namespace ttyward::cli {
namespace {

constexpr size_t kLongestText = 200;  // columns; a notification is a hint, not the question

std::string short_text(std::string_view text) {
  return cut_to(one_line(base::mask_secrets(text)), kLongestText);
}

std::string own_variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// Markup characters mean something to some notification servers.
std::string without_markup(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string notification_sequence(const Notifier::Variable& variable, std::string_view title,
                                  std::string_view text) {
  const std::string term = variable("TERM");
  const bool only_777 =
      term.starts_with("foot") || term.starts_with("rxvt") || !variable("VTE_VERSION").empty();
  // In OSC 777 a semicolon ends a field.
  std::string head = short_text(title);
  for (char& c : head) {
    if (c == ';') c = ',';
  }
  if (only_777) return fmt::format("\033]777;notify;{};{}\033\\", head, short_text(text));
  return fmt::format("\033]9;{}: {}\033\\", head, short_text(text));
}

Notifier::Notifier(config::NotifySettings settings, Variable variable)
    : settings_(std::move(settings)), variable_(std::move(variable)) {}

Notifier::Notifier(config::NotifySettings settings) : Notifier(std::move(settings), own_variable) {}

std::string Notifier::tell(const std::string& title, const std::string& text) {
  std::erase_if(told_, [](pty::Child& child) {
    const auto ended = child.try_reap();
    return !ended || ended->has_value();
  });
  std::string out = settings_.bell ? "\a" : "";
  if (settings_.desktop && !tell_desktop(title, text)) out += notification_sequence(variable_, title, text);
  return out;
}

bool Notifier::tell_desktop(const std::string& title, const std::string& text) {
  const std::string runtime = variable_("XDG_RUNTIME_DIR");
  const bool bus = !variable_("DBUS_SESSION_BUS_ADDRESS").empty() ||
                   (!runtime.empty() && ::access((runtime + "/bus").c_str(), W_OK) == 0);
  if (!bus || pty::find_executable(AT_FDCWD, "notify-send", variable_("PATH")).sys_errno != 0) return false;
  pty::SpawnSpec spec;
  spec.argv = {"notify-send", "--app-name=ttyward", "--urgency=critical",
               "--",          short_text(title),    without_markup(short_text(text))};
  for (char** entry = environ; *entry != nullptr; ++entry) spec.environment.emplace_back(*entry);
  spec.provider = pty::Provider::Pipe;
  spec.cwd = "/";
  auto spawned = pty::spawn(spec);
  if (!spawned) return false;
  told_.push_back(std::move(spawned->child));
  return true;
}

}  // namespace ttyward::cli
