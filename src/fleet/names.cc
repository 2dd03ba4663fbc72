#include "fleet/names.h"

#include <unistd.h>

namespace ttyward::fleet {
namespace {

constexpr size_t kLongest = 40;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

}  // namespace

std::string name_of_this_host() {
  char host[256] = {};
  static_cast<void>(::gethostname(host, sizeof host - 1));
  std::string name;
  for (char c : std::string_view(host)) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    name += is_letter(c) ? c : '-';
  }
  return name.empty() ? "host" : name.substr(0, kLongest);
}

}  // namespace ttyward::fleet
