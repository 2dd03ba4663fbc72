// A rough reading of text that was not understood. The line asks in any case;
// this only finds catastrophes that a syntax error would otherwise hide.
#include "policy/shell_walk.h"

namespace ttyward::policy {
namespace {

// Words that only say that a command follows.
bool is_filler(std::string_view word) {
  return word == "{" || word == "}" || word == "do" || word == "then" || word == "else" || word == "!" ||
         word == "if" || word == "while" || word == "time";
}

// The word without its quotes; what a variable holds is not known.
std::string rough_word(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\'' || c == '"') continue;
    if (c == '\\' && i + 1 < text.size()) {
      out.push_back(text[++i]);
    } else if (c == '$' || c == '`') {
      out.push_back(kAny);
      while (i + 1 < text.size() && (is_name_char(text[i + 1]) || text[i + 1] == '{' || text[i + 1] == '}'))
        ++i;
    } else {
      out.push_back(c == '*' ? kStar : c == '?' ? kOne : c);
    }
  }
  return out;
}

}  // namespace

void ShellWalk::rough_reading() {
  std::vector<Field> argv;
  size_t command_begin = 0;
  const auto finish = [&](size_t end) {
    if (argv.empty()) return;
    const Span span = outward({static_cast<uint32_t>(command_begin), static_cast<uint32_t>(end)});
    for (Field& field : argv) field.span = span;
    if (argv.front().text.starts_with("~/")) argv.front().text.replace(0, 1, place_.home);
    run_command(argv, span, Input{});
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
      const size_t end = std::min(i, text_.size());
      if (word != std::string_view::npos && !is_filler(text_.substr(word, end - word))) {
        if (argv.empty()) command_begin = word;
        Field field;
        field.text = rough_word(text_.substr(word, end - word));
        if (field.text == "~" || field.text.starts_with("~/")) field.text.replace(0, 1, place_.home);
        argv.push_back(std::move(field));
      }
      word = std::string_view::npos;
      if (separator) finish(end);
      continue;
    }
    if (word == std::string_view::npos) word = i;
    if (c == '\\') ++i;
    if (c == '\'' || c == '"') quote = c;
  }
  finish(text_.size());
}

}  // namespace ttyward::policy
