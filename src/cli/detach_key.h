// Finds the key, or keys, that end `attach` in what a person types.
//
// A key can come as different bytes, by what the program has asked of the keyboard:
// all forms count. The first keys of a sequence are held back until the next one
// tells whether they were meant for us. A value; no thread of its own.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ttyward::cli {

class DetachKey {
 public:
  // As for `send --keys`: "C-]", "C-b d".
  static base::Result<DetachKey> named(const std::string& keys);

  struct Typed {
    std::string for_program;
    bool detach = false;
    std::string rest = {};  // what follows the key
  };
  Typed feed(std::string_view bytes);
  const std::string& name() const { return name_; }

 private:
  // How long the key at the start of `bytes` is; 0: it is another one.
  size_t matches(std::string_view bytes) const;

  std::string name_;
  std::vector<std::vector<std::string>> keys_;  // forms of each key
  size_t seen_ = 0;                             // keys of the sequence that were typed
  std::string held_;
};

}  // namespace ttyward::cli
