#include "policy/tricks.h"

namespace ttyward::policy {
namespace {

class TrickFinder {
 public:
  TrickFinder(std::string_view text, Facts& facts) : text_(text), facts_(facts) {}

  void run() {
    if (text_.starts_with("^")) history(0);
    for (size_t i = 0; i < text_.size(); ++i) {
      const char c = text_[i];
      if (quote_ == '\'') {
        if (c == '\'') quote_ = '\0';
      } else if (c == '\\') {
        if (i + 1 < text_.size() && text_[i + 1] == '#' && quote_ == '\0') hash(i);
        ++i;
      } else if (c == '\'' && quote_ == '\0') {
        quote_ = '\'';
      } else if (c == '"') {
        quote_ = quote_ == '"' ? '\0' : '"';
      } else if (c == '!') {
        exclamation(i);
      } else if (c == '#' && quote_ == '\0') {
        if (begins_comment(i)) {
          i = comment(i);
        } else {
          hash(i);
        }
      }
    }
  }

 private:
  bool begins_comment(size_t at) const {
    return at == 0 || std::string_view(" \t\n;&|()").find(text_[at - 1]) != std::string_view::npos;
  }

  // Skips the comment. Quotes inside it fool readers that do not know comments.
  size_t comment(size_t at) {
    const size_t end = std::min(text_.find('\n', at), text_.size());
    const std::string_view inside = text_.substr(at, end - at);
    const bool more = end < text_.size() && text_.find_first_not_of(" \t\n", end) != std::string_view::npos;
    if (more && inside.find_first_of("'\"`\\") != std::string_view::npos) {
      raise("a comment with quotes in it hides the next line from some readers", at, end);
    }
    return end;
  }

  void hash(size_t at) {
    if (text_.find_first_of(";&|\n", at) != std::string_view::npos)
      raise("a # that does not begin a comment", at, at + 1);
  }

  void exclamation(size_t at) {
    if (at + 1 >= text_.size()) return;
    const char next = text_[at + 1];
    const char before = at > 0 ? text_[at - 1] : ' ';
    if (std::string_view(" \t\n=(").find(next) != std::string_view::npos || (quote_ == '"' && next == '"'))
      return;
    if (before == '$' || before == '[' || (before == '{' && at > 1 && text_[at - 2] == '$')) return;
    history(at);
  }

  void history(size_t at) {
    Finding finding;
    finding.risk = Risk::Medium;
    finding.effect = EffectKind::Unknown;
    finding.reason = "an interactive shell replaces this by an earlier command";
    finding.span = {static_cast<uint32_t>(at), static_cast<uint32_t>(at + 1)};
    facts_.findings.push_back(std::move(finding));
  }

  void raise(std::string why, size_t begin, size_t end) {
    facts_.least_risk = std::max(facts_.least_risk, Risk::High);
    facts_.tricks.push_back({std::move(why),
                             {static_cast<uint32_t>(begin), static_cast<uint32_t>(end)},
                             Risk::High,
                             Decision::Ask});
  }

  std::string_view text_;
  Facts& facts_;
  char quote_ = '\0';
};

}  // namespace

void find_tricks(std::string_view text, Facts& facts) {
  TrickFinder(text, facts).run();
}

}  // namespace ttyward::policy
