// The walk over one piece of shell text. Used by command_facts.cc and by itself for text inside text.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "policy/bash_tree.h"
#include "policy/command_facts.h"
#include "policy/invocation.h"
#include "policy/judge.h"
#include "policy/words.h"

namespace ttyward::policy {

// sudo env nice sh -c …: deeper wrapping than this is not understood.
inline constexpr int kMaxWrapperDepth = 10;

class ShellWalk final : public ExpansionHost, public CommandWalk {
 public:
  // `outer` is where the text stands in the command people see, for text inside text.
  ShellWalk(std::string_view text, ShellState state, const Place& place, Facts& facts, int depth, Span outer);

  // Walks everything; returns what it prints, as far as known.
  std::string run(const Input& input);
  const ShellState& final_state() const { return state_; }

  // ExpansionHost
  const Value* variable(std::string_view name) override;
  std::string possible_value(std::string_view name) override;
  void assign(std::string_view name, Value value) override;
  std::string substitution(uint32_t node) override;
  void visit_nested(uint32_t node) override;
  void not_understood(std::string why, Span span) override;
  void risky_expansion(std::string why, Span span) override;
  std::string_view home() const override { return place_.home; }
  std::string_view working_directory() const override {
    return state_.cwds.size() == 1 ? std::string_view(state_.cwds.front()) : std::string_view();
  }

  // CommandWalk
  std::string run_command(std::span<const Field> argv, Span span, const Input& input) override;
  std::string run_script(const std::string& text, Span span, bool in_this_shell, const Input& input) override;
  ShellState& state() override { return state_; }
  const Place& place() const override { return place_; }
  Facts& facts() override { return facts_; }
  bool in_background() const override { return background_ > 0; }
  bool in_pipeline() const override { return pipeline_ > 0; }
  int depth() const override { return depth_; }

 private:
  struct Assignment {
    std::string name;
    std::string value;
  };
  // What redirections leave for the command itself.
  struct Redirections {
    Input input;
    std::vector<Field> arguments;  // words after a here-document's mark
    std::vector<uint32_t> after;   // statements after it
    std::vector<uint32_t> stages;  // the rest of its pipeline
    bool any_input = false;
  };

  const Node& node(uint32_t index) const { return tree_.nodes[index]; }
  std::string_view slice(const Node& part) const { return text_.substr(part.begin, part.end - part.begin); }
  Span outward(Span span) const { return depth_ == 0 ? span : outer_; }
  Span span_of(uint32_t index) const { return outward({node(index).begin, node(index).end}); }
  bool is_token(uint32_t index, std::string_view text) const {
    return node(index).kind == NodeKind::Token && slice(node(index)) == text;
  }

  // Statements: walk_statements.cc
  std::string statement(uint32_t index, const Input& input);
  std::string sequence(uint32_t first, uint32_t stop, const Input& input);
  std::string list(uint32_t index, const Input& input);
  std::string pipeline(uint32_t index, const Input& input, const Input& last_input);
  std::string stages(const std::vector<uint32_t>& parts, Input input, const Input& last_input);
  void conditional(uint32_t index, const Input& input);
  void loop(uint32_t index, const Input& input);
  bool spawns_for_ever(uint32_t index, uint32_t body) const;
  void for_loop(uint32_t index, const Input& input);
  void case_statement(uint32_t index, const Input& input);
  void function_definition(uint32_t index);
  void test_command(uint32_t index);
  std::string call_function(uint32_t definition, const Input& input);
  void set_parameters(const std::vector<std::string>& parameters);
  void body_twice(uint32_t body, const Input& input);

  void rough_reading();  // walk_rough.cc

  // Simple commands: walk_commands.cc
  std::string simple_command(uint32_t index, const Input& input, const std::vector<Field>& extra);
  std::string redirected(uint32_t index, const Input& input);
  std::string declaration(uint32_t index, const Input& input);
  void bare_assignment(uint32_t index);
  Assignment read_assignment(uint32_t index);
  void redirect(uint32_t index, Redirections& out);
  void file_redirect(uint32_t index, Redirections& out);
  void heredoc(uint32_t index, Redirections& out);
  void read_word(uint32_t index, WordContext context, std::vector<Field>& out);
  void record(CommandFact fact);
  void line_finding(Risk risk, EffectKind kind, std::string reason, Span span);

  std::string_view text_;
  BashTree tree_;
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
  int depth_guard_ = 0;            // commands inside commands
  std::vector<uint32_t> running_;  // functions on the way, for recursion
};

}  // namespace ttyward::policy
