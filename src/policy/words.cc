#include "policy/words.h"

#include <algorithm>
#include <cctype>

#include "policy/word_lexer.h"

namespace ttyward::policy {
namespace {

// Builds fields from items: tilde, splitting of unquoted values, globs.
class FieldBuilder {
 public:
  FieldBuilder(const WordLexer& lexer, const ExpansionHost& host, Span span, WordContext context)
      : lexer_(lexer), host_(host), span_(span), context_(context) {}

  void build(const WordItems& items, std::vector<Field>& out) {
    out_ = &out;
    current_ = Field{};
    started_ = false;
    size_t at = tilde(items);
    for (; at < items.size(); ++at) {
      const WordItem& item = items[at];
      if (item.c == 0) {
        expansion(lexer_.expansions[static_cast<size_t>(item.expansion)], item.quoted);
      } else {
        append(item.c, item.quoted);
        if (!item.quoted && item.c == '[') at = bracket(items, at);
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
    current_.text.append(text);
  }

  void append(char c, bool quoted) {
    started_ = true;
    if (!quoted && splits()) {
      if (c == '*') c = kStar;
      if (c == '?') c = kOne;
    }
    current_.text.push_back(c);
  }

  // [abc] is one character of some set; without a closing bracket it is itself.
  size_t bracket(const WordItems& items, size_t at) {
    if (!splits()) return at;
    for (size_t i = at + 2; i < items.size() && items[i].c != '/'; ++i) {
      if (items[i].c == ']' && !items[i].quoted) {
        current_.text.back() = kOne;
        return i;
      }
    }
    return at;
  }

  void expansion(const WordLexer::Expansion& expansion, bool quoted) {
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
    for (size_t i = 0; i < value.size(); ++i) {
      const char c = value[i];
      if (c == ' ' || c == '\t' || c == '\n') {
        if (started_) flush();
        continue;
      }
      started_ = true;
      current_.text.push_back(c == kAny ? kAnyFields : c == '*' ? kStar : c == '?' || c == '[' ? kOne : c);
    }
  }

  void flush() {
    current_.span = span_;
    current_.disguised = lexer_.disguised;
    current_.quoted = lexer_.quoted;
    current_.expanded = lexer_.expanded;
    out_->push_back(std::move(current_));
    current_ = Field{};
    started_ = false;
  }

  const WordLexer& lexer_;
  const ExpansionHost& host_;
  Span span_;
  WordContext context_;
  std::vector<Field>* out_ = nullptr;
  Field current_;
  bool started_ = false;
};

}  // namespace

WordReader::WordReader(std::string_view text, const BashTree& tree, ExpansionHost& host)
    : text_(text), tree_(tree), host_(host) {
  for (uint32_t i = 0; i < tree.nodes.size(); ++i) {
    const NodeKind kind = tree.nodes[i].kind;
    if (kind == NodeKind::CommandSubstitution || kind == NodeKind::ProcessSubstitution ||
        kind == NodeKind::ArithmeticExpansion || kind == NodeKind::Expansion) {
      marked_nodes_.push_back(i);
    }
  }
}

uint32_t WordReader::find_node(uint32_t begin, NodeKind kind) const {
  auto found =
      std::lower_bound(marked_nodes_.begin(), marked_nodes_.end(), begin,
                       [&](uint32_t node, uint32_t value) { return tree_.nodes[node].begin < value; });
  for (; found != marked_nodes_.end() && tree_.nodes[*found].begin == begin; ++found) {
    if (tree_.nodes[*found].kind == kind) return *found;
  }
  return 0;
}

void WordReader::read(uint32_t begin, uint32_t end, WordContext context, std::vector<Field>& out) {
  WordLexer lexer(*this, begin, end, context == WordContext::Pattern ? LexMode::Pattern : LexMode::Word);
  lexer.run();
  FieldBuilder builder(lexer, host_, {begin, end}, context);
  const bool braces = context == WordContext::Argument &&
                      std::any_of(lexer.items.begin(), lexer.items.end(),
                                  [](const WordItem& item) { return item.c == '{' && !item.quoted; });
  if (!braces) return builder.build(lexer.items, out);
  std::vector<WordItems> words;
  const auto opened = std::count_if(lexer.items.begin(), lexer.items.end(),
                                    [](const WordItem& item) { return item.c == '{' && !item.quoted; });
  if (opened > kMaxBraces || !expand_braces(lexer.items, words)) {
    host_.not_understood("a brace expansion with too many results", {begin, end});
    return;
  }
  lexer.disguised |= words.size() > 1;
  for (const WordItems& word : words) builder.build(word, out);
}

std::string WordReader::read_text(uint32_t begin, uint32_t end) {
  WordLexer lexer(*this, begin, end, LexMode::Pattern);
  lexer.run();
  std::vector<Field> fields;
  FieldBuilder(lexer, host_, {begin, end}, WordContext::Assignment).build(lexer.items, fields);
  std::string text;
  for (const Field& field : fields) text += (text.empty() ? "" : " ") + field.text;
  return text;
}

std::string WordReader::read_heredoc(uint32_t begin, uint32_t end) {
  WordLexer lexer(*this, begin, end, LexMode::Heredoc);
  lexer.run();
  std::vector<Field> fields;
  WordItems items = lexer.items;
  for (WordItem& item : items) item.quoted = true;
  FieldBuilder(lexer, host_, {begin, end}, WordContext::Assignment).build(items, fields);
  return fields.empty() ? std::string() : fields.front().text;
}

// Arithmetic evaluates the *values* of variables again: a[$(command)] in one of them would run.
void WordReader::check_arithmetic(uint32_t begin, uint32_t end) {
  const std::string_view body = text_.substr(begin, end - begin);
  for (size_t i = 0; i < body.size(); ++i) {
    const char c = body[i];
    if (c == '[' && !(i > 0 && body[i - 1] == '$')) {
      host_.risky_expansion("a subscript inside arithmetic can run commands", {begin, end});
      return;
    }
    if (!is_name_start(c) ||
        (i > 0 && (std::isalnum(static_cast<unsigned char>(body[i - 1])) != 0 || body[i - 1] == '#')))
      continue;
    size_t stop = i;
    while (stop < body.size() && is_name_char(body[stop])) ++stop;
    const std::string_view name = body.substr(i, stop - i);
    const size_t next = body.find_first_not_of(' ', stop);
    const bool assigned = next != std::string_view::npos && body[next] == '=' && body.substr(next, 2) != "==";
    const Value* value = host_.variable(name);
    const bool numeric = value != nullptr && !value->empty() &&
                         value->front().find_first_not_of("0123456789-+ \x03") == std::string::npos;
    if (assigned) {
      host_.assign(name, {std::string(1, kDigits)});
    } else if (!numeric) {
      host_.risky_expansion("arithmetic on a value that is not known to be a number", {begin, end});
      return;
    }
    i = stop - 1;
  }
}

}  // namespace ttyward::policy
