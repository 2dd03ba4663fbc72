#include "shell/platform.h"

#include <algorithm>
#include <array>

namespace ttyward::shell {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool is_operator(char c) {
  return c == '|' || c == '&' || c == ';' || c == '<' || c == '>' || c == '(' || c == ')';
}

std::string lowered(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

// Commands whose arguments are all paths, switches apart.
constexpr std::array<std::string_view, 22> kTakePaths = {
    "cd",    "chdir", "pushd", "dir", "ls",  "type",  "cat", "more", "del",  "erase", "rm",
    "mkdir", "md",    "rmdir", "rd",  "ren", "touch", "mv",  "move", "copy", "cp",    "xcopy"};

bool takes_paths(std::string_view program) {
  return std::find(kTakePaths.begin(), kTakePaths.end(), lowered(program)) != kTakePaths.end();
}

// s/from/to/, with flags behind it; also y/…/…/ and s|…: only those with slashes matter here.
bool is_sed_expression(std::string_view word) {
  if (word.size() < 4 || (word[0] != 's' && word[0] != 'y') || word[1] != '/') return false;
  const size_t last = word.rfind('/');
  if (std::count(word.begin(), word.end(), '/') != 3) return false;
  return std::all_of(word.begin() + static_cast<std::ptrdiff_t>(last) + 1, word.end(),
                     [](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

bool is_address(std::string_view word) {
  if (word.find("://") != std::string_view::npos) return true;
  const size_t at = word.find('@');
  return at != std::string_view::npos && word.find(':', at) != std::string_view::npos;  // git@host:path
}

bool has_drive(std::string_view word) {
  return word.size() > 2 && is_letter(word[0]) && word[1] == ':' && word[2] == '/';
}

// main.cc, archive.tar.gz; not 1/2.5, not user/repository.git, not ubuntu:22.04.
bool has_extension(std::string_view word) {
  const std::string_view name = word.substr(word.rfind('/') + 1);
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == name.size() || name.size() - dot > 9) return false;
  if (name.find(':') != std::string_view::npos) return false;
  const std::string_view extension = name.substr(dot + 1);
  return is_letter(extension[0]) && extension != "git" &&
         std::all_of(extension.begin(), extension.end(),
                     [](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '*'; });
}

enum class Place : uint8_t { Program, PathArgument, Argument };

bool is_path(std::string_view word, Place place) {
  const size_t slash = word.find('/');
  if (slash == std::string_view::npos || is_address(word) || is_sed_expression(word)) return false;
  if (word == "/") return place != Place::Argument;
  if (word.starts_with("./") || word.starts_with("../") || word.starts_with("~/") || has_drive(word) ||
      word.starts_with("//"))
    return true;
  // /S and /p:Configuration=Release are switches; /usr/bin has a component more.
  if (slash == 0)
    return word.find_first_of("/:=", 1) != std::string_view::npos &&
           word[word.find_first_of("/:=", 1)] == '/';
  if (place != Place::Argument) return true;
  if (word.find(' ') != std::string_view::npos || word.front() == '@') return false;  // prose, @scope/package
  return word.back() == '/' || has_extension(word);
}

class Translation {
 public:
  explicit Translation(std::string_view line) : line_(line) {}

  std::string run() {
    while (at_ < line_.size()) {
      const char c = line_[at_];
      if (is_blank(c)) {
        out_ += c;
        at_++;
      } else if (is_operator(c)) {
        // What follows a redirection is a file; what follows anything else begins a command.
        redirected_ = c == '<' || c == '>';
        if (!redirected_) program_.clear();
        out_ += c;
        at_++;
      } else {
        word();
      }
    }
    return std::move(out_);
  }

 private:
  // The word that begins here, as written, quotes included.
  std::string_view take_word() {
    const size_t begin = at_;
    char quote = '\0';
    for (; at_ < line_.size(); at_++) {
      const char c = line_[at_];
      if (quote != '\0') {
        if (c == quote) quote = '\0';
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (is_blank(c) || is_operator(c)) {
        break;
      }
    }
    return line_.substr(begin, at_ - begin);
  }

  static std::string_view unquoted(std::string_view word) {
    const bool quoted =
        word.size() >= 2 && (word.front() == '"' || word.front() == '\'') && word.back() == word.front();
    return quoted ? word.substr(1, word.size() - 2) : word;
  }

  void word() {
    std::string_view word = take_word();
    const bool is_program = program_.empty() && !redirected_;
    Place place = is_program || redirected_ ? Place::Program
                  : takes_paths(program_)   ? Place::PathArgument
                                            : Place::Argument;
    // --out=build/x, NAME=a/b.txt: the value is a word of its own.
    const size_t equals = word.find('=');
    const bool assigns =
        equals != std::string_view::npos && equals > 0 && word.find_first_of("/\"'") > equals;
    if (assigns) {
      out_ += word.substr(0, equals + 1);
      word.remove_prefix(equals + 1);
      place = Place::Argument;
    } else if (word.starts_with('-')) {
      out_ += word;
      return;
    }
    std::string text(word);
    if (is_path(unquoted(word), place)) std::replace(text.begin(), text.end(), '/', '\\');
    out_ += text;
    if (is_program && !assigns) program_ = unquoted(word);
    redirected_ = false;
  }

  std::string_view line_;
  size_t at_ = 0;
  std::string out_;
  std::string program_;  // of the command we are in; empty: it has not come yet
  bool redirected_ = false;
};

}  // namespace

std::string_view list_files_command(Platform platform) {
  return platform == Platform::Windows ? "dir" : "ls -la";
}

std::string platform_command(std::string_view command, Platform platform) {
  if (platform != Platform::Windows) return std::string(command);
  return Translation(command).run();
}

}  // namespace ttyward::shell
