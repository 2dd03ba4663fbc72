#include "cli/digest_paint.h"

#include <algorithm>

#include "digest/line_scan.h"

namespace ttyward::cli {
namespace {

std::string painted_line(std::string_view line, const Paint& paint) {
  if (line.starts_with("… ") || (line.starts_with("[") && line.ends_with(": read_output]")))
    return paint(Colour::Dim, line);
  if (line.starts_with("[exit status ")) return paint(Colour::Yellow, line);
  const size_t fold = line.rfind("  [×");
  const std::string_view said = line.substr(0, fold);
  std::string out = digest::is_alarm(said) ? paint(Colour::Red, said) : std::string(said);
  if (fold != std::string_view::npos) out += paint(Colour::Dim, line.substr(fold));
  return out;
}

}  // namespace

std::string painted_digest(std::string_view text, const Paint& paint) {
  if (!paint.on()) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    out += painted_line(line, paint) + "\n";
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return out;
}

}  // namespace ttyward::cli
