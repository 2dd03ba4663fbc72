#include "policy/special/jq_filter.h"

#include <algorithm>
#include <array>

namespace ttyward::policy::special {
namespace {

constexpr auto kEnvironment = std::to_array<std::string_view>({"env", "strenv", "envsubst"});
// modulemeta and get_search_list look at modules; eval and system are yq's.
constexpr auto kLoaders = std::to_array<std::string_view>(
    {"import", "include", "modulemeta", "get_search_list", "eval", "system", "exec"});
constexpr int kMaxNesting = 64;

template <size_t N>
bool in(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  JqFilter run() {
    code('\0', 0);
    return filter_;
  }

 private:
  void fail() {
    filter_.understood = false;
    at_ = text_.size();
  }

  // Up to the parenthesis that closes an interpolation, or the end.
  void code(char until, int nesting) {
    if (nesting > kMaxNesting) return fail();
    int depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        string(nesting);
      } else if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        if (text_[at_ - 1] == '\\') return fail();  // newer versions read the next line as comment, too
      } else if (is_name_char(c)) {
        word();
      } else {
        if (c == '(') ++depth;
        if (c == ')' && until == ')' && depth == 0) {
          ++at_;
          return;
        }
        if (c == ')') --depth;
        ++at_;
      }
    }
    if (until != '\0') fail();
  }

  void string(int nesting) {
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') {
        ++at_;
        return;
      }
      if (text_[at_] != '\\') continue;
      ++at_;
      if (at_ < text_.size() && text_[at_] == '(') {
        ++at_;
        code(')', nesting + 1);
        --at_;  // the loop goes one further
        if (!filter_.understood) return;
      }
    }
    fail();
  }

  void word() {
    const size_t begin = at_;
    while (at_ < text_.size() && is_name_char(text_[at_])) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    const char before = begin > 0 ? text_[begin - 1] : ' ';
    filter_.reads_environment |= name == "ENV";
    if (before == '$') {
      filter_.reads_environment |= name == "ENV";
      filter_.loads_files |= name == "__prog_args";
      return;
    }
    if (before == '.' && !(begin > 1 && text_[begin - 2] == '.')) return;  // .env is a field
    if (before == '@') return;                                             // @base64
    filter_.reads_environment |= in(kEnvironment, name);
    filter_.loads_files |= in(kLoaders, name) || name.starts_with("load");
  }

  std::string_view text_;
  size_t at_ = 0;
  JqFilter filter_;
};

}  // namespace

JqFilter read_jq_filter(std::string_view text) {
  return Reader(text).run();
}

}  // namespace ttyward::policy::special
