// The page has everything in it. The recording is JSON in a block that no browser runs, `<` escaped in it;
// the policy in the page allows this one script and this one style by their hashes, and no connection at all.
#include <fmt/format.h>

#include "base/base64.h"
#include "base/json_text.h"
#include "base/sha256.h"
#include "record/film.h"
#include "record/player.h"
#include "record/writers.h"
#include "vt/serialize/looks.h"

namespace ttyward::record {
namespace {

std::string source_hash(std::string_view text) {
  const base::Digest digest = base::sha256(text);
  return "'sha256-" + base::to_base64({reinterpret_cast<const char*>(digest.data()), digest.size()}) + "'";
}

// JSON for a script element: `</script>` and `<!--` cannot come up in it.
std::string script_text(std::string_view text) {
  std::string out;
  for (const char c : base::json_quoted(text)) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

std::string milliseconds(uint64_t us) {
  return fmt::format("{}", us / 1000);
}

void write_film(const Film& film, const Sink& sink) {
  sink(fmt::format("{{\"duration\":{},\"fg\":\"{}\",\"bg\":\"{}\",\"looks\":[",
                   milliseconds(film.duration_us), vt::color_hex(film.foreground),
                   vt::color_hex(film.background)));
  const char* comma = "";
  for (const Film::Look& look : film.looks) {
    const int flags =
        (look.bold ? 1 : 0) | (look.italic ? 2 : 0) | (look.underline ? 4 : 0) | (look.strike ? 8 : 0);
    sink(fmt::format("{}[\"{}\",\"{}\",{}]", comma, vt::color_hex(look.foreground),
                     vt::color_hex(look.background), flags));
    comma = ",";
  }
  sink("],\"lines\":[");
  comma = "";
  for (const Film::Line& line : film.lines) {
    std::string out = std::string(comma) + "[";
    const size_t opened = out.size();
    for (const Film::Run& run : line)
      out += fmt::format("{}{},{},{},{}", out.size() > opened ? "," : "", run.col, run.cols, run.look,
                         script_text(run.text));
    sink(out + "]");
    comma = ",\n";
  }
  sink("],\"frames\":[");
  comma = "";
  Size size{0, 0};
  for (const Film::Frame& frame : film.frames) {
    std::string rows;
    for (const auto& [row, line] : frame.rows)
      rows += fmt::format("{}{},{}", rows.empty() ? "" : ",", row, line);
    std::string out = fmt::format("{}[{},[{}],{:d},{},{}", comma, milliseconds(frame.at_us), rows,
                                  frame.cursor, frame.cursor_row, frame.cursor_col);
    if (frame.size != size) out += fmt::format(",{},{}", frame.size.cols, frame.size.rows);
    size = frame.size;
    sink(out + "]");
    comma = ",\n";
  }
  sink("],\"markers\":[");
  comma = "";
  for (const Film::Marker& marker : film.markers) {
    sink(fmt::format("{}[{},{}]", comma, milliseconds(marker.at_us), script_text(marker.label)));
    comma = ",";
  }
  sink("]}");
}

}  // namespace

void write_html(const Recording& recording, const Sink& sink) {
  const Header& header = recording.header();
  std::string title = !header.title.empty()     ? header.title
                      : !header.command.empty() ? header.command
                      : header.id.empty()       ? "Terminal recording"
                                                : header.id;
  title = vt::escape_markup(title);
  sink(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src ");
  sink(source_hash(kPlayerScript) + "; style-src " + source_hash(kPlayerStyle));
  sink(
      "; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n<title>");
  sink(title + "</title>\n<style>");
  sink(kPlayerStyle);
  sink("</style>\n</head>\n<body>\n<h1>" + title + "</h1>\n");
  sink(
      "<div id=\"frame\"><div id=\"screen\" role=\"img\" aria-label=\"terminal\"></div></div>\n"
      "<div id=\"controls\"><button id=\"play\">Play</button>"
      "<input id=\"bar\" type=\"range\" min=\"0\" value=\"0\" step=\"1\" aria-label=\"position\">"
      "<span id=\"clock\"></span>"
      "<select id=\"speed\" aria-label=\"speed\"><option value=\"0.5\">0.5x</option>"
      "<option value=\"1\" selected>1x</option><option value=\"2\">2x</option><option value=\"4\">4x</option>"
      "<option value=\"8\">8x</option></select>"
      "<label><input id=\"skip\" type=\"checkbox\" checked> skip pauses</label></div>\n"
      "<details id=\"chapters\" open><summary>Commands</summary><ul id=\"markers\"></ul></details>\n"
      "<script type=\"application/json\" id=\"recording\">");
  write_film(make_film(recording, {}), sink);
  sink("</script>\n<script>");
  sink(kPlayerScript);
  sink("</script>\n</body>\n</html>\n");
}

}  // namespace ttyward::record
