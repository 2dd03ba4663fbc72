#include "shell/command_line.h"

#include <cstdio>

#include "base/utf8.h"

namespace ttyward::shell {
namespace {

using base::ErrorCode;

constexpr std::string_view kPasteBegin = "\x1b[200~";
constexpr std::string_view kPasteEnd = "\x1b[201~";

std::string refusal(unsigned char c, std::string_view text, size_t at) {
  size_t line = 1;
  size_t column = 1;
  for (size_t i = 0; i < at; i++) {
    line += text[i] == '\n';
    column = text[i] == '\n' ? 1 : column + 1;
  }
  char name[64];
  std::snprintf(name, sizeof name, "0x%02x at line %zu, byte %zu", c, line, column);
  const char* advice = c == '\r'   ? "; end lines with a line feed alone"
                       : c == 0x1b ? "; write it as \\033 in printf or $'…'"
                       : c == 3 || c == 4 || c == 0x1a
                           ? "; to press a key in a running program, send it as input"
                           : "";
  return std::string("the command contains the control character ") + name + advice;
}

// fish ends a paste's quotes and brackets its own way and never shows that a line is
// incomplete, so only text without any is pasted there.
bool plain_for_fish(std::string_view text) {
  return text.find_first_of("'\"\\()[]{}\n\t#;&|<>") == std::string_view::npos;
}

bool may_paste(std::string_view text, const DeliveryContext& context) {
  if (!context.bracketed_paste || text.size() > kMaxPastedBytes || !base::is_valid_utf8(text)) return false;
  // A line that is all comment would not run, and so not be seen to end.
  if (text[text.find_first_not_of(" \t\n")] == '#') return false;
  switch (context.kind) {
    case ShellKind::Bash:
    case ShellKind::Zsh:
      return text.find_first_of("!^") == std::string_view::npos;
    case ShellKind::Fish:
      return plain_for_fish(text);
    case ShellKind::Pwsh:
      return text.find('\n') == std::string_view::npos;
    default:
      return false;
  }
}

std::string take_line(const DeliveryContext& context) {
  switch (context.kind) {
    case ShellKind::Fish:
      return "eval (__ttyward_take " + context.file_name + ")";
    case ShellKind::Pwsh:
      return "Invoke-Expression (__ttyward_take " + context.file_name + ")";
    case ShellKind::Bash:
    case ShellKind::Zsh:
      return "eval \"$({ __ttyward_take " + context.file_name + "; } 2>/dev/null)\"";
    default:
      return "{ __ttyward_was=$?$-; \\set +x; __ttyward_take " + context.file_name + " " + context.nonce +
             "; } 2>/dev/null; \\eval \"$__ttyward_text\"";
  }
}

}  // namespace

base::Result<void> check_command_text(std::string_view text) {
  if (text.size() > kMaxCommandBytes)
    return base::fail(ErrorCode::InvalidArgument, "the command is longer than " +
                                                      std::to_string(kMaxCommandBytes >> 20) +
                                                      " MiB; put it into a file and run that");
  for (size_t i = 0; i < text.size(); i++) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F)
      return base::fail(ErrorCode::InvalidArgument, refusal(c, text, i));
  }
  if (text.find_first_not_of(" \t\n") == std::string_view::npos)
    return base::fail(ErrorCode::InvalidArgument, "the command is empty");
  return {};
}

base::Result<Delivery> deliver(std::string_view text, const DeliveryContext& context) {
  if (auto checked = check_command_text(text); !checked) return tl::unexpected(checked.error());
  if (context.kind == ShellKind::Other)
    return base::fail(ErrorCode::Unsupported, "this shell has no integration; use a sentinel");
  const bool paste = may_paste(text, context);
  Delivery delivery;
  // The space is typed, not pasted: fish drops it from a paste.
  if (context.history == History::LeaveOut || !paste) delivery.bytes = " ";
  if (paste) {
    delivery.bytes += kPasteBegin;
    delivery.bytes += text;
    delivery.bytes += kPasteEnd;
  } else {
    delivery.bytes += take_line(context);
    delivery.file_content = std::string(text);
  }
  delivery.line = paste ? std::string(text) : take_line(context);
  delivery.bytes += enter(context.kind);
  return delivery;
}

}  // namespace ttyward::shell
