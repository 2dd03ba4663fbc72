// SGR: colours and attributes.
//
// Colours come in three spellings: 38;5;n and 38;2;r;g;b (semicolons all the
// way), 38:5:n, and 38:2:[space]:r:g:b, where the colour-space slot is often left out.
#include "vt/screen.h"

namespace ttyward::vt {
namespace {

// How many subparameters (colon-joined) follow parameter i.
unsigned subs_after(const Params& p, unsigned i) {
  unsigned n = 0;
  while (i + 1 + n < p.size() && p.is_sub(i + 1 + n)) n++;
  return n;
}

uint8_t byte_of(uint16_t value) {
  return static_cast<uint8_t>(value > 255 ? 255 : value);
}

// Reads the colour after a 38, 48 or 58 at `i` and moves `i` to its last parameter.
// Without a complete colour nothing changes; a broken semicolon form eats what is left.
void read_color(const Params& p, unsigned& i, Color& out) {
  const unsigned subs = subs_after(p, i);
  if (subs > 0) {
    const unsigned first = i + 1;
    i += subs;
    if (p[first] == 5 && subs >= 2) {
      if (p[first + 1] < 256) out = Color::palette(byte_of(p[first + 1]));
    } else if (p[first] == 2 && subs >= 4) {
      const unsigned at = subs >= 5 ? first + 2 : first + 1;  // with or without the colour space
      out = Color::rgb(byte_of(p[at]), byte_of(p[at + 1]), byte_of(p[at + 2]));
    }
    return;
  }
  if (p[i + 1] == 5 && i + 2 < p.size()) {
    if (p[i + 2] < 256) out = Color::palette(byte_of(p[i + 2]));
    i += 2;
  } else if (p[i + 1] == 2 && i + 4 < p.size()) {
    out = Color::rgb(byte_of(p[i + 2]), byte_of(p[i + 3]), byte_of(p[i + 4]));
    i += 4;
  } else {
    i = p.size();
  }
}

}  // namespace

void Screen::apply_sgr(P p, Style& pen) const {
  const unsigned count = p.size() == 0 ? 1 : p.size();
  for (unsigned i = 0; i < count; i++) {
    const uint16_t code = p[i];
    if (code >= 30 && code <= 37) {
      pen.foreground = Color::palette(static_cast<uint8_t>(code - 30));
      continue;
    }
    if (code >= 40 && code <= 47) {
      pen.background = Color::palette(static_cast<uint8_t>(code - 40));
      continue;
    }
    switch (code) {
      case 0: {
        const uint16_t kept = pen.attributes & Style::kProtected;
        const uint16_t link = pen.link;
        pen = Style{};
        pen.attributes = kept;
        pen.link = link;
        break;
      }
      case 1:
        pen.set(Style::kBold);
        break;
      case 2:
        pen.set(Style::kDim);
        break;
      case 3:
        pen.set(Style::kItalic);
        break;
      case 4:
        if (const unsigned subs = subs_after(p, i); subs == 0) {
          pen.set_underline(Underline::Single);
        } else {
          if (p[i + 1] <= 5) pen.set_underline(static_cast<Underline>(p[i + 1]));
          i += subs;
        }
        break;
      case 5:
      case 6:
        pen.set(Style::kBlink);
        break;
      case 7:
        pen.set(Style::kInverse);
        break;
      case 8:
        pen.set(Style::kHidden);
        break;
      case 9:
        pen.set(Style::kStrike);
        break;
      case 21:
        pen.set_underline(Underline::Double);
        break;
      case 22:
        pen.clear(Style::kBold | Style::kDim);
        break;
      case 23:
        pen.clear(Style::kItalic);
        break;
      case 24:
        pen.set_underline(Underline::None);
        break;
      case 25:
        pen.clear(Style::kBlink);
        break;
      case 27:
        pen.clear(Style::kInverse);
        break;
      case 28:
        pen.clear(Style::kHidden);
        break;
      case 29:
        pen.clear(Style::kStrike);
        break;
      case 38:
        read_color(p, i, pen.foreground);
        break;
      case 39:
        pen.foreground = Color();
        break;
      case 48:
        read_color(p, i, pen.background);
        break;
      case 49:
        pen.background = Color();
        break;
      case 53:
        pen.set(Style::kOverline);
        break;
      case 55:
        pen.clear(Style::kOverline);
        break;
      case 58:
        read_color(p, i, pen.underline_color);
        break;
      case 59:
        pen.underline_color = Color();
        break;
      default:
        if (code >= 90 && code <= 97) pen.foreground = Color::palette(static_cast<uint8_t>(code - 90 + 8));
        if (code >= 100 && code <= 107) pen.background = Color::palette(static_cast<uint8_t>(code - 100 + 8));
        i += subs_after(p, i);  // an unknown attribute's details are not attributes of their own
        break;
    }
  }
}

void Screen::SGR_SelectGraphicRendition(P p) {
  apply_sgr(p, pen_);
  pen_changed();
}

void Screen::XTPUSHSGR_PushStyle(P) {
  if (style_stack_.size() < kMaxStyleStack) style_stack_.push_back(pen_);
}

void Screen::XTPOPSGR_PopStyle(P) {
  if (style_stack_.empty()) return;
  pen_ = style_stack_.back();
  style_stack_.pop_back();
  pen_changed();
}

}  // namespace ttyward::vt
