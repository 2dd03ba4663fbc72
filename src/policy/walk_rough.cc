// A rough reading of text that has no proper tree. The line asks in any case;
// this only finds catastrophes that a syntax error would otherwise hide.
#include "policy/shell_walk.h"

namespace ttyward::policy {

void ShellWalk::rough_reading() {
  std::vector<Field> argv;
  const auto finish = [&](size_t end) {
    for (Field& field : argv) field.span = outward(field.span);
    if (!argv.empty())
      run_command(argv,
                  depth_ == 0
                      ? Span{argv.front().span.begin, static_cast<uint32_t>(std::min(end, text_.size()))}
                      : outer_,
                  Input{});
    argv.clear();
  };
  size_t word = std::string_view::npos;  // where the current word began
  char quote = '\0';
  for (size_t i = 0; i <= text_.size(); ++i) {
    const char c = i < text_.size() ? text_[i] : '\n';
    if (quote != '\0' && i < text_.size()) {
      if (c == '\\' && quote == '"') ++i;
      if (c == quote) quote = '\0';
      continue;
    }
    const bool separator = std::string_view(";&|()\n").find(c) != std::string_view::npos;
    const bool blank = c == ' ' || c == '\t' || c == '<' || c == '>';
    if (separator || blank) {
      if (word != std::string_view::npos) {
        const std::string_view text = text_.substr(word, i - word);
        // Keywords only say that a command follows.
        const bool keyword =
            text == "{" || text == "}" || text == "do" || text == "then" || text == "else" || text == "!";
        if (!keyword)
          reader_.read(static_cast<uint32_t>(word), static_cast<uint32_t>(std::min(i, text_.size())),
                       WordContext::Argument, argv);
      }
      word = std::string_view::npos;
      if (separator) finish(i);
      continue;
    }
    if (word == std::string_view::npos) word = i;
    if (c == '\\') ++i;
    if (c == '\'' || c == '"') quote = c;
  }
  finish(text_.size());
}

}  // namespace ttyward::policy
