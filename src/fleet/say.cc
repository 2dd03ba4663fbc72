#include "fleet/say.h"

#include <cstdio>
#include <string>
#include <string_view>

#include "base/json_text.h"

namespace ttyward::fleet {
namespace {

bool as_json = false;

std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return text;
}

void tell(const char* kind, const std::string& message, int exit_code) {
  if (!as_json) {
    std::fprintf(stderr, "ttyward fleet: %s\n", one_line(message).c_str());
    return;
  }
  base::JsonObject what;
  what.text("verb", "fleet");
  what.text("message", message);
  if (exit_code != 0) what.number("exit_code", exit_code);
  std::fprintf(stderr, "%s\n", base::JsonObject().raw(kind, what.str()).str().c_str());
}

}  // namespace

void say_as_json() {
  as_json = true;
}

int complain(const std::string& message, int exit_code) {
  tell("error", message, exit_code);
  return exit_code;
}

void notice(const std::string& message) {
  tell("notice", message, 0);
}

bool print(std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
}

}  // namespace ttyward::fleet
