// How a cell looks, and the table that gives each look a small number.
//
// A Style is a 16-byte value. Cells hold its number (StyleId); the screen's
// StyleTable is the only place that maps one to the other. Number 0 is always
// the default style, so a zeroed cell is a blank cell.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace ttyward::vt {

// Default, one of 256 palette entries, or 24-bit RGB.
class Color {
 public:
  enum class Kind : uint8_t { Default = 0, Palette = 1, Rgb = 2 };

  constexpr Color() = default;
  static constexpr Color palette(uint8_t index) { return Color(1u << 24 | index); }
  static constexpr Color rgb(uint8_t r, uint8_t g, uint8_t b) {
    return Color(2u << 24 | static_cast<uint32_t>(r) << 16 | static_cast<uint32_t>(g) << 8 | b);
  }

  constexpr Kind kind() const { return static_cast<Kind>(value_ >> 24); }
  constexpr bool is_default() const { return value_ == 0; }
  constexpr uint8_t index() const { return static_cast<uint8_t>(value_); }
  constexpr uint32_t rgb_value() const { return value_ & 0xFFFFFF; }
  constexpr uint32_t raw() const { return value_; }
  constexpr bool operator==(const Color&) const = default;

 private:
  explicit constexpr Color(uint32_t value) : value_(value) {}
  uint32_t value_ = 0;
};

enum class Underline : uint8_t { None, Single, Double, Curly, Dotted, Dashed };

struct Style {
  // Bits of `attributes`; the underline style sits in bits 9 to 11.
  static constexpr uint16_t kBold = 1 << 0;
  static constexpr uint16_t kDim = 1 << 1;
  static constexpr uint16_t kItalic = 1 << 2;
  static constexpr uint16_t kBlink = 1 << 3;
  static constexpr uint16_t kInverse = 1 << 4;
  static constexpr uint16_t kHidden = 1 << 5;
  static constexpr uint16_t kStrike = 1 << 6;
  static constexpr uint16_t kOverline = 1 << 7;
  static constexpr uint16_t kProtected = 1 << 8;  // DECSCA: selective erase leaves it alone
  static constexpr uint16_t kUnderlineShift = 9;
  static constexpr uint16_t kUnderlineMask = 7 << kUnderlineShift;

  Color foreground;
  Color background;
  Color underline_color;
  uint16_t attributes = 0;
  uint16_t link = 0;  // number in the screen's LinkTable; 0 is no link

  constexpr bool has(uint16_t attribute) const { return (attributes & attribute) != 0; }
  constexpr void set(uint16_t attribute) { attributes = static_cast<uint16_t>(attributes | attribute); }
  constexpr void clear(uint16_t attribute) { attributes = static_cast<uint16_t>(attributes & ~attribute); }
  constexpr Underline underline() const {
    return static_cast<Underline>((attributes & kUnderlineMask) >> kUnderlineShift);
  }
  constexpr void set_underline(Underline underline) {
    attributes = static_cast<uint16_t>((attributes & ~kUnderlineMask) |
                                       (static_cast<uint16_t>(underline) << kUnderlineShift));
  }
  constexpr bool operator==(const Style&) const = default;
};
static_assert(sizeof(Style) == 16, "StyleTable hashes a Style as two words");

using StyleId = uint32_t;

// Interns styles. Numbers stay valid until `sweep` is told that nobody uses them.
class StyleTable {
 public:
  StyleTable();

  StyleId intern(const Style& style);
  const Style& operator[](StyleId id) const { return styles_[id]; }

  // One past the highest number ever in use: the size of a table indexed by StyleId.
  size_t capacity() const { return styles_.size(); }
  size_t live() const { return styles_.size() - free_.size(); }

  // Collecting is worth its while once the table has outgrown what was live after the last time.
  bool wants_sweep() const { return live() >= sweep_at_; }
  // Frees every number whose bit in `used` (indexed by StyleId) is false.
  void sweep(const std::vector<bool>& used);

 private:
  static uint64_t hash(const Style& style);
  void insert_slot(StyleId id);
  void rebuild(size_t slots);

  static constexpr size_t kFirstSweep = 8192;  // styles; small enough to scan, rare enough not to matter

  std::vector<Style> styles_;
  std::vector<StyleId> free_;
  std::vector<uint32_t> slots_;  // open addressing, id + 1; 0 is empty; a power of two
  size_t sweep_at_ = kFirstSweep;
};

}  // namespace ttyward::vt
