#include "policy/words.h"

#include <algorithm>
#include <cctype>

#include "policy/word_expander.h"

namespace ttyward::policy {
namespace {

constexpr size_t kMaxField = 256UL * 1024;

// Builds fields from items: tilde, splitting of unquoted values, globs.
class FieldBuilder {
 public:
  FieldBuilder(const WordExpander& expander, ExpansionHost& host, Span span, WordContext context)
      : expander_(expander), host_(host), span_(span), context_(context) {}

  void build(const WordItems& items, std::vector<Field>& out) {
    out_ = &out;
    current_ = Field{};
    started_ = false;
    size_t at = tilde(items);
    for (; at < items.size(); ++at) {
      const WordItem& item = items[at];
      if (item.c == 0) {
        expansion(expander_.expansions[static_cast<size_t>(item.expansion)], item.quoted);
      } else {
        append(item.c, item.quoted);
        if (!item.quoted && item.c == '[' && !anything_) at = bracket(items, at);
      }
    }
    if (started_) flush();
  }

 private:
  bool splits() const { return context_ == WordContext::Argument; }

  size_t tilde(const WordItems& items) {
    if (items.empty() || items[0].c != '~' || items[0].quoted) return 0;
    size_t stop = 1;
    std::string user;
    while (stop < items.size() && items[stop].c != '/' && items[stop].c != 0 && !items[stop].quoted) {
      user.push_back(items[stop++].c);
    }
    if (stop < items.size() && items[stop].c != '/') return 0;
    if (user.empty()) {
      append_text(host_.home());
    } else if (user == "+") {
      append_text(host_.working_directory().empty() ? std::string_view("\x01") : host_.working_directory());
    } else if (user == "root") {
      append_text("/root");
    } else if (user == "-" || std::isdigit(static_cast<unsigned char>(user[0])) != 0) {
      append_text(std::string_view("\x01"));
    } else {
      append_text("/home/" + user);
    }
    return stop;
  }

  void append_text(std::string_view text) {
    started_ = true;
    if (current_.text.size() + text.size() > kMaxField) {
      current_.text = std::string(1, kAnyFields);
      return;
    }
    for (const char c : text) {
      if (passes(c)) current_.text.push_back(c);
    }
  }

  // Behind a set that may end anywhere nothing is known up to the next folder.
  bool passes(char c) {
    if (c == '/') anything_ = false;
    return !anything_;
  }

  void append(char c, bool quoted) {
    started_ = true;
    if (!passes(c)) return;
    if (!quoted && splits()) {
      if (c == '*') c = kStar;
      if (c == '?') c = kOne;
    }
    current_.text.push_back(c);
  }

  // [abc] is one character of some set; without a closing bracket it is itself. With an expansion in it, it
  // may end anywhere: the rest of the name may be anything.
  size_t bracket(const WordItems& items, size_t at) {
    if (!splits()) return at;
    for (size_t i = at + 1; i < items.size() && items[i].c != '/'; ++i) {
      if (items[i].c != 0) continue;
      current_.text.back() = kStar;
      anything_ = true;
      return at;
    }
    const size_t end = bracket_end(items.size(), at, [&](size_t i) {
      return items[i].quoted ? (items[i].c == '/' ? '/' : 'x') : items[i].c;
    });
    if (end == 0) return at;
    current_.text.back() = kOne;
    return end;
  }

  // Where the set that begins at `at` ends; 0: it is none. Classes such as [:alpha:] are parts of it.
  template <typename CharacterAt>
  static size_t bracket_end(size_t size, size_t at, CharacterAt character) {
    size_t i = at + 1;
    if (i < size && (character(i) == '!' || character(i) == '^')) ++i;
    if (i < size && character(i) == ']') ++i;
    for (; i < size && character(i) != '/'; ++i) {
      if (character(i) == ']') return i;
      if (character(i) != '[' || i + 1 >= size) continue;
      const char kind = character(i + 1);
      if (kind != ':' && kind != '=' && kind != '.') continue;
      for (size_t j = i + 2; j + 1 < size && character(j) != '/'; ++j) {
        if (character(j) == kind && character(j + 1) == ']') {
          i = j + 1;
          break;
        }
      }
    }
    return 0;
  }

  void expansion(const WordExpander::Expanded& expansion, bool quoted) {
    if (!expansion.other.empty()) current_.other = current_.text + expansion.other;
    for (size_t i = 0; i < expansion.values.size(); ++i) {
      if (i > 0 && expansion.separate) {
        if (started_) flush();
      }
      if (quoted || !splits()) {
        append_text(expansion.values[i]);
      } else {
        split(expansion.values[i]);
      }
    }
    if (quoted && expansion.values.empty()) return;  // "${empty[@]}" is no argument at all
  }

