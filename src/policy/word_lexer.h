// The inside of WordReader: characters of a word to items that can still be split.
#pragma once

#include "policy/braces.h"
#include "policy/words.h"

namespace ttyward::policy {

enum class LexMode : uint8_t { Word, Pattern, Heredoc };

class WordLexer {
 public:
  struct Expansion {
    Value values;           // more than one: "${array[@]}"
    std::string other;      // see Field::other
    bool separate = false;  // "$@", "${a[@]}": its values are fields of their own
  };

  WordLexer(WordReader& reader, uint32_t begin, uint32_t end, LexMode mode)
      : reader_(reader), at_(begin), begin_(begin), end_(end), mode_(mode) {}

  void run();

  WordItems items;
  std::vector<Expansion> expansions;
  bool disguised = false;
  bool quoted = false;
  bool expanded = false;

 private:
  char peek(uint32_t ahead = 0) const { return at_ + ahead < end_ ? reader_.text_[at_ + ahead] : '\0'; }
  std::string_view slice(uint32_t from, uint32_t to) const { return reader_.text_.substr(from, to - from); }
  void put(char c, bool is_quoted) { items.push_back({c, is_quoted, -1}); }
  void put_expansion(Expansion expansion, bool is_quoted);
  void put_unknown(bool is_quoted) { put_expansion({{std::string(1, kAny)}, "", false}, is_quoted); }
  void fail(std::string why);

  Expansion plain_value(std::string_view name);
  void single_quotes();
  void ansi_c_quotes();
  void double_quotes();
  void backslash(bool in_quotes);
  void dollar(bool is_quoted);
  void backquote(bool is_quoted);
  void braced_expansion(bool is_quoted);
  void operate(std::string_view name, const Value* value, uint32_t from, uint32_t to, bool is_quoted,
               Expansion& result);
  bool take_substitution(NodeKind kind, bool is_quoted);

  WordReader& reader_;
  uint32_t at_;
  uint32_t begin_;
  uint32_t end_;
  LexMode mode_;
  bool failed_ = false;
};

bool is_name_start(char c);
bool is_name_char(char c);

}  // namespace ttyward::policy
