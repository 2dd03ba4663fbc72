// The inside of WordReader: the parts of a word to items that can still be split.
#pragma once

#include "policy/braces.h"
#include "policy/words.h"

namespace ttyward::policy {

class WordExpander {
 public:
  struct Expanded {
    Value values;           // more than one: "${array[@]}"
    std::string other;      // see Field::other
    bool separate = false;  // "$@", "${a[@]}": its values are fields of their own
  };

  WordExpander(WordReader& reader, ExpansionHost& host) : reader_(reader), host_(host) {}

  void run(const std::vector<syntax::Part>& parts);

  WordItems items;
  std::vector<Expanded> expansions;
  bool disguised = false;
  bool quoted = false;
  bool expanded = false;
  bool from_network = false;

 private:
  void put(Expanded value, bool is_quoted);
  void text(const syntax::Part& part);
  void parameter(const syntax::Part& part);
  Expanded plain_value(std::string_view name);
  Expanded special_value(const syntax::Expansion& expansion);
  Expanded operate(const syntax::Expansion& expansion, const Value* value);
  void note_disguise(const std::vector<syntax::Part>& parts);

  WordReader& reader_;
  ExpansionHost& host_;
};

}  // namespace ttyward::policy
