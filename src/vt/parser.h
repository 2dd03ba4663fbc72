// Bytes to actions: the DEC ANSI state machine, adapted to UTF-8.
//
// The parser assigns no meaning. It calls a Handler, statically bound, with:
//
//   print_ascii(const uint8_t* text, size_t n)        a run of 0x20..0x7E
//   print_text(const char32_t* text, size_t n)        decoded text, mostly not ASCII
//   execute(uint8_t control)                          C0 control
//   esc_dispatch(const Sequence&)                     ESC intermediates final
//   csi_dispatch(const Sequence&)
//   osc_dispatch(std::string_view data, Terminator, uint64_t begin, uint64_t end)
//   dcs_dispatch(const Sequence&, std::string_view data)
//
// `begin` and `end` are the byte offsets of the sequence in all input so far.
// State survives any chunking: feeding bytes one at a time gives the same calls,
// but for how runs of text are cut.
//
// Machine: https://vt100.net/emu/dec_ansi_parser. Differences, on purpose:
//   - UTF-8 is decoded in the ground state; bytes 0x80..0x9F are never controls,
//     and U+0080..U+009F, decoded, are ignored.
//   - a byte above 0x7F inside an escape or control sequence ends it unheard and is
//     read as text, so that a broken sequence never eats what follows it.
//   - OSC ends at BEL or ST; DCS, APC, PM, SOS and the ESC k title at ST only.
//   - ESC inside a string that is not followed by a backslash drops the string and
//     starts a new sequence.
//   - colons separate subparameters and are kept apart from semicolons.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "vt/fill.h"
#include "vt/sequence.h"
#include "vt/utf8_block.h"

namespace ttyward::vt {

class Parser {
 public:
  // Longest OSC or DCS string that is kept, in bytes. A longer one is swallowed to its end and not
  // dispatched.
  static constexpr size_t kMaxStringBytes = 1u << 20;

  template <typename Handler>
  void feed(std::string_view bytes, Handler& handler);

  // Bytes fed so far.
  uint64_t offset() const { return offset_; }
  // True while no sequence or character is half read.
  bool is_ground() const { return state_ == State::Ground && utf8_left_ == 0; }

 private:
  enum class State : uint8_t { Ground, Escape, Csi, CsiIgnore, Osc, Dcs, DcsData, DcsIgnore, String };

  static constexpr uint8_t kBel = 0x07, kCan = 0x18, kSub = 0x1A, kEsc = 0x1B, kDel = 0x7F;
  static constexpr size_t kTextRun = 256;  // code points decoded before they are handed on
  // A block of good text that gave fewer characters than this was not worth it.
  static constexpr size_t kFewChars = 4;
  // After that, and after anything ill-formed, so many characters are read as noise, ASCII among them too,
  // before text is taken for good again.
  static constexpr uint8_t kDoubts = 64;

  template <typename Handler>
  const uint8_t* ground(const uint8_t* p, const uint8_t* end, Handler& handler);
  template <typename Handler>
  const uint8_t* text(const uint8_t* p, const uint8_t* end, Handler& handler);
  template <typename Handler>
  const uint8_t* escape(const uint8_t* p, const uint8_t* end, Handler& handler);
  template <typename Handler>
  const uint8_t* csi(const uint8_t* p, const uint8_t* end, Handler& handler);
  template <typename Handler>
  const uint8_t* dcs_header(const uint8_t* p, const uint8_t* end, Handler& handler);
  template <typename Handler>
  const uint8_t* string(const uint8_t* p, const uint8_t* end, Handler& handler);
  template <typename Handler>
  void finish_string(Terminator terminator, uint64_t end, Handler& handler);

  void start_escape(uint64_t at) {
    sequence_.clear();
    begin_ = at;
    state_ = State::Escape;
  }
  void start_string(State state) {
    state_ = state;
    string_.clear();
    string_escape_ = false;
    string_too_long_ = false;
  }
  // One byte of a CSI or DCS header. False if the byte does not belong there.
  bool header_byte(uint8_t c);
  uint64_t offset_of(const uint8_t* p) const { return offset_ + static_cast<uint64_t>(p - chunk_); }

