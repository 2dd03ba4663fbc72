// Decoding text many characters at a time: well-formed text, and bytes that are hardly text at all.
//
// In good text, which of 32 bytes begin a character is found at once; the length of each is then the distance
// to the next one. In noise nearly every byte is a character of its own, itself or U+FFFD; the few that may
// be more are found at once too. So no branch depends on what the text is like: mixed text, and noise even
// more, would make every such branch a guess.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/utf8.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace ttyward::vt {

inline constexpr size_t kUtf8BlockChars = 32;     // most that one call gives
inline constexpr ptrdiff_t kUtf8BlockBytes = 36;  // least that must be readable

struct Utf8Block {
  const uint8_t* end;  // where decoding stopped
  size_t count;        // code points written
};

inline constexpr size_t kNoiseBlockChars = 16;     // most that one call gives, a byte each
inline constexpr ptrdiff_t kNoiseBlockBytes = 17;  // least that must be readable

struct NoiseBlock {
  size_t count;     // code points written, and bytes they took
  bool ill_formed;  // any of them U+FFFD for a byte that fits nowhere
};

#if defined(__SSE2__)

// Decodes what is printable and well formed from `p`, where at least kUtf8BlockBytes can be read, and stops
// before a control character, anything ill-formed, or the last character of the block. A block of nothing but
// ASCII is left alone: there are faster ways for that.
inline Utf8Block decode_utf8_block(const uint8_t* p, char32_t* out) {
  // By length: what the lead byte must look like, which bits count, and the code points allowed.
  struct Form {
    uint32_t lead_mask, lead, plain, packed, least, span;
  };
  static constexpr Form kForms[5] = {
      {},
      {0x80, 0, 0x7F, 0, 0x20, 0x7E - 0x20},
      {0xE000, 0xC000, 0, 0x7FF, 0xA0, 0x7FF - 0xA0},  // U+0080 to U+009F are controls
      {0xF00000, 0xE00000, 0, 0xFFFF, 0x800, 0xFFFF - 0x800},
      {0xF8000000, 0xF0000000, 0, 0x1FFFFF, 0x10000, 0x10FFFF - 0x10000},
  };
  const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16));
  const auto mask = [](__m128i a, __m128i b) {
    return static_cast<uint32_t>(_mm_movemask_epi8(a)) | static_cast<uint32_t>(_mm_movemask_epi8(b)) << 16;
  };
  const uint32_t not_ascii = mask(low, high);
  if (not_ascii == 0) return {p, 0};
  const __m128i continuation = _mm_set1_epi8(-65);  // 0x80 to 0xBF are the lowest signed numbers
  uint32_t starts = mask(_mm_cmpgt_epi8(low, continuation), _mm_cmpgt_epi8(high, continuation));
  if ((starts & 1) == 0) return {p, 0};
  uint32_t at = 0;
  size_t count = 0;
  for (starts &= starts - 1; starts != 0; starts &= starts - 1) {
    const auto next = static_cast<uint32_t>(__builtin_ctz(starts));
    const uint32_t length = next - at;
    if (length > 4) break;
    uint32_t word = 0;
    std::memcpy(&word, p + at, sizeof word);
    word = __builtin_bswap32(word) >> (32 - 8 * length);
    const Form& form = kForms[length];
    const uint32_t packed =
        (word & 0x3F) | (word >> 2 & 0xFC0) | (word >> 4 & 0x3F000) | (word >> 6 & 0x1C0000);
    const uint32_t c = (packed & form.packed) | (word & form.plain);
    const bool bad_lead = (word & form.lead_mask) != form.lead;
    const bool bad_range = c - form.least > form.span;
    const bool surrogate = c >> 11 == 0xD800 >> 11;
    if (static_cast<int>(bad_lead) | static_cast<int>(bad_range) | static_cast<int>(surrogate)) break;
    out[count++] = c;
    at = next;
  }
  return {p + at, count};
}

// Decodes bytes that are one character each, printable ASCII or ill-formed, from `p`, where at least
// kNoiseBlockBytes can be read. Stops before a control character and before a lead byte with a continuation
// byte after it. Writes to all of out[0..kNoiseBlockChars).
inline NoiseBlock decode_noise_block(const uint8_t* p, char32_t* out) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  const __m128i following = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 1));
  const __m128i zero = _mm_setzero_si128();
  // Signed: 0x80 to 0xBF are the lowest numbers, 0xC2 to 0xF4 those from -62 to -12.
  const __m128i high = _mm_cmplt_epi8(bytes, zero);
  const __m128i control = _mm_or_si128(_mm_andnot_si128(high, _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20))),
                                       _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7F)));
  const __m128i lead =
      _mm_and_si128(_mm_cmpgt_epi8(bytes, _mm_set1_epi8(-63)), _mm_cmplt_epi8(bytes, _mm_set1_epi8(-11)));
  const __m128i joined = _mm_and_si128(lead, _mm_cmplt_epi8(following, _mm_set1_epi8(-64)));
  const auto stops = static_cast<uint32_t>(_mm_movemask_epi8(_mm_or_si128(control, joined))) | 1u << 16;
  const auto count = static_cast<uint32_t>(__builtin_ctz(stops));

  // U+FFFD is FF above FD, and FF is what `high` holds where it is due.
  const __m128i low_bytes =
      _mm_or_si128(_mm_andnot_si128(high, bytes), _mm_and_si128(high, _mm_set1_epi8(-3)));
  const __m128i first = _mm_unpacklo_epi8(low_bytes, high);
  const __m128i second = _mm_unpackhi_epi8(low_bytes, high);
  auto* const to = reinterpret_cast<__m128i*>(out);
  _mm_storeu_si128(to, _mm_unpacklo_epi16(first, zero));
  _mm_storeu_si128(to + 1, _mm_unpackhi_epi16(first, zero));
  _mm_storeu_si128(to + 2, _mm_unpacklo_epi16(second, zero));
  _mm_storeu_si128(to + 3, _mm_unpackhi_epi16(second, zero));
  const auto ill_formed = static_cast<uint32_t>(_mm_movemask_epi8(bytes)) & ((1u << count) - 1);
  return {count, ill_formed != 0};
}

#else

inline Utf8Block decode_utf8_block(const uint8_t* p, char32_t*) {
  return {p, 0};
}

inline NoiseBlock decode_noise_block(const uint8_t* p, char32_t* out) {
  NoiseBlock block{0, false};
  for (; block.count < kNoiseBlockChars; block.count++) {
    const uint8_t c = p[block.count];
    const bool joined = c >= 0xC2 && c <= 0xF4 && (p[block.count + 1] & 0xC0) == 0x80;
    if (c < 0x20 || c == 0x7F || joined) break;
    out[block.count] = c < 0x80 ? static_cast<char32_t>(c) : base::kReplacementCharacter;
    block.ill_formed |= c >= 0x80;
  }
  return block;
}

#endif

}  // namespace ttyward::vt