  void split(const std::string& value) {
    // zsh and fish do not split; what is one word there may be several for whoever reads it as bash.
    if (host_.dialect() == syntax::Dialect::Zsh || host_.dialect() == syntax::Dialect::Fish) {
      // A variable that is not known may be an array, which is several words.
      const bool doubtful = value.find_first_of(" \t\n*?[\x01\x02") != std::string::npos;
      append_text(doubtful ? std::string(1, kAnyFields) : value);
      return;
    }
    // What a glob matched or a command listed are names, and those are split again.
    if (value.find_first_of("\x04\x05\x06") != std::string::npos &&
        host_.names_contain(value, " \t\n*?[\\")) {
      started_ = true;
      return current_.text.push_back(kAnyFields);
    }
    for (size_t i = 0; i < value.size(); ++i) {
      const char c = value[i];
      if (c == ' ' || c == '\t' || c == '\n') {
        if (started_) flush();
        continue;
      }
      started_ = true;
      if (!passes(c)) continue;
      if (c == '[') {
        const size_t end = bracket_end(value.size(), i, [&](size_t at) { return value[at]; });
        const bool known =
            end != 0 && value.substr(i, end - i).find_first_of("\x01\x02\x03\x06 \t\n") == std::string::npos;
        current_.text.push_back(known ? kOne : kStar);
        if (known) i = end;
        anything_ = !known;
        continue;
      }
      current_.text.push_back(c == kAny ? kAnyFields : c == '*' ? kStar : c == '?' ? kOne : c);
    }
  }

  void flush() {
    current_.span = span_;
    current_.disguised = expander_.disguised;
    current_.quoted = expander_.quoted;
    current_.expanded = expander_.expanded;
    current_.from_network = expander_.from_network;
    out_->push_back(std::move(current_));
    current_ = Field{};
    started_ = false;
    anything_ = false;
  }

  const WordExpander& expander_;
  ExpansionHost& host_;
  Span span_;
  WordContext context_;
  std::vector<Field>* out_ = nullptr;
  Field current_;
  bool started_ = false;
  bool anything_ = false;  // up to the next '/' the name may be anything
};

}  // namespace

void WordReader::read(const syntax::Word& word, WordContext context, std::vector<Field>& out) {
  WordExpander expander(*this, host_);
  expander.run(word.parts);
  expander.disguised |= word.continued;
  FieldBuilder builder(expander, host_, word.span, context);
  const bool expands_braces =
      host_.dialect() == syntax::Dialect::Bash || host_.dialect() == syntax::Dialect::Zsh;
  const auto opened = context != WordContext::Argument || !expands_braces
                          ? 0
                          : std::count_if(expander.items.begin(), expander.items.end(),
                                          [](const WordItem& item) { return item.c == '{' && !item.quoted; });
  if (opened == 0) return builder.build(expander.items, out);
  std::vector<WordItems> words;
  if (opened > kMaxBraces || !expand_braces(expander.items, words)) {
    host_.not_understood("a brace expansion with too many results", word.span);
    return;
  }
  expander.disguised |= words.size() > 1;
  for (const WordItems& one : words) builder.build(one, out);
}

Field WordReader::read_text(const syntax::Word& word) {
  std::vector<Field> fields;
  read(word, WordContext::Assignment, fields);
  Field whole;
  whole.span = word.span;
  for (Field& field : fields) {
    const std::string text = whole.text + (whole.text.empty() ? "" : " ") + field.text;
    const bool network = whole.from_network || field.from_network;
    whole = std::move(field);
    whole.text = text;
    whole.from_network = network;
  }
  return whole;
}

std::string WordReader::read_parts(const std::vector<syntax::Part>& parts) {
  WordExpander expander(*this, host_);
  expander.run(parts);
  std::vector<Field> fields;
  FieldBuilder(expander, host_, {}, WordContext::Assignment).build(expander.items, fields);
  return fields.empty() ? std::string() : fields.front().text;
}

// Arithmetic evaluates the *values* of variables again: a[$(command)] in one of them would run.
// An assignment makes a number of a variable only where it is certain to happen, and only for what follows.
void WordReader::check_arithmetic(std::string_view body, Span span, Arithmetic when) {
  const bool certain = when == Arithmetic::AlwaysRuns && body.find_first_of("&|?") == std::string_view::npos;
  std::vector<std::string> assigned_names;
  for (size_t i = 0; i < body.size(); ++i) {
    const char c = body[i];
    if (c == '[') {
      host_.risky_expansion("a subscript inside arithmetic can run commands", span);
      return;
    }
    const size_t parameter = c == '$' ? body.find_first_not_of('{', i + 1) : std::string_view::npos;
    if (parameter != std::string_view::npos && body[parameter] >= '0' && body[parameter] <= '9') {
      host_.risky_expansion("arithmetic on a value that is not known to be a number", span);
      return;
    }
    if (!is_name_start(c) ||
        (i > 0 && (std::isalnum(static_cast<unsigned char>(body[i - 1])) != 0 || body[i - 1] == '#')))
      continue;
    size_t stop = i;
    while (stop < body.size() && is_name_char(body[stop])) ++stop;
    const std::string_view name = body.substr(i, stop - i);
    const size_t next = body.find_first_not_of(' ', stop);
    const bool assigned = next != std::string_view::npos && body[next] == '=' &&
                          body.substr(next, 2) != "==" && (i == 0 || body[i - 1] != '$');
    const Value* value = host_.variable(name);
    const bool numeric = value != nullptr && !value->empty() &&
                         value->front().find_first_not_of("0123456789-+ \x03") == std::string::npos;
    if (assigned) {
      assigned_names.emplace_back(name);
    } else if (!numeric) {
      host_.risky_expansion("arithmetic on a value that is not known to be a number", span);
      return;
    }
    i = stop - 1;
  }
  for (const std::string& name : assigned_names) {
    const Value* value = host_.variable(name);
    const bool numeric = value != nullptr && !value->empty() &&
                         value->front().find_first_not_of("0123456789-+ \x03") == std::string::npos;
    host_.assign(name, {std::string(1, certain || numeric ? kDigits : kAny)});
  }
}

}  // namespace ttyward::policy
