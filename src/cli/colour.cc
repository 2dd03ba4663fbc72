#include "cli/colour.h"

#include <unistd.h>

#include <cstdlib>

namespace ttyward::cli {
namespace {

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

const char* code_of(Colour colour) {
  switch (colour) {
    case Colour::Plain:
      return "";
    case Colour::Bold:
      return "\033[1m";
    case Colour::Dim:
      return "\033[2m";
    case Colour::Red:
      return "\033[31m";
    case Colour::Green:
      return "\033[32m";
    case Colour::Yellow:
      return "\033[33m";
    case Colour::Blue:
      return "\033[34m";
    case Colour::Magenta:
      return "\033[35m";
  }
  return "";
}

}  // namespace

Paint Paint::for_stdout() {
  const char* term = std::getenv("TERM");
  const bool understands = term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
  return Paint(understands && !is_set("NO_COLOR") && ::isatty(STDOUT_FILENO) != 0);
}

std::string Paint::operator()(Colour colour, std::string_view text) const {
  if (!on_ || colour == Colour::Plain || text.empty()) return std::string(text);
  return code_of(colour) + std::string(text) + "\033[0m";
}

Colour colour_of_risk(std::string_view risk) {
  if (risk == "critical" || risk == "high") return Colour::Red;
  if (risk == "medium") return Colour::Yellow;
  return risk == "none" || risk == "low" || risk == "safe" ? Colour::Green : Colour::Plain;
}

Colour colour_of_decision(std::string_view decision) {
  if (decision.starts_with("allow")) return Colour::Green;
  if (decision.starts_with("den") || decision.starts_with("refuse")) return Colour::Red;
  return decision == "ask" || decision == "expired" ? Colour::Yellow : Colour::Plain;
}

Colour colour_of_state(std::string_view state) {
  if (state == "busy") return Colour::Green;
  if (state == "asks") return Colour::Yellow;
  if (state == "ended 0" || state == "exit 0") return Colour::Dim;
  if (state.starts_with("ended ") || state.starts_with("exit ") || state.starts_with("SIG") ||
      state == "denied" || state == "timed_out" || state == "failed_to_start" || state == "lost") {
    return Colour::Red;
  }
  return state == "ended" ? Colour::Dim : Colour::Plain;
}

}  // namespace ttyward::cli
