// The strict reader of shell lines.
//
//   text + Reading ─► parse() ─► List, or NotUnderstood{offset, why}
//
// A gate must read a line as the shell will. So this parser accepts a subset of
// each shell's grammar on which there is no doubt, and refuses everything else:
// nothing is repaired, skipped or guessed. Every byte belongs to a word, an
// operator, a comment or a gap, and a gap is blanks or backslash-newline.
// docs/policy.md lists what is left out on purpose.
//
// Pure: no state outlives a call. Depth and size are bounded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "syntax/tree.h"

namespace ttyward::syntax {

enum class Dialect : uint8_t {
  Bash,
  Posix,  // dash, busybox ash, `sh -c`: what they and bash read alike
  Zsh,    // what zsh and bash read alike, less what zsh expands in its own way
  Fish,   // plain commands, lists and pipelines
};

// How the text reaches the shell.
enum class Manner : uint8_t {
  Script,  // as an argument or a file: bytes are bytes
  Typed,   // through a terminal: TAB and control bytes are keys, zsh has no comments
};

struct Reading {
  Dialect dialect = Dialect::Bash;
  Manner manner = Manner::Script;
};

struct NotUnderstood {
  uint32_t offset = 0;
  std::string why;
};

// What a byte of the text is, for checks of the parser itself.
enum class ByteRole : uint8_t { Unread, Word, Operator, Newline, Comment, Gap, HereDoc };

// Deeper nesting than this is refused.
inline constexpr int kMaxDepth = 40;

// With `roles`, says of every byte what it was read as; its size becomes that of the text.
tl::expected<List, NotUnderstood> parse(std::string_view text, const Reading& reading,
                                        std::vector<ByteRole>* roles = nullptr);

bool is_name_start(char c);
bool is_name_char(char c);

}  // namespace ttyward::syntax
