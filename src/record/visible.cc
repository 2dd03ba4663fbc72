#include "record/visible.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

#include "base/mask_secrets.h"
#include "base/utf8.h"

namespace ttyward::record {
namespace {

using vt::Sequence;

constexpr uint32_t csi(char prefix, char intermediate, char final) {
  return Sequence::key(prefix, intermediate, 0, final);
}

// Control sequences that change the picture. Modes, window operations and strings are looked at closer.
constexpr uint32_t kPicture[] = {
    csi(0, 0, 'A'),    csi(0, 0, 'B'),   csi(0, 0, 'C'),   csi(0, 0, 'D'),   csi(0, 0, 'E'),
    csi(0, 0, 'F'),    csi(0, 0, 'G'),   csi(0, 0, '`'),   csi(0, 0, 'a'),   csi(0, 0, 'H'),
    csi(0, 0, 'f'),    csi(0, 0, 'd'),   csi(0, 0, 'e'),   csi(0, 0, 'u'),   csi(0, 0, 's'),
    csi(0, ' ', 'q'),  csi(0, 0, 'I'),   csi(0, 0, 'Z'),   csi(0, 0, 'g'),   csi('?', 0, 'W'),
    csi(0, 0, 'J'),    csi(0, 0, 'K'),   csi('?', 0, 'J'), csi('?', 0, 'K'), csi(0, 0, 'X'),
    csi(0, 0, '@'),    csi(0, 0, 'P'),   csi(0, 0, 'L'),   csi(0, 0, 'M'),   csi(0, 0, 'S'),
    csi(0, 0, 'T'),    csi(0, 0, '^'),   csi(0, ' ', '@'), csi(0, ' ', 'A'), csi(0, '\'', '}'),
    csi(0, '\'', '~'), csi(0, 0, 'r'),   csi(0, 0, 'b'),   csi(0, '$', 'x'), csi(0, '$', 'z'),
    csi(0, '$', '{'),  csi(0, '$', 'v'), csi(0, '$', 'r'), csi(0, '$', 't'), csi(0, '*', 'x'),
    csi(0, 0, 'm'),    csi(0, '#', '{'), csi(0, '#', 'p'), csi(0, '#', '}'), csi(0, '#', 'q'),
    csi(0, '"', 'q'),  csi(0, '!', 'p'), csi(0, '"', 'p'),
};

// 132 columns, smooth scroll, reverse video, origin, wrap, cursor, charsets, screens, margins, frames.
constexpr uint16_t kDecModes[] = {3,  4,  5,  6,    7,    12,   25,   40,   41,  42,
                                  45, 47, 69, 1045, 1047, 1048, 1049, 2026, 2027};
constexpr uint16_t kAnsiModes[] = {4, 20};  // insert, new line

constexpr std::string_view kEscapes = "78DEMHNO69Vc|}~noW";
constexpr std::string_view kDesignations = "()*+-./";

constexpr size_t kLongestString = 4096;  // of a title, a colour or a link; longer ones are left out

template <size_t N, typename T>
bool is_one_of(const T (&list)[N], T value) {
  return std::find(std::begin(list), std::end(list), value) != std::end(list);
}

// Whether the numbers of the OSC are those of titles, links or colours, and it asks for nothing.
bool is_visible_string(std::string_view data) {
  int code = -1;
  const auto [end, wrong] = std::from_chars(data.data(), data.data() + data.size(), code);
  if (wrong != std::errc{} || data.size() > kLongestString) return false;
  if (end != data.data() + data.size() && *end != ';') return false;
  if (code == 0 || code == 1 || code == 2 || code == 8) return true;
  const bool sets = code == 4 || code == 5 || (code >= 10 && code <= 19);
  const bool resets = code == 104 || code == 105 || (code >= 110 && code <= 119);
  return resets || (sets && data.find('?') == std::string_view::npos);
}

// Valid UTF-8 without controls.
std::string plain(std::string_view data) {
  std::string out;
  for (size_t at = 0; at < data.size();) {
    const char32_t c = base::decode_utf8(data, at);
    if (c >= 0x20 && (c < 0x7F || c >= 0xA0)) base::append_utf8(out, c);
  }
  return out;
}

}  // namespace

class VisibleHandler {
 public:
  VisibleHandler(Visible& state, std::string& out, const std::function<void()>& fresh_line)
      : state_(state), out_(out), fresh_line_(fresh_line) {}

