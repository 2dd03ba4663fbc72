#include "vt/fill.h"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#define TTYWARD_AVX2 __attribute__((target("avx2")))
// What the C library has found out already. The compiler's own way asks the processor again, two dozen times
// whenever a program starts, and under a hypervisor each question takes microseconds.
#if __has_include(<sys/platform/x86.h>) && !defined(__clang__)
#include <sys/platform/x86.h>
#define TTYWARD_HAS_AVX2 (CPU_FEATURE_ACTIVE(AVX2))
#else
#define TTYWARD_HAS_AVX2 (__builtin_cpu_supports("avx2") != 0)
#endif
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

// These two are only called for more than eight.
TTYWARD_AVX2 void widen_avx2(Cell* cells, const uint8_t* text, size_t n, StyleId style) {
  const __m256i high = _mm256_set1_epi64x(static_cast<int64_t>(static_cast<uint64_t>(style) << 32));
  const auto eight = [high](Cell* to, const uint8_t* from) TTYWARD_AVX2 {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_or_si256(_mm256_cvtepu8_epi64(bytes), high));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 4),
                        _mm256_or_si256(_mm256_cvtepu8_epi64(_mm_srli_si128(bytes, 4)), high));
  };
  for (; n >= 8; n -= 8) {
    eight(cells, text);
    cells += 8;
    text += 8;
  }
  if (n != 0) eight(cells + n - 8, text + n - 8);  // the last eight, some of them for the second time
}

TTYWARD_AVX2 void narrow_avx2(uint8_t* out, const Cell* cells, size_t n) {
  const __m256i low_byte = _mm256_set1_epi32(0xFF);
  // Eight cells' contents: the even words of both halves, lane by lane.
  const auto contents = [low_byte](const Cell* from) TTYWARD_AVX2 {
    const auto* at = reinterpret_cast<const __m256*>(from);
    const __m256 even = _mm256_shuffle_ps(_mm256_loadu_ps(reinterpret_cast<const float*>(at)),
                                          _mm256_loadu_ps(reinterpret_cast<const float*>(at + 1)), 0x88);
    return _mm256_and_si256(_mm256_castps_si256(even), low_byte);
  };
  // Packing works in lanes too, so cells 2, 3, 6, 7, … end up in the upper half.
  const __m128i order = _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
  while (n >= 16) {
    const __m256i words = _mm256_packus_epi32(contents(cells), contents(cells + 8));
    const __m128i bytes = _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_shuffle_epi8(bytes, order));
    out += 16;
    cells += 16;
    n -= 16;
  }
  const auto eight = [&](uint8_t* to, const Cell* from) TTYWARD_AVX2 {
    const __m256i words = _mm256_packus_epi32(contents(from), _mm256_setzero_si256());
    const __m128i bytes = _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_shuffle_epi8(bytes, order));
  };
  if (n >= 8) eight(out, cells);
  if (n % 8 != 0) eight(out + n - 8, cells + n - 8);  // the last eight, some of them for the second time
}

const bool kHasAvx2 = TTYWARD_HAS_AVX2;

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
