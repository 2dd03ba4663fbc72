// Writes width_table.inc: the terminal width (0, 1 or 2) of every code point,
// as a two-stage table, from utf8proc's properties.
//
// The rules are the ones programs use when they count columns with wcwidth:
// East Asian wide and emoji presentation are 2, marks and default-ignorable
// characters are 0, everything else, ambiguous width and private use too, is 1.
#include <utf8proc.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <vector>

namespace {

constexpr int kPageBits = 8;
constexpr uint32_t kPageSize = 1u << kPageBits;
constexpr uint32_t kCodePoints = 0x110000;

uint8_t width_of(uint32_t cp) {
  if (cp == 0xAD) return 1;                              // soft hyphen shows in terminals
  if (cp < 0x20 || (cp >= 0x7F && cp < 0xA0)) return 0;  // never printed
  if (cp >= 0x1160 && cp <= 0x11FF) return 0;            // Hangul medial and final jamo
  if (cp >= 0xD7B0 && cp <= 0xD7FB) return 0;            // the same, extended
  if ((cp >= 0x20000 && cp <= 0x2FFFD) || (cp >= 0x30000 && cp <= 0x3FFFD)) return 2;  // ideographs to come
  const auto code_point = static_cast<utf8proc_int32_t>(cp);
  const utf8proc_property_t* property = utf8proc_get_property(code_point);
  switch (property->category) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return 0;
    case UTF8PROC_CATEGORY_CO:
      return 1;
    case UTF8PROC_CATEGORY_CN:
      return property->charwidth == 2 ? 2 : 1;
    default:
      break;
  }
  if (property->ignorable) return 0;
  return property->charwidth == 2 ? 2 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::FILE* out = std::fopen(argv[1], "w");
  if (out == nullptr) return 1;

  using Page = std::array<uint8_t, kPageSize>;
  std::map<Page, unsigned> numbers;
  std::vector<Page> pages;
  std::vector<unsigned> index;
  for (uint32_t first = 0; first < kCodePoints; first += kPageSize) {
    Page page{};
    for (uint32_t i = 0; i < kPageSize; i++) page[i] = width_of(first + i);
    const auto [at, fresh] = numbers.try_emplace(page, static_cast<unsigned>(pages.size()));
    if (fresh) pages.push_back(page);
    index.push_back(at->second);
  }
  if (pages.size() > 255) return 1;

  std::fprintf(out, "// Generated from utf8proc %s (Unicode %s).\n", utf8proc_version(),
               utf8proc_unicode_version());
  std::fprintf(out, "const uint8_t WidthTable::page_of[%zu] = {", index.size());
  for (const unsigned number : index) std::fprintf(out, "%u,", number);
  std::fprintf(out, "};\nconst uint8_t WidthTable::pages[%zu][%u] = {\n", pages.size(), kPageSize);
  for (const Page& page : pages) {
    std::fputs("{", out);
    for (const uint8_t byte : page) std::fprintf(out, "%u,", byte);
    std::fputs("},\n", out);
  }
  std::fputs("};\n", out);
  return std::fclose(out) == 0 ? 0 : 1;
}
