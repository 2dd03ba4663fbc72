// Reading the command line, as far as it helps to know what the output is: which programs write it.
#include <algorithm>
#include <array>

#include "digest/line_scan.h"
#include "digest/page.h"

namespace ttyward::digest {
namespace {

// They print a text that somebody wants to read.
constexpr std::array kReaders = {"cat", "bat", "head", "tail", "sed", "less",    "more", "man",
                                 "awk", "cut", "help", "nl",   "xxd", "hexdump", "od"};
// What they read stays what it is.
constexpr std::array kFilters = {"grep", "egrep",  "sort", "uniq", "tr",  "column", "tee",  "tac",
                                 "fold", "expand", "col",  "fmt",  "rev", "paste",  "iconv"};
// They say nothing, or a word.
constexpr std::array kSilent = {"cd",    "pushd",  "popd",  "export",   "set",   "unset",  "source", ".",
                                "mkdir", "rm",     "rmdir", "cp",       "mv",    "ln",     "touch",  "chmod",
                                "chown", "sleep",  "true",  "false",    "echo",  "printf", "wait",   "kill",
                                "trap",  "alias",  "shopt", "ulimit",   "umask", "test",   "[",      "for",
                                "do",    "done",   "if",    "then",     "else",  "fi",     "while",  ":",
                                "exit",  "return", "break", "continue", "read",  "shift",  "let"};
// They run what follows them.
constexpr std::array kWrappers = {"sudo", "env",     "time",     "nice",    "nohup", "command",
                                  "exec", "builtin", "stdbuf",   "ionice",  "do",    "then",
                                  "else", "if",      "while",    "!",       "{",     "(",
                                  "doas", "setsid",  "xvfb-run", "timeout", "watch", "until"};
// -h of theirs is not a call for help.
constexpr std::array kHuman = {"du",   "df",   "ls",   "free", "sort", "lsblk",
                               "head", "tail", "grep", "tree", "ssh",  "psql"};

template <typename List>
bool is_one_of(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::string_view base_name(std::string_view word) {
  const size_t slash = word.rfind('/');
  return slash == std::string_view::npos || slash + 1 == word.size() ? word : word.substr(slash + 1);
}

bool is_assignment(std::string_view word) {
  const size_t equals = word.find('=');
  return equals != std::string_view::npos && equals > 0 &&
         std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
         });
}

// Splits a line into simple commands. Quotes are removed; what is expanded stays as it was written.
class Splitter {
 public:
  Splitter(std::string_view text, std::vector<SimpleCommand>& out) : text_(text), out_(out) {}

  void split(int depth) {
    depth_ = depth;
    for (at_ = 0; at_ < text_.size() && out_.size() < kMostCommands;) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t') {
        ++at_;
      } else if (c == '#' && (at_ == 0 || text_[at_ - 1] == ' ' || text_[at_ - 1] == '\n')) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '|' && !next_is('|')) {
        at_ += next_is('&') ? 2 : 1;
        end_command(true);
      } else if (c == ';' || c == '\n' || c == '&' || c == '|') {
        if (c == '&' && next_is('>')) {
          redirect();
          continue;
        }
        ++at_;
        end_command(false);
      } else if (c == '(' || c == ')') {
        ++at_;
        end_command(false);
      } else if (c == '>' || c == '<') {
        redirect();
      } else {
        add(word());
      }
    }
    end_command(false);
  }

 private:
  static constexpr size_t kMostCommands = 100;
  static constexpr size_t kMostWords = 200;

  bool next_is(char c) const { return at_ + 1 < text_.size() && text_[at_ + 1] == c; }

  std::string word() {
    std::string out;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\\' && at_ + 1 < text_.size()) {
        out += text_[at_ + 1];
        at_ += 2;
      } else if (c == '\'' || c == '"') {
        size_t end = at_ + 1;
        for (; end < text_.size() && text_[end] != c; ++end) {
          if (c == '"' && text_[end] == '\\' && end + 1 < text_.size()) ++end;
          out += text_[end];
        }
        at_ = std::min(end + 1, text_.size());
      } else if ((c == '$' || c == '<' || c == '>') && next_is('(')) {
        size_t end = at_ + 2;
        for (int open = 1; end < text_.size() && open > 0; ++end)
          open += text_[end] == '(' ? 1 : text_[end] == ')' ? -1 : 0;
        out += text_.substr(at_, end - at_);
        at_ = end;
      } else if (std::string_view(" \t\n;&|()<>").find(c) != std::string_view::npos) {
        // "2>" belongs to what follows.
        if ((c == '>' || c == '<') && out.find_first_not_of("0123456789") == std::string::npos) out.clear();
        break;
      } else {
        out += c;
        ++at_;
      }
    }
    return out;
  }

  // `> file`, `2>&1`, `&> file`, `<<< text`.
  void redirect() {
    if ((text_[at_] == '<' || text_[at_] == '>') && next_is('(')) return add(word());
    const bool standard_error = at_ > 0 && text_[at_ - 1] == '2';
    const bool writes = text_[at_] != '<';
    while (at_ < text_.size() && std::string_view("<>&").find(text_[at_]) != std::string_view::npos) ++at_;
    const bool copies = text_[at_ - 1] == '&';
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    const std::string target = word();
    if (writes && !standard_error && !copies && target != "/dev/tty" && target != "/dev/stdout" &&
        target != "/dev/stderr")
      now_.to_file = true;
  }

  void add(std::string word) {
    if (words_.size() < kMostWords && !word.empty()) words_.push_back(std::move(word));
  }

  void end_command(bool piped) {
    SimpleCommand command = std::move(now_);
    now_ = {};
    now_.reads_pipe = piped;
    size_t i = 0;
    while (i < words_.size() && (is_assignment(words_[i]) || is_one_of(kWrappers, base_name(words_[i])))) {
      const bool wrapper = !is_assignment(words_[i]);
      const std::string_view name = base_name(words_[i++]);
      if (!wrapper) continue;
      while (i < words_.size() && words_[i].starts_with("-")) ++i;
      if (name == "timeout" && i < words_.size()) ++i;  // how long
    }
    command.piped = piped;
    if (i < words_.size()) {
      command.program = base_name(words_[i]);
      command.arguments.assign(words_.begin() + static_cast<std::ptrdiff_t>(i) + 1, words_.end());
      const bool shell = command.program == "sh" || command.program == "bash" || command.program == "zsh" ||
                         command.program == "dash";
      const size_t line = !shell || command.arguments.size() < 2                                         ? 0
                          : command.arguments[0].starts_with("-") && command.arguments[0].ends_with("c") ? 1
                                                                                                         : 0;
      if (line > 0 && depth_ < 3) {
        const std::string inner = command.arguments[line];
        Splitter(inner, out_).split(depth_ + 1);
      } else {
        out_.push_back(std::move(command));
      }
    }
    words_.clear();
  }

  std::string_view text_;
  std::vector<SimpleCommand>& out_;
  std::vector<std::string> words_;
  SimpleCommand now_;
  size_t at_ = 0;
  int depth_ = 0;
};