  State state_ = State::Ground;
  bool string_escape_ = false;  // the string's last byte was ESC
  bool string_too_long_ = false;
  uint8_t utf8_left_ = 0;  // continuation bytes still missing
  uint8_t utf8_low_ = 0;
  uint8_t utf8_high_ = 0;
  uint8_t doubts_ = 0;  // characters to go before text is taken for well formed again
  char32_t utf8_value_ = 0;
  uint64_t offset_ = 0;
  uint64_t begin_ = 0;  // where the current sequence started
  const uint8_t* chunk_ = nullptr;
  Sequence sequence_;
  std::string string_;
};

inline bool Parser::header_byte(uint8_t c) {
  if (c >= '0' && c <= '9') {
    if (sequence_.intermediates[0] != 0) return false;
    sequence_.params.digit(static_cast<uint8_t>(c - '0'));
  } else if (c == ';' || c == ':') {
    if (sequence_.intermediates[0] != 0) return false;
    sequence_.params.separator(c == ':');
  } else if (c >= 0x3C && c <= 0x3F) {
    if (sequence_.prefix != 0 || sequence_.params.size() != 0 || sequence_.intermediates[0] != 0)
      return false;
    sequence_.prefix = static_cast<char>(c);
  } else {  // 0x20..0x2F
    if (sequence_.intermediates[1] != 0) return false;
    sequence_.intermediates[sequence_.intermediates[0] != 0 ? 1 : 0] = static_cast<char>(c);
  }
  return true;
}

template <typename Handler>
void Parser::feed(std::string_view bytes, Handler& handler) {
  const auto* p = reinterpret_cast<const uint8_t*>(bytes.data());
  const uint8_t* const end = p + bytes.size();
  chunk_ = p;
  while (p < end) {
    switch (state_) {
      case State::Ground:
        p = ground(p, end, handler);
        break;
      case State::Escape:
        p = escape(p, end, handler);
        break;
      case State::Csi:
      case State::CsiIgnore:
        p = csi(p, end, handler);
        break;
      case State::Dcs:
        p = dcs_header(p, end, handler);
        break;
      case State::Osc:
      case State::DcsData:
      case State::DcsIgnore:
      case State::String:
        p = string(p, end, handler);
        break;
    }
  }
  offset_ += bytes.size();
  chunk_ = nullptr;
}

template <typename Handler>
const uint8_t* Parser::ground(const uint8_t* p, const uint8_t* end, Handler& handler) {
  if (utf8_left_ != 0) return text(p, end, handler);
  while (p < end) {
    const uint8_t c = *p;
    if (c >= 0x20 && c < kDel && doubts_ == 0) {
      const uint8_t* const run = p;
      p = find_non_printable(p + 1, end);
      handler.print_ascii(run, static_cast<size_t>(p - run));
    } else if (c == kEsc) {
      start_escape(offset_of(p));
      p++;
      if (p == end || *p != '[') return p;
      p++;
      // The usual sequence lies whole in the chunk and has nothing but numbers: no need to change states for
      // it.
      if (p < end && *p == '?') {
        sequence_.prefix = '?';
        p++;
      }
      const uint8_t* const params = p;
      p = sequence_.params.read_plain(p, end);
      if (p == end || *p < 0x40 || *p >= kDel) {
        sequence_.params.clear();
        state_ = State::Csi;
        return csi(params, end, handler);
      }
      state_ = State::Ground;
      sequence_.final = static_cast<char>(*p++);
      handler.csi_dispatch(sequence_);
    } else if (c < 0x20) {
      p++;
      if (c != kCan && c != kSub) handler.execute(c);
    } else if (c == kDel) {
      p++;
    } else {
      p = text(p, end, handler);
      if (utf8_left_ != 0) return p;
    }
  }
  return p;
}

// Decodes a run of text that has, or continues, a multi-byte character, or may have something ill-formed.
template <typename Handler>
const uint8_t* Parser::text(const uint8_t* p, const uint8_t* end, Handler& handler) {
  char32_t run[kTextRun + std::max(kUtf8BlockChars, kNoiseBlockChars)];
  size_t n = 0;
  while (p < end && n < kTextRun) {
    if (utf8_left_ != 0) {
      const uint8_t c = *p;
      if (c < utf8_low_ || c > utf8_high_) {  // the byte belongs to whatever comes next
        utf8_left_ = 0;
        run[n++] = base::kReplacementCharacter;
        continue;
      }
      utf8_value_ = utf8_value_ << 6 | (c & 0x3F);
      utf8_low_ = 0x80;
      utf8_high_ = 0xBF;
      p++;
      if (--utf8_left_ == 0 && utf8_value_ >= 0xA0) run[n++] = utf8_value_;
      continue;
    }
    if (doubts_ > 0 && end - p >= kNoiseBlockBytes) {
      const NoiseBlock block = decode_noise_block(p, run + n);
      p += block.count;
      n += block.count;
      // One more than those: what it stopped at.
      const size_t fewer = doubts_ - std::min<size_t>(doubts_, block.count + 1);
      doubts_ = static_cast<uint8_t>(fewer | (block.ill_formed ? kDoubts : 0));  // at least so many
      if (block.count == kNoiseBlockChars) continue;
    } else if (doubts_ == 0 && end - p >= kUtf8BlockBytes) {
      const Utf8Block block = decode_utf8_block(p, run + n);
      p = block.end;
      n += block.count;
      if (block.count < kFewChars && *p >= 0x80) doubts_ = kDoubts;
      if (block.count > 0) continue;
      if (*p < 0x80) break;  // ASCII as far as one can see, which has its own path
    }
    const uint8_t c = *p;
    if (c < 0x20 || c == kDel) break;
    const base::Utf8Lead lead = base::kUtf8Leads[c];
    if (lead.following == 0) {  // ASCII, or a byte that fits nowhere
      run[n++] = c < 0x80 ? static_cast<char32_t>(c) : base::kReplacementCharacter;
      p++;
      continue;
    }
    if (lead.following == 1 && end - p >= 2 && (p[1] & 0xC0) == 0x80) {
      const char32_t value = static_cast<char32_t>(lead.payload) << 6 | (p[1] & 0x3F);
      if (value >= 0xA0) run[n++] = value;
      p += 2;
      continue;
    }
    if (lead.following == 2 && end - p >= 3 && p[1] >= lead.low && p[1] <= lead.high &&
        (p[2] & 0xC0) == 0x80) {
      run[n++] =
          static_cast<char32_t>(lead.payload) << 12 | static_cast<char32_t>(p[1] & 0x3F) << 6 | (p[2] & 0x3F);
      p += 3;
      continue;
    }
    p++;
    utf8_left_ = lead.following;
    utf8_low_ = lead.low;
    utf8_high_ = lead.high;
    utf8_value_ = lead.payload;
  }
  if (n > 0) handler.print_text(run, n);
  return p;
}

template <typename Handler>
const uint8_t* Parser::escape(const uint8_t* p, const uint8_t* end, Handler& handler) {
  while (p < end) {
    const uint8_t c = *p++;
    if (c < 0x20) {
      if (c == kEsc) {
        start_escape(offset_of(p) - 1);
      } else if (c == kCan || c == kSub) {
        state_ = State::Ground;
        return p;
      } else {
        handler.execute(c);
      }
      continue;
    }
    if (c == kDel) continue;
    if (c > kDel) {
      state_ = State::Ground;
      return p - 1;
    }
    if (c < 0x30) {
      if (sequence_.intermediates[1] == 0) {
        sequence_.intermediates[sequence_.intermediates[0] != 0 ? 1 : 0] = static_cast<char>(c);
      }
      continue;
    }
    if (sequence_.intermediates[0] == 0) {
      switch (c) {
        case '[':
          state_ = State::Csi;
          return p;
        case ']':
          start_string(State::Osc);
          return p;
        case 'P':
          state_ = State::Dcs;
          return p;
        case 'X':  // SOS
        case '^':  // PM
        case '_':  // APC
        case 'k':  // screen's title
          start_string(State::String);
          return p;
        default:
          break;
      }
    }
    state_ = State::Ground;
    sequence_.final = static_cast<char>(c);
    handler.esc_dispatch(sequence_);
    return p;
  }
  return p;
}

template <typename Handler>
const uint8_t* Parser::csi(const uint8_t* p, const uint8_t* end, Handler& handler) {
  while (p < end) {
    const uint8_t c = *p++;
    if (c >= 0x40 && c < kDel) {
      const bool heard = state_ == State::Csi;
      state_ = State::Ground;
      sequence_.final = static_cast<char>(c);
      if (heard) handler.csi_dispatch(sequence_);
      return p;
    }
    if (c >= 0x20 && c < 0x40) {
      if (state_ == State::Csi && !header_byte(c)) state_ = State::CsiIgnore;
    } else if (c == kEsc) {
      start_escape(offset_of(p) - 1);
      return p;
    } else if (c == kCan || c == kSub) {
      state_ = State::Ground;
      return p;
    } else if (c > kDel) {
      state_ = State::Ground;
      return p - 1;
    } else if (c != kDel) {
      handler.execute(c);
    }
  }
  return p;
}

template <typename Handler>
const uint8_t* Parser::dcs_header(const uint8_t* p, const uint8_t* end, Handler& handler) {
  (void)handler;
  while (p < end) {
    const uint8_t c = *p++;
    if (c >= 0x40 && c < kDel) {
      sequence_.final = static_cast<char>(c);
      start_string(State::DcsData);
      return p;
    }
    if (c >= 0x20 && c < 0x40) {
      if (!header_byte(c)) {
        start_string(State::DcsIgnore);
        return p;
      }
    } else if (c == kEsc) {
      start_escape(offset_of(p) - 1);
      return p;
    } else if (c == kCan || c == kSub) {
      state_ = State::Ground;
      return p;
    } else if (c > kDel) {
      state_ = State::Ground;
      return p - 1;
    }
  }
  return p;
}

template <typename Handler>
const uint8_t* Parser::string(const uint8_t* p, const uint8_t* end, Handler& handler) {
  if (string_escape_) {
    string_escape_ = false;
    if (*p == '\\') {
      finish_string(Terminator::St, offset_of(p) + 1, handler);
      return p + 1;
    }
    string_.clear();
    start_escape(offset_of(p) - 1);
    return p;
  }
  const uint8_t* const run = p;
  const bool ends_at_bel = state_ == State::Osc;
  while (p < end && *p != kEsc && *p != kCan && *p != kSub && !(ends_at_bel && *p == kBel)) p++;
  if (state_ == State::Osc || state_ == State::DcsData) {
    const auto n = static_cast<size_t>(p - run);
    if (string_.size() + n > kMaxStringBytes) {
      string_too_long_ = true;
      string_.clear();
    } else if (!string_too_long_) {
      string_.append(reinterpret_cast<const char*>(run), n);
    }
  }
  if (p == end) return p;
  const uint8_t c = *p++;
  if (c == kEsc) {
    string_escape_ = true;
  } else if (c == kBel) {
    finish_string(Terminator::Bel, offset_of(p), handler);
  } else {  // CAN, SUB
    state_ = State::Ground;
    string_.clear();
  }
  return p;
}

template <typename Handler>
void Parser::finish_string(Terminator terminator, uint64_t end, Handler& handler) {
  const State state = state_;
  state_ = State::Ground;
  if (!string_too_long_) {
    if (state == State::Osc) handler.osc_dispatch(std::string_view(string_), terminator, begin_, end);
    if (state == State::DcsData) handler.dcs_dispatch(sequence_, std::string_view(string_));
  }
  string_.clear();
  if (string_.capacity() > 64 * 1024) string_.shrink_to_fit();
}

}  // namespace ttyward::vt
