// How well a shell tells us what it does, and how the end of a command came to be known.
#pragma once

#include <cstdint>

namespace ttyward::shell {

enum class Quality : uint8_t {
  None,   // no marks: ends are found by sentinel, or by the process going away
  Basic,  // prompts are marked (PS1 of simple shells, somebody else's OSC 133), or marks that prove nothing
  Rich,   // our hooks: prompt, command line, start, end, each with our nonce
};

enum class KnownBy : uint8_t {
  Nothing,     // it ended, or must have; how is not known
  Wait,        // the kernel: the shell itself went away
  ShellMark,   // a hook of ours, with our nonce
  PromptMark,  // a mark in a prompt
  Sentinel,    // text printed after the command
};

// The names results use. Empty for KnownBy::Nothing.
const char* quality_name(Quality quality);
const char* known_by_name(KnownBy known_by);

}  // namespace ttyward::shell