  void print_ascii(const uint8_t* text, size_t n) {
    state_.left_out_ = false;
    out_.append(reinterpret_cast<const char*>(text), n);
  }
  void print_text(const char32_t* text, size_t n) {
    state_.left_out_ = false;
    for (size_t i = 0; i < n; i++) base::append_utf8(out_, text[i]);
  }
  void execute(uint8_t control) {
    if (control == '\n' && state_.line_feeds_ == LineFeeds::ReturnTheCarriage) out_ += '\r';
    // BS to CR, SO, SI.
    if (control >= 0x08 && control <= 0x0F) out_ += static_cast<char>(control);
    state_.left_out_ = true;
  }
  void esc_dispatch(const Sequence& sequence) {
    state_.left_out_ = true;
    const char first = sequence.intermediates[0];
    const bool size =
        first == '#' && std::string_view("34568").find(sequence.final) != std::string_view::npos;
    const bool plain_escape = first == 0 && kEscapes.find(sequence.final) != std::string_view::npos;
    const bool charset = first != 0 && kDesignations.find(first) != std::string_view::npos;
    if (!size && !plain_escape && !charset) return;
    out_ += '\033';
    for (const char c : sequence.intermediates)
      if (c != 0) out_ += c;
    out_ += sequence.final;
  }
  void csi_dispatch(const Sequence& sequence) {
    const uint32_t key = sequence.key();
    // REP repeats the character right before it; something that is left out here may stand between them.
    if (key == csi(0, 0, 'b') && state_.left_out_) return;
    state_.left_out_ = true;
    if (key == csi(0, 0, 'h') || key == csi(0, 0, 'l')) return modes(sequence, kAnsiModes);
    if (key == csi('?', 0, 'h') || key == csi('?', 0, 'l') || key == csi('?', 0, 's') ||
        key == csi('?', 0, 'r'))
      return sequence.params.size() == 0 ? put(sequence) : modes(sequence, kDecModes);
    // Of the window operations, those on the stack of titles.
    const bool titles = key == csi(0, 0, 't') && (sequence.params[0] == 22 || sequence.params[0] == 23);
    if (titles || is_one_of(kPicture, key)) put(sequence);
  }
  void osc_dispatch(std::string_view data, vt::Terminator, uint64_t, uint64_t) {
    state_.left_out_ = true;
    // Of OSC 133, prompts begin in the first column.
    const bool prompt = data.starts_with("133;") && data.size() > 4 && (data.size() == 5 || data[5] == ';') &&
                        std::string_view("ALN").find(data[4]) != std::string_view::npos;
    if (prompt && fresh_line_) return fresh_line_();
    if (!is_visible_string(data)) return;
    out_ += "\033]" + base::mask_secrets(plain(data)) + "\033\\";
  }
  void dcs_dispatch(const Sequence&, std::string_view) {}

 private:
  // One at a time: those that are left out leave no trace.
  template <size_t N>
  void modes(const Sequence& sequence, const uint16_t (&known)[N]) {
    for (unsigned i = 0; i < sequence.params.size(); i++) {
      if (!is_one_of(known, sequence.params[i])) continue;
      out_ += "\033[";
      if (sequence.prefix != 0) out_ += sequence.prefix;
      fmt::format_to(std::back_inserter(out_), "{}{}", sequence.params[i], sequence.final);
    }
  }
  void put(const Sequence& sequence) {
    out_ += "\033[";
    if (sequence.prefix != 0) out_ += sequence.prefix;
    for (unsigned i = 0; i < sequence.params.size(); i++) {
      const bool sub = sequence.params.is_sub(i);
      if (i > 0) out_ += sub ? ':' : ';';
      // 38:2::1:2:3: the colour space is left open, and not every terminal takes a 0 there.
      const bool space = sub && i > 1 && sequence.params[i] == 0 && sequence.params.is_sub(i - 1) &&
                         !sequence.params.is_sub(i - 2) && sequence.params[i - 1] == 2;
      if (!space) fmt::format_to(std::back_inserter(out_), "{}", sequence.params[i]);
    }
    for (const char c : sequence.intermediates)
      if (c != 0) out_ += c;
    out_ += sequence.final;
  }

  Visible& state_;
  std::string& out_;
  const std::function<void()>& fresh_line_;
};

void Visible::feed(std::string_view bytes, std::string& out, const std::function<void()>& fresh_line) {
  VisibleHandler handler(*this, out, fresh_line);
  parser_.feed(bytes, handler);
}

}  // namespace ttyward::record
