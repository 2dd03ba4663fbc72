// Arguments that several calls share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/provider.h"
#include "wire/types/describe.h"

namespace ttyward::wire {

inline constexpr std::string_view kViewNames = "default|digest|head|tail|full|agent|void|roo|gemini";

inline constexpr std::string_view kDescriptionAbout =
    "what it is for, in the caller's words; kept in the history, and no part of any decision";

// How much of the output a result holds.
struct ViewArguments {
  std::optional<std::string> view;
  std::optional<int64_t> lines;
  std::optional<int64_t> chars;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("view", self.view,
            "preset of how much output is returned; `agent` is the configured one, and a digest unless one "
            "is configured",
            OneOf{kViewNames}, Usual{"`output.view`"});
    v.field("lines", self.lines, "lines of output at most, instead of the preset's", Range{0, 10'000'000});
    v.field("chars", self.chars, "characters of output at most, instead of the preset's", Range{0, 16 << 20});
  }
};

struct Size {
  int64_t cols = 80;
  int64_t rows = 24;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("cols", self.cols, "columns", Range{1, 1000});
    v.field("rows", self.rows, "rows", Range{1, 1000});
  }
};

using base::Provider;

enum class OnCancel : uint8_t { Leave, Interrupt };
constexpr std::array<std::string_view, 2> names_of(OnCancel) {
  return {"leave", "interrupt"};
}

}  // namespace ttyward::wire
