// OSC 7, 9, 52, 99, 777, 1337: what programs report to the terminal's owner.
#include <algorithm>

#include "vt/osc/fields.h"
#include "vt/screen.h"

namespace ttyward::vt {
namespace {

constexpr size_t kMaxReportBytes = 4096;  // paths and notifications; the rest is cut

}  // namespace

// file://host/path, percent-encoded; kitty-shell-cwd://host/path is not.
void Screen::osc_cwd(std::string_view uri) {
  const bool plain = uri.starts_with("kitty-shell-cwd://");
  if (!plain && !uri.starts_with("file://")) return;
  uri.remove_prefix(plain ? 18 : 7);
  const size_t slash = uri.find('/');
  if (slash == std::string_view::npos) return;
  const std::string path = plain ? std::string(uri.substr(slash)) : percent_decode(uri.substr(slash));
  report(CwdReported{printable(uri.substr(0, slash), 255), printable(path, kMaxReportBytes)});
}

// ConEmu's family: 9;4 progress, 9;9 cwd; anything that is not one of its numbers is a notification.
void Screen::osc_conemu(std::string_view data) {
  const auto fields = split_fields(data, ';');
  const std::optional<int> sub = parse_number(fields[0]);
  if (!sub || *sub < 1 || *sub > 12 || (fields.size() == 1 && *sub != 12)) {
    report(Notification{"", printable(data, kMaxReportBytes)});
    return;
  }
  if (*sub == 4) {
    const std::optional<int> state = parse_number(fields[1]);
    if (!state || *state < 0 || *state > 4) return;
    const int percent = fields.size() > 2 ? parse_number(fields[2]).value_or(0) : 0;
    progress_ = {static_cast<Progress::State>(*state), std::clamp(percent, 0, 100)};
    report(progress_);
  } else if (*sub == 9) {
    std::string_view path = data.substr(data.find(';') + 1);
    if (path.size() >= 2 && path.front() == '"' && path.back() == '"') path = path.substr(1, path.size() - 2);
    report(CwdReported{"", printable(path, kMaxReportBytes)});
  }
}

void Screen::osc_iterm(std::string_view data) {
  constexpr std::string_view kCurrentDir = "CurrentDir=";
  if (!data.starts_with(kCurrentDir)) return;
  report(CwdReported{"", printable(data.substr(kCurrentDir.size()), kMaxReportBytes)});
}

// 777;notify;title;body
void Screen::osc_notify(std::string_view data) {
  const auto fields = split_fields(data, ';');
  if (fields[0] != "notify" || fields.size() < 2) return;
  const size_t body = fields.size() > 2 ? static_cast<size_t>(fields[2].data() - data.data()) : data.size();
  report(Notification{printable(fields[1], kMaxReportBytes), printable(data.substr(body), kMaxReportBytes)});
}

// 99;key=value:key=value;text. Only whole, plain-text titles and bodies are reported.
void Screen::osc_kitty_notify(std::string_view data) {
  const size_t split = data.find(';');
  if (split == std::string_view::npos) return;
  bool is_body = false;
  for (const std::string_view item : split_fields(data.substr(0, split), ':')) {
    if (item == "e=1" || item == "p=?" || item == "p=close" || item == "p=icon") return;
    if (item == "p=body") is_body = true;
  }
  const std::string text = printable(data.substr(split + 1), kMaxReportBytes);
  report(is_body ? Notification{"", text} : Notification{text, ""});
}

// 52;selection;base64. "?" asks for the clipboard: never answered.
void Screen::osc_clipboard(std::string_view data) {
  const size_t split = data.find(';');
  if (split == std::string_view::npos) return;
  const std::string_view payload = data.substr(split + 1);
  const bool is_base64 =
      payload.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=") ==
      std::string_view::npos;
  if (!is_base64) return;
  report(ClipboardWrite{printable(data.substr(0, split), 16), std::string(payload)});
}

}  // namespace ttyward::vt
