// Every escape and control sequence the engine knows, in one table.
//
// Dispatch is built from it, and so is docs/vt/sequences.md (a test keeps the
// two equal). A row without a handler is ignored on purpose, and says why.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "vt/screen.h"

namespace ttyward::vt {

struct SequenceTable {
  using Handler = void (Screen::*)(const Params&);
  enum class Kind : uint8_t { Esc, Csi };
  struct Entry {
    Kind kind;
    char prefix;
    char first;  // intermediates
    char second;
    char final;
    const char* mnemonic;
    const char* meaning;
    Handler handler;  // null: ignored on purpose
  };

  static std::span<const Entry> entries();
  static Handler find(Kind kind, uint32_t key);
  // The handler for a CSI without prefix or intermediates.
  static Handler find_plain(char final);
  static Handler find_private(char final);

  static std::string to_markdown();
};

}  // namespace ttyward::vt
