// A <pre> with inline styles: shows the same in a page, a mail or a notebook.
#include <fmt/format.h>

#include "vt/serialize/looks.h"
#include "vt/serialize/serialize.h"

namespace ttyward::vt {
namespace {

std::string css_of(const Style& style, const Screen& screen) {
  const Looks looks = looks_of(style, screen);
  const Looks plain = looks_of(Style{}, screen);
  std::string css;
  if (looks.foreground != plain.foreground) css += "color:" + color_hex(looks.foreground) + ";";
  if (looks.background != plain.background) css += "background:" + color_hex(looks.background) + ";";
  if (style.has(Style::kBold)) css += "font-weight:bold;";
  if (style.has(Style::kItalic)) css += "font-style:italic;";
  std::string lines;
  if (style.underline() != Underline::None) lines += " underline";
  if (style.has(Style::kStrike)) lines += " line-through";
  if (style.has(Style::kOverline)) lines += " overline";
  if (lines.empty()) return css;
  css += "text-decoration:" + lines.substr(1);
  constexpr const char* kKinds[] = {"", "", " double", " wavy", " dotted", " dashed"};
  css += kKinds[static_cast<size_t>(style.underline())];
  if (!style.underline_color.is_default()) css += " " + color_hex(looks.underline);
  return css + ";";
}

// Only addresses that are safe to click become links; the program chose them, not the reader.
bool is_safe_link(const std::string& uri) {
  return uri.starts_with("https://") || uri.starts_with("http://");
}

}  // namespace

void write_html(const Screen& screen, WithHistory history, const Sink& sink) {
  const Looks plain = looks_of(Style{}, screen);
  sink(fmt::format(
      "<pre class=\"ttyward\" style=\"color:{};background:{};font-family:monospace;padding:1ch;\">",
      color_hex(plain.foreground), color_hex(plain.background)));
  size_t blanks = 0;
  bool first = true;
  for_each_line(screen, history, [&](int, Line& line) {
    line.trim();
    if (line.spans.empty()) {
      blanks++;
      return;
    }
    std::string out;
    if (!first) out += '\n';
    for (; blanks > 0; blanks--) out += '\n';
    first = false;
    for (const Span& span : line.spans) {
      const std::string css = css_of(span.style, screen);
      const std::string text = escape_markup(line.text_of(span));
      const std::string uri = span.style.link != 0 ? screen.link(span.style.link).uri : "";
      const bool linked = is_safe_link(uri);
      if (linked) out += fmt::format("<a href=\"{}\" rel=\"noopener noreferrer\">", escape_markup(uri));
      out += css.empty() ? text : fmt::format("<span style=\"{}\">{}</span>", css, text);
      if (linked) out += "</a>";
    }
    sink(out);
  });
  sink("</pre>\n");
}

}  // namespace ttyward::vt