bool is_silent(const SimpleCommand& command) {
  if (command.to_file || is_one_of(kSilent, command.program)) return true;
  return command.program == "sed" &&
         std::any_of(command.arguments.begin(), command.arguments.end(),
                     [](const std::string& word) { return word.starts_with("-i") || word == "--in-place"; });
}

bool asks_for_help(const SimpleCommand& command) {
  const std::vector<std::string>& words = command.arguments;
  if (std::find(words.begin(), words.end(), "--help") != words.end()) return true;
  return !words.empty() && words.back() == "-h" && !is_one_of(kHuman, command.program) &&
         std::none_of(words.begin(), words.end() - 1,
                      [](const std::string& word) { return word.starts_with("-"); });
}

}  // namespace

bool Page::runs(std::string_view program) const {
  return std::any_of(commands.begin(), commands.end(),
                     [&](const SimpleCommand& command) { return command.program == program; });
}

bool Page::runs(std::string_view program, std::string_view verb) const {
  return std::any_of(commands.begin(), commands.end(), [&](const SimpleCommand& command) {
    return command.program == program &&
           std::find(command.arguments.begin(), command.arguments.end(), verb) != command.arguments.end();
  });
}

void read_command(Page& page) {
  Splitter(page.options.command, page.commands).split(0);
  // Each pipeline that prints: is it a text to be read?
  bool any = false;
  bool all = true;
  for (size_t begin = 0; begin < page.commands.size();) {
    size_t end = begin;
    while (end + 1 < page.commands.size() && page.commands[end].piped) ++end;
    const SimpleCommand& first = page.commands[begin];
    const SimpleCommand& last = page.commands[end];
    if (!is_silent(last)) {
      // `cmd | head` prints what cmd printed; `cat file` is there to be read.
      bool reads = is_one_of(kReaders, first.program) || asks_for_help(first);
      for (size_t i = begin + 1; i <= end; ++i)
        reads = reads && (is_one_of(kReaders, page.commands[i].program) ||
                          is_one_of(kFilters, page.commands[i].program));
      any = any || reads;
      all = all && reads;
      for (size_t i = begin; i <= end; ++i) {
        // A pipeline prints what its first program said, unless a later one makes something else of it.
        if (i == begin ||
            (!is_one_of(kReaders, page.commands[i].program) &&
             !is_one_of(kFilters, page.commands[i].program)) ||
            page.commands[i].program.ends_with("grep"))
          page.writers.push_back(page.commands[i].program);
      }
    }
    begin = end + 1;
  }
  page.content = any && all;
  for (const SimpleCommand& command : page.commands) {
    page.argv.push_back(command.program);
    for (const std::string& word : command.arguments) page.argv.emplace_back(base_name(word));
  }
}

}  // namespace ttyward::digest
