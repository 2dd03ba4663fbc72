#include "vt/charset.h"

namespace ttyward::vt {
namespace {

// 0x5F..0x7E
constexpr char32_t kDecGraphics[] = {
    0x0020, 0x25C6, 0x2592, 0x2409, 0x240C, 0x240D, 0x240A, 0x00B0, 0x00B1, 0x2424, 0x240B,
    0x2518, 0x2510, 0x250C, 0x2514, 0x253C, 0x23BA, 0x23BB, 0x2500, 0x23BC, 0x23BD, 0x251C,
    0x2524, 0x2534, 0x252C, 0x2502, 0x2264, 0x2265, 0x03C0, 0x2260, 0x00A3, 0x00B7,
};

// 0x21..0x7E; 0 where the set has no character.
constexpr char32_t kDecTechnical[] = {
    0x23B7, 0x250C, 0x2500, 0x2320, 0x2321, 0x2502, 0x23A1, 0x23A3, 0x23A4, 0x23A6, 0x239B, 0x239D,
    0x239E, 0x23A0, 0x23A8, 0x23AC, 0,      0,      0,      0,      0,      0,      0,      0,
    0,      0,      0,      0x2264, 0x2260, 0x2265, 0x222B, 0x2234, 0x221D, 0x221E, 0x00F7, 0x0394,
    0x2207, 0x03A6, 0x0393, 0x223C, 0x2243, 0x0398, 0x00D7, 0x039B, 0x21D4, 0x21D2, 0x2261, 0x03A0,
    0x03A8, 0,      0x03A3, 0,      0,      0x221A, 0x03A9, 0x039E, 0x03A5, 0x2282, 0x2283, 0x2229,
    0x222A, 0x2227, 0x2228, 0x00AC, 0x03B1, 0x03B2, 0x03C7, 0x03B4, 0x03B5, 0x03C6, 0x03B3, 0x03B7,
    0x03B9, 0x03B8, 0x03BA, 0x03BB, 0,      0x03BD, 0x2202, 0x03C0, 0x03C8, 0x03C1, 0x03C3, 0x03C4,
    0,      0x0192, 0x03C9, 0x03BE, 0x03C5, 0x03B6, 0x2190, 0x2191, 0x2192, 0x2193,
};

// The codes in which national sets differ from ASCII, in this order.
constexpr uint8_t kNationalCodes[] = {0x23, 0x40, 0x5B, 0x5C, 0x5D, 0x5E, 0x5F, 0x60, 0x7B, 0x7C, 0x7D, 0x7E};
constexpr unsigned kNational = sizeof kNationalCodes;

struct National {
  Charset set;
  char32_t shown[kNational];
};

constexpr National kNationals[] = {
    {Charset::British, {0xA3, '@', '[', '\\', ']', '^', '_', '`', '{', '|', '}', '~'}},
    {Charset::Dutch, {0xA3, 0xBE, 0x133, 0xBD, '|', '^', '_', '`', 0xA8, 0x192, 0xBC, 0xB4}},
    {Charset::Finnish, {'#', '@', 0xC4, 0xD6, 0xC5, 0xDC, '_', 0xE9, 0xE4, 0xF6, 0xE5, 0xFC}},
    {Charset::French, {0xA3, 0xE0, 0xB0, 0xE7, 0xA7, '^', '_', '`', 0xE9, 0xF9, 0xE8, 0xA8}},
    {Charset::FrenchCanadian, {'#', 0xE0, 0xE2, 0xE7, 0xEA, 0xEE, '_', 0xF4, 0xE9, 0xF9, 0xE8, 0xFB}},
    {Charset::German, {'#', 0xA7, 0xC4, 0xD6, 0xDC, '^', '_', '`', 0xE4, 0xF6, 0xFC, 0xDF}},
    {Charset::Italian, {0xA3, 0xA7, 0xB0, 0xE7, 0xE9, '^', '_', 0xF9, 0xE0, 0xF2, 0xE8, 0xEC}},
    {Charset::NorwegianDanish, {'#', 0xC4, 0xC6, 0xD8, 0xC5, 0xDC, '_', 0xE4, 0xE6, 0xF8, 0xE5, 0xFC}},
    {Charset::Spanish, {0xA3, 0xA7, 0xA1, 0xD1, 0xBF, '^', '_', '`', 0xB0, 0xF1, 0xE7, '~'}},
    {Charset::Swedish, {'#', 0xC9, 0xC4, 0xD6, 0xC5, 0xDC, '_', 0xE9, 0xE4, 0xF6, 0xE5, 0xFC}},
    {Charset::Swiss, {0xF9, 0xE0, 0xE9, 0xE7, 0xEA, 0xEE, 0xE8, 0xF4, 0xE4, 0xF6, 0xFC, 0xFB}},
};

}  // namespace

char32_t translate(Charset set, uint8_t code) {
  switch (set) {
    case Charset::Ascii:
      return code;
    case Charset::DecGraphics:
      return code >= 0x5F && code <= 0x7E ? kDecGraphics[code - 0x5F] : code;
    case Charset::DecTechnical: {
      if (code < 0x21 || code > 0x7E) return code;
      const char32_t shown = kDecTechnical[code - 0x21];
      return shown != 0 ? shown : U'\u2426';
    }
    case Charset::Latin1:
    case Charset::DecSupplemental:
      return code >= 0x20 ? code + 0x80u : code;
    default:
      break;
  }
  for (const National& national : kNationals) {
    if (national.set != set) continue;
    for (unsigned i = 0; i < kNational; i++) {
      if (kNationalCodes[i] == code) return national.shown[i];
    }
  }
  return code;
}

Charset charset_for(char second_intermediate, char final, bool has_96_codes) {
  if (has_96_codes) return final == 'A' ? Charset::Latin1 : Charset::Ascii;
  if (second_intermediate == '%') return final == '5' ? Charset::DecSupplemental : Charset::Ascii;
  if (second_intermediate != 0) return Charset::Ascii;
  switch (final) {
    case '0':
    case '2':
      return Charset::DecGraphics;
    case '>':
      return Charset::DecTechnical;
    case '<':
      return Charset::DecSupplemental;
    case 'A':
      return Charset::British;
    case '4':
      return Charset::Dutch;
    case 'C':
    case '5':
      return Charset::Finnish;
    case 'R':
    case 'f':
      return Charset::French;
    case 'Q':
    case '9':
      return Charset::FrenchCanadian;
    case 'K':
      return Charset::German;
    case 'Y':
      return Charset::Italian;
    case 'E':
    case '6':
    case '`':
      return Charset::NorwegianDanish;
    case 'Z':
      return Charset::Spanish;
    case 'H':
    case '7':
      return Charset::Swedish;
    case '=':
      return Charset::Swiss;
    default:
      return Charset::Ascii;
  }
}

}  // namespace ttyward::vt
