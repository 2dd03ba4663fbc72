#include "base/count_newlines.h"

#include <algorithm>
#include <bit>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace ttyward::base {

uint64_t count_newlines(const void* data, size_t bytes) {
  const auto* p = static_cast<const unsigned char*>(data);
  uint64_t count = 0;
#ifdef __SSE2__
  const __m128i wanted = _mm_set1_epi8('\n');
  for (; bytes >= sizeof wanted; p += sizeof wanted, bytes -= sizeof wanted) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    count += static_cast<uint64_t>(
        std::popcount(static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(block, wanted)))));
  }
#endif
  return count + static_cast<uint64_t>(std::count(p, p + bytes, '\n'));
}

}  // namespace ttyward::base
