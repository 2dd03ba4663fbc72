// One simple command being judged: what it was called with, and ways to say what it does.
//
// The readers in special/*.cc get an Invocation each. It knows no syntax; it
// writes to a CommandFact and calls back into the walk for commands inside
// commands.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/facts.h"
#include "policy/name_expansion.h"
#include "policy/program_table.h"
#include "policy/shell_state.h"
#include "policy/words.h"

namespace ttyward::policy {

// What a command reads from its standard input, as far as that is known.
struct Input {
  bool given = false;  // a pipe, a here-document or a file: not the terminal
  std::string text;    // marks where unknown
  bool from_network = false;
  bool deletes_vital = false;           // names from a walk over a vital tree
  bool endless = false;                 // it never ends: yes, /dev/zero
  std::string likely;                   // what it may be, for finding catastrophes; empty: nobody knows
  std::vector<std::string> parameters;  // $0, $1 … of the text that runs

  static Input of(std::string text, bool from_network = false, bool deletes_vital = false) {
    return {true, std::move(text), from_network, deletes_vital, false, {}, {}};
  }
};

class Invocation;

// The walk over the line, seen from a command in it.
class CommandWalk {
 public:
  virtual ~CommandWalk() = default;
  // Judges `argv` as a command of its own (what env, sudo, xargs … start).
  virtual std::string run_command(std::span<const Field> argv, Span span, const Input& input) = 0;
  // Judges shell text (sh -c, eval, trap) in a copy of the state, or in this one. Without a dialect: that of
  // this shell.
  virtual std::string run_script(const std::string& text, Span span, bool in_this_shell, const Input& input,
                                 std::optional<syntax::Dialect> dialect = std::nullopt) = 0;
  virtual ShellState& state() = 0;
  virtual const Place& place() const = 0;
  virtual Facts& facts() = 0;
  virtual syntax::Dialect shell_dialect() const = 0;
  virtual bool in_background() const = 0;
  virtual bool in_pipeline() const = 0;
  virtual int depth() const = 0;
};

class Invocation {
 public:
  Invocation(CommandWalk& walk, std::vector<Field> argv, Span span, Input input);

  std::string_view word(size_t i) const {
    return i < argv.size() ? std::string_view(argv[i].text) : std::string_view();
  }
  std::span<const Field> rest(size_t from) const {
    return from < argv.size() ? std::span<const Field>(argv).subspan(from) : std::span<const Field>();
  }

  void effect(EffectKind kind, std::string target = {});
  void ask(Risk risk, EffectKind kind, std::string reason, std::string target = {});
  void deny(EffectKind kind, std::string reason, std::string target = {});
  // A program that usually only reads was made to do more: easily overlooked.
  void raise(Risk risk);
  // All it writes are the paths that were looked at: the general objection to its writing says no more than
  // what was found about them.
  void writes_nothing_else();
  void trick(std::string reason, Span where);

  void read_path(const Field& field, bool recursive = false);
  // Reads a folder with everything in it that `search` takes.
  void search_path(const Field& field, const FolderSearch& search);
  void list_path(const Field& field);
  void write_path(const Field& field, std::string_view verb = "writes");
  void delete_path(const Field& field, bool recursive, bool force);
  // chmod -R, chown -R and their kin.
  void change_tree(const Field& field, bool recursive);
  void run_program(std::span<const Field> inner, const Input& inner_input);
  void run_script(const Field& text, bool in_this_shell);
  void run_code(const Field& code, std::string_view language);

  // What runs comes from the network, as far as this line shows: it is unknown text, a process substitution
  // or a file that was fetched before, and something before talked to the network.
  bool runs_fetched(const Field& source) const;

  // All that a path may be, over every directory the shell may be in.
  PathFacts look(const Field& field) const;
  // Whether a name that the marks in `value` stand for, line by line, has one of the characters in it.
  bool names_contain(std::string_view value, std::string_view characters) const;
  // The folders a path may mean; empty: unknown.
  std::vector<std::string> folders(std::string_view path) const;

  CommandWalk& walk;
  std::vector<Field> argv;
  Span span;
  Input input;
  std::string output = std::string(1, kAny);  // what it prints, as far as known
  CommandFact fact;
  bool only_looks = false;  // one of the forms in which the program does nothing else

 private:
  bool listed_names_are_known(const Field& field) const;
};

// What a person sees of a field: unknown parts as "…", live globs as themselves.
std::string shown(const Field& field);
std::string shown(std::string_view text);

}  // namespace ttyward::policy
