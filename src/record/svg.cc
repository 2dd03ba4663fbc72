// Frames stand beside each other in a strip, and a style sheet moves the strip behind a window of one frame's
// size: that works where pictures may not run scripts. A line that several frames show is in the file once.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "record/film.h"
#include "record/writers.h"
#include "vt/serialize/looks.h"

namespace ttyward::record {
namespace {

constexpr double kCellWidth = 8.4;
constexpr double kCellHeight = 18;
constexpr double kPadding = 14;
constexpr double kTitleBar = 34;
constexpr double kBaseline = 13.5;          // within a cell
constexpr double kUsualIdleLimit = 2;       // seconds
constexpr uint64_t kLastFrame = 3'000'000;  // how long the end is shown before it begins again
// What a README should not be larger than.
constexpr FilmLimits kLimits{.interval_us = 80'000, .frames = 600, .bytes = size_t{512} << 10};

std::string text_of(const Film& film, const Film::Line& line) {
  std::string out;
  for (const Film::Run& run : line) {  // backgrounds first, so that no glyph is cut
    const Film::Look& look = film.looks[run.look];
    if (look.background == film.background) continue;
    out +=
        fmt::format("<rect x=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" fill=\"{}\"/>",
                    run.col * kCellWidth, run.cols * kCellWidth, kCellHeight, vt::color_hex(look.background));
  }
  for (const Film::Run& run : line) {
    const Film::Look& look = film.looks[run.look];
    if (run.text.find_first_not_of(' ') == std::string::npos && !look.underline && !look.strike) continue;
    std::string decoration = look.underline ? "underline" : "";
    if (look.strike) decoration += decoration.empty() ? "line-through" : " line-through";
    out += fmt::format(
        "<text x=\"{:.1f}\" y=\"{}\" textLength=\"{:.1f}\"{}{}{}{}>{}</text>", run.col * kCellWidth,
        kBaseline, run.cols * kCellWidth,
        look.foreground == film.foreground ? "" : fmt::format(" fill=\"{}\"", vt::color_hex(look.foreground)),
        look.bold ? " font-weight=\"bold\"" : "", look.italic ? " font-style=\"italic\"" : "",
        decoration.empty() ? "" : " text-decoration=\"" + decoration + "\"", vt::escape_markup(run.text));
  }
  return out;
}

std::string keyframes(const Film& film, uint64_t total, double width) {
  std::string out = "@keyframes play{";
  std::string before;
  for (size_t i = 0; i < film.frames.size(); i++) {
    const double percent = 100.0 * static_cast<double>(film.frames[i].at_us) / static_cast<double>(total);
    const std::string at = fmt::format("{:.4f}%", percent);
    if (at == before) continue;
    before = at;
    out += fmt::format("{}{{transform:translateX({:.1f}px)}}", at, -static_cast<double>(i) * width);
  }
  return out + fmt::format("100%{{transform:translateX({:.1f}px)}}}}",
                           -static_cast<double>(film.frames.size() - 1) * width);
}

}  // namespace

void write_svg(const Recording& recording, const Sink& sink) {
  Recording limited = recording;
  if (!recording.header().idle_limit_s) limited.limit_idle(kUsualIdleLimit);
  const Film film = make_film(limited, kLimits);
  const double width = film.largest.cols * kCellWidth;
  const double height = film.largest.rows * kCellHeight;
  const uint64_t total = film.duration_us + kLastFrame;
  const std::string background = vt::color_hex(film.background);
  const Header& header = recording.header();
  const std::string title = vt::escape_markup(header.title.empty() ? header.command : header.title);
  sink(fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.1f} "
      "{1:.1f}\">\n"
      "<title>{2}</title>\n"
      "<style>{3}#strip{{animation:play {4:.3f}s steps(1,end) infinite}}</style>\n"
      "<rect width=\"100%\" height=\"100%\" rx=\"9\" fill=\"{5}\"/>\n"
      "<circle cx=\"20\" cy=\"17\" r=\"6\" fill=\"#ff5f57\"/><circle cx=\"40\" cy=\"17\" r=\"6\" "
      "fill=\"#febc2e\"/>"
      "<circle cx=\"60\" cy=\"17\" r=\"6\" fill=\"#28c840\"/>\n"
      "<text x=\"{6:.1f}\" y=\"21\" text-anchor=\"middle\" font-family=\"sans-serif\" font-size=\"12\" "
      "fill=\"{7}\" "
      "fill-opacity=\"0.7\">{2}</text>\n",
      width + 2 * kPadding, height + kTitleBar + kPadding, title, keyframes(film, total, width),
      static_cast<double>(total) / 1e6, background, width / 2 + kPadding, vt::color_hex(film.foreground)));
  sink("<defs>\n");
  for (size_t i = 1; i < film.lines.size(); i++)
    sink(fmt::format("<g id=\"l{}\">{}</g>\n", i, text_of(film, film.lines[i])));
  sink(fmt::format(
      "</defs>\n<svg x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" overflow=\"hidden\">\n"
      "<g id=\"strip\" font-family=\"ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace\" "
      "font-size=\"14\" "
      "fill=\"{}\" xml:space=\"preserve\">\n",
      kPadding, kTitleBar, width, height, vt::color_hex(film.foreground)));
  std::vector<uint32_t> shown;
  for (size_t i = 0; i < film.frames.size(); i++) {
    const Film::Frame& frame = film.frames[i];
    const bool resized = i == 0 || frame.size != film.frames[i - 1].size;
    if (resized) shown.assign(static_cast<size_t>(frame.size.rows), 0);
    for (const auto& [row, line] : frame.rows) shown[static_cast<size_t>(row)] = line;
    std::string out = fmt::format("<g transform=\"translate({:.1f})\">", static_cast<double>(i) * width);
    for (size_t row = 0; row < shown.size(); row++)
      if (shown[row] != 0)
        out += fmt::format("<use href=\"#l{}\" y=\"{:.0f}\"/>", shown[row],
                           static_cast<double>(row) * kCellHeight);
    if (frame.cursor)
      out += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.0f}\" width=\"{}\" height=\"{:.0f}\" fill-opacity=\"0.55\"/>",
          frame.cursor_col * kCellWidth, frame.cursor_row * kCellHeight, kCellWidth, kCellHeight);
    sink(out + "</g>\n");
  }
  sink("</g>\n</svg>\n</svg>\n");
}

}  // namespace ttyward::record
