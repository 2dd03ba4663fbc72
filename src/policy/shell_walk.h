// The walk over one piece of shell text. Used by command_facts.cc and by itself for text inside text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/command_facts.h"
#include "policy/invocation.h"
#include "policy/judge.h"
#include "policy/words.h"
#include "syntax/parse.h"

namespace ttyward::policy {

// sudo env nice sh -c …: deeper wrapping than this is not understood.
inline constexpr int kMaxWrapperDepth = 10;

class ShellWalk final : public ExpansionHost, public CommandWalk {
 public:
  // `outer` is where the text stands in the command people see, for text inside text.
  ShellWalk(std::string_view text, const syntax::Reading& reading, ShellState state, const Place& place,
            Facts& facts, int depth, Span outer);

  // Walks everything; returns what it prints, as far as known.
  std::string run(const Input& input);
  const ShellState& final_state() const { return state_; }

  // ExpansionHost
  const Value* variable(std::string_view name) override;
  std::string possible_value(std::string_view name) override;
  void assign(std::string_view name, Value value) override;
  Printed substitution(const syntax::List& list) override;
  Printed process(const syntax::List& list) override;
  void not_understood(std::string why, Span span) override;
  void risky_expansion(std::string why, Span span) override;
  std::string_view home() const override { return place_.home; }
  std::string_view working_directory() const override {
    return state_.cwds.size() == 1 ? std::string_view(state_.cwds.front()) : std::string_view();
  }
  syntax::Dialect dialect() const override { return reading_.dialect; }
  bool names_contain(std::string_view value, std::string_view characters) override;

  // CommandWalk
  std::string run_command(std::span<const Field> argv, Span span, const Input& input) override;
  std::string run_script(const std::string& text, Span span, bool in_this_shell, const Input& input,
                         std::optional<syntax::Dialect> dialect) override;
  ShellState& state() override { return state_; }
  const Place& place() const override { return place_; }
  Facts& facts() override { return facts_; }
  syntax::Dialect shell_dialect() const override { return reading_.dialect; }
  bool in_background() const override { return background_ > 0; }
  bool in_pipeline() const override { return pipeline_ > 0; }
  int depth() const override { return depth_; }

 private:
  // What redirections leave for the command itself.
  struct Redirections {
    Input input;
    bool any_input = false;
    bool to_process = false;           // its output goes to a process substitution
    std::vector<std::string> written;  // paths its output goes to
  };

  Span outward(Span span) const { return depth_ == 0 ? span : outer_; }

  // Statements: walk_statements.cc
  std::string list(const syntax::List& items, const Input& input);
  std::string and_or(const syntax::AndOr& item, const Input& input);
  std::string pipeline(const syntax::Pipeline& item, const Input& input);
  std::string command(const syntax::Command& item, const Input& input);
  std::string compound(const syntax::Command& item, const Input& input);
  void note_background(const syntax::AndOr& item);
  void conditional(const syntax::Command& item, const Input& input);
  void loop(const syntax::Command& item, const Input& input);
  bool never_ends(size_t commands) const;
  bool cuts_off(size_t commands) const;
  void raise_fed_shells(size_t from, size_t to);
  bool spawns_for_ever(const syntax::Command& item) const;
  void for_loop(const syntax::Command& item, const Input& input);
  void case_statement(const syntax::Command& item, const Input& input);
  void function_definition(const syntax::Command& item);
  void test_command(const syntax::Command& item);
  // A function's body, and what speaks against calling it with whatever arguments.
  struct Definition {
    const syntax::Command* body;
    std::vector<CommandFact> commands;
    std::vector<Finding> findings;
  };
  void judge_definition(const syntax::Command* body);
  void take_definition(Definition& definition);
  std::string call_function(const syntax::Command* body, const Input& input);
  void set_parameters(const std::vector<std::string>& parameters);
  void body_twice(const syntax::List& body, const Input& input);

  void rough_reading();  // walk_rough.cc

  // Simple commands: walk_commands.cc
  std::string simple_command(const syntax::Command& item, const Input& input);
  std::string call_by_name(const std::vector<Field>& argv, Span span, const Input& input);
  void assignments(const syntax::Command& item, bool before_command, Span span);
  Value array_values(const syntax::Word& word);
  void read_argument(const syntax::Command& item, const syntax::Word& word, std::vector<Field>& out);
  void other_values(const std::vector<Field>& argv, Span span, const Input& input);
  void redirect(const syntax::Redirect& item, Redirections& out);
  void file_redirect(const syntax::Redirect& item, Redirections& out);
  void read_word(const syntax::Word& word, WordContext context, std::vector<Field>& out);
  // Aliases and functions that the terminal's shell has already. False: what runs is not what is written.
  void terminal_names(const syntax::Command& item, std::vector<Field>& argv);
  void own_names(Invocation& call);
  bool network_since(size_t commands) const;
  void record(CommandFact fact);
  void line_finding(Risk risk, EffectKind kind, std::string reason, Span span);

  std::string_view text_;
  syntax::Reading reading_;
  tl::expected<syntax::List, syntax::NotUnderstood> tree_;
  WordReader reader_;
  ShellState state_;
  const Place& place_;
  Facts& facts_;
  int depth_;
  Span outer_;
  Value scratch_;  // what variable() answers for the shell's own variables
  int background_ = 0;
  int pipeline_ = 0;
  int loops_ = 0;
  int depth_guard_ = 0;                          // commands inside commands
  bool same_shell_ = true;                       // read by the terminal's own shell: its names count
  std::vector<Definition> definitions_;          // that nothing called so far
  std::vector<const syntax::Command*> running_;  // functions on the way, for recursion
};

}  // namespace ttyward::policy
