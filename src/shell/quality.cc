#include "shell/quality.h"

namespace ttyward::shell {

const char* quality_name(Quality quality) {
  switch (quality) {
    case Quality::None:
      return "none";
    case Quality::Basic:
      return "basic";
    case Quality::Rich:
      return "rich";
  }
  return "none";
}

const char* known_by_name(KnownBy known_by) {
  switch (known_by) {
    case KnownBy::Nothing:
      return "";
    case KnownBy::Wait:
      return "wait";
    case KnownBy::ShellMark:
      return "shell_mark";
    case KnownBy::PromptMark:
      return "prompt_mark";
    case KnownBy::Sentinel:
      return "sentinel";
  }
  return "";
}

}  // namespace ttyward::shell
