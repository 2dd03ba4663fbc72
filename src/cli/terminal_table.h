// Terminals as rows: what `ls` and `top` show.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/colour.h"
#include "cli/terminal_use.h"
#include "wire/types/objects.h"

namespace ttyward::cli {

enum class Ids : uint8_t {
  Whole,
  Short,  // as much of each as tells it from the others
};

// The titles, then a line for each terminal. `width` 0: no limit. `now_ms` since the epoch.
std::vector<std::string> terminal_lines(const std::vector<const wire::Terminal*>& terminals,
                                        const TerminalUses& uses, Ids ids, size_t width, int64_t now_ms,
                                        Paint paint = {});

// Questions that wait for a person, a line each: how dangerous, what, where, who asks, how long still.
std::vector<std::string> approval_lines(const std::vector<const wire::Approval*>& approvals, size_t width,
                                        int64_t now_ms, Paint paint = {});

// What it runs, or ran last.
std::string command_of(const wire::Terminal& terminal);
int64_t now_in_ms();

// Those, for the above.
template <class T>
std::vector<const T*> pointers_to(const std::vector<T>& list) {
  std::vector<const T*> all;
  all.reserve(list.size());
  for (const T& each : list) all.push_back(&each);
  return all;
}

}  // namespace ttyward::cli
