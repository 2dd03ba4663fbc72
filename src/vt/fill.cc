#include "vt/fill.h"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#define TTYWARD_AVX2 __attribute__((target("avx2")))
#endif

namespace ttyward::vt {
namespace {

bool is_printable(uint8_t byte) {
  return byte >= 0x20 && byte < 0x7F;
}

// Eight bytes at a time, on any machine: true if all are printable ASCII.
bool all_printable(uint64_t word) {
  constexpr uint64_t kHigh = 0x8080808080808080u;
  const uint64_t below_space = word - 0x2020202020202020u;  // borrows show in the top bits
  const uint64_t above_tilde = word + 0x0101010101010101u;  // 0x7F carries into the top bit
  return ((word | below_space | above_tilde) & kHigh) == 0;
}

const uint8_t* find_non_printable_words(const uint8_t* p, const uint8_t* end) {
  while (end - p >= 8) {
    uint64_t word = 0;
    std::memcpy(&word, p, sizeof word);
    if (!all_printable(word)) break;
    p += 8;
  }
  while (p < end && is_printable(*p)) p++;
  return p;
}

void widen_plain(Cell* cells, const uint8_t* text, size_t n, StyleId style) {
  for (size_t i = 0; i < n; i++) cells[i] = {text[i], style};
}

void narrow_plain(uint8_t* out, const Cell* cells, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = static_cast<uint8_t>(cells[i].content);
}

#if defined(__x86_64__)

const uint8_t* find_non_printable_sse2(const uint8_t* p, const uint8_t* end) {
  const __m128i space = _mm_set1_epi8(0x1F);
  const __m128i del = _mm_set1_epi8(0x7F);
  while (end - p >= 16) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i good =
        _mm_andnot_si128(_mm_cmpeq_epi8(v, del), _mm_cmpgt_epi8(v, space));  // signed: >0x7F is negative
    const auto bad = static_cast<unsigned>(_mm_movemask_epi8(good)) ^ 0xFFFFu;
    if (bad != 0) return p + __builtin_ctz(bad);
    p += 16;
  }
  return find_non_printable_words(p, end);
}

TTYWARD_AVX2 const uint8_t* find_non_printable_avx2(const uint8_t* p, const uint8_t* end) {
  const __m256i space = _mm256_set1_epi8(0x1F);
  const __m256i del = _mm256_set1_epi8(0x7F);
  while (end - p >= 32) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    const __m256i good = _mm256_andnot_si256(_mm256_cmpeq_epi8(v, del), _mm256_cmpgt_epi8(v, space));
    const unsigned bad = ~static_cast<unsigned>(_mm256_movemask_epi8(good));
    if (bad != 0) return p + __builtin_ctz(bad);
    p += 32;
  }
  return find_non_printable_sse2(p, end);
}

TTYWARD_AVX2 void widen_avx2(Cell* cells, const uint8_t* text, size_t n, StyleId style) {
  const __m256i high = _mm256_set1_epi64x(static_cast<int64_t>(static_cast<uint64_t>(style) << 32));
  while (n >= 8) {
    int64_t eight = 0;
    std::memcpy(&eight, text, sizeof eight);
    const __m128i bytes = _mm_cvtsi64_si128(eight);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(cells),
                        _mm256_or_si256(_mm256_cvtepu8_epi64(bytes), high));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(cells + 4),
                        _mm256_or_si256(_mm256_cvtepu8_epi64(_mm_srli_si128(bytes, 4)), high));
    cells += 8;
    text += 8;
    n -= 8;
  }
  widen_plain(cells, text, n, style);
}

TTYWARD_AVX2 void narrow_avx2(uint8_t* out, const Cell* cells, size_t n) {
  // Byte 0 of each 8-byte cell: pick bytes 0 and 8 of each lane, then put the pairs side by side.
  const __m256i pick = _mm256_setr_epi8(0, 8, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,  //
                                        0, 8, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  while (n >= 4) {
    const __m256i v = _mm256_shuffle_epi8(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(cells)), pick);
    const auto low = static_cast<uint32_t>(_mm256_extract_epi16(v, 0));
    const auto high = static_cast<uint32_t>(_mm256_extract_epi16(v, 8));
    const uint32_t four = low | high << 16;
    std::memcpy(out, &four, sizeof four);
    out += 4;
    cells += 4;
    n -= 4;
  }
  narrow_plain(out, cells, n);
}

const bool kHasAvx2 = __builtin_cpu_supports("avx2") != 0;

#endif

}  // namespace

namespace fill {

const uint8_t* find_non_printable_long(const uint8_t* begin, const uint8_t* end) {
#if defined(__x86_64__)
  return kHasAvx2 ? find_non_printable_avx2(begin, end) : find_non_printable_sse2(begin, end);
#else
  return find_non_printable_words(begin, end);
#endif
}

void widen_long(Cell* cells, const uint8_t* text, size_t n, StyleId style) {
#if defined(__x86_64__)
  if (kHasAvx2) return widen_avx2(cells, text, n, style);
#endif
  widen_plain(cells, text, n, style);
}

void narrow_long(uint8_t* out, const Cell* cells, size_t n) {
#if defined(__x86_64__)
  if (kHasAvx2) return narrow_avx2(out, cells, n);
#endif
  narrow_plain(out, cells, n);
}

}  // namespace fill

}  // namespace ttyward::vt
