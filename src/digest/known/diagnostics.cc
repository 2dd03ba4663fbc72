// Compilers and linters: FILE:LINE:COLUMN: severity: message, in its dialects.
#include <re2/re2.h>

#include <array>
#include <span>

#include "digest/known/known.h"
#include "digest/line_scan.h"

namespace ttyward::digest {
namespace {

constexpr size_t kMostFacts = 200;

uint64_t number_of(const std::string& digits) {
  uint64_t n = 0;
  for (const char c : digits) {
    if (n < 100'000'000) n = n * 10 + static_cast<uint64_t>(c - '0');
  }
  return n;
}

// Groups: file, line, column, code, severity, message.
std::span<const RE2* const> dialects() {
  static const RE2 kGcc(
      R"(^([^\s:][^:]*):(\d+):(?:(\d+):)?() (fatal error|error|warning|note|info|remark): (.*)$)");
  static const RE2 kTsc(R"(^([^\s(][^(]*)\((\d+),(\d+)\):() (error|warning) (.*)$)");
  static const RE2 kTscPretty(R"(^([^\s:][^:]*):(\d+):(\d+)() - (error|warning) (.*)$)");
  static const RE2 kGo(R"(^\s*([\w./-]+\.go):(\d+):(?:(\d+):)?()() (.*)$)");
  static const RE2 kLint(R"(^([^\s:][^\s:]*):(\d+):(\d+): ([A-Z]+\d+):?() (.*)$)");
  static const std::array<const RE2*, 5> kAll = {&kGcc, &kTsc, &kTscPretty, &kGo, &kLint};
  return kAll;
}

// A word that every dialect has; most lines have none.
bool may_be_diagnostic(std::string_view text) {
  for (const std::string_view word : {"error", "warning", "note", "info", "remark", ".go:"}) {
    if (text.find(word) != std::string_view::npos) return true;
  }
  // "app/a.py:3:1: F401 unused"
  const size_t space = text.find(": ");
  return space != std::string_view::npos && space + 2 < text.size() && text[space + 2] >= 'A' &&
         text[space + 2] <= 'Z' && space > 0 && text[space - 1] >= '0' && text[space - 1] <= '9';
}

bool take(Page& page, const Line& line) {
  if (!may_be_diagnostic(line.text)) return false;
  std::string file, row, column, code, severity, message;
  for (const RE2* dialect : dialects()) {
    if (!RE2::FullMatch(line.text, *dialect, &file, &row, &column, &code, &severity, &message)) continue;
    static const RE2 kLead(R"(^(TS\d+): (.*)$)");
    static const RE2 kTail(R"(^(.*) \[([-\w+=.,#]+)\]$)");
    std::string rest;
    if (RE2::FullMatch(message, kLead, &code, &rest) || RE2::FullMatch(message, kTail, &rest, &code))
      message = rest;
    if (severity.empty()) severity = code.empty() ? "error" : "warning";
    if (page.facts.diagnostics.size() < kMostFacts && severity != "note") {
      page.facts.diagnostics.push_back(
          {file, number_of(row), number_of(column), severity, code, message, line.number});
    }
    return true;
  }
  return false;
}

// "   12 |   code", "      |   ^~~~", "  12   code" under tsc's and "~~~~": what the source file says itself.
bool is_source_quote(std::string_view text) {
  static const RE2 kQuote(
      R"(^\s*\d* +\|( .*|\s*[~^|+\-]*.*)?$|^[\s>]*\d+ ?\| .*$|^ *[\^~|]+[\^~ |_]*$|^\s*\|\s*$)");
  return RE2::FullMatch(text, kQuote);
}

bool only_marks(std::string_view text) {
  return text.find_first_not_of(" \t|^~_-+.") == std::string_view::npos;
}

// rustc explains under the source: "  |     ^^^^^^ expected `u32`, found `&str`".
bool is_label(std::string_view text) {
  static const RE2 kLabel(
      R"(^\s*\|[ |]*[\^_|-]*[\^-]+ \w.*$|^\s*\|[ |]*(expected|help|note|arguments?) .*$|^\s*= help: .*$)");
  return RE2::FullMatch(text, kLabel);
}

}  // namespace

void know_diagnostics(Page& page) {
  static const RE2 kRust(R"(^(error|warning)(?:\[(\w+)\])?: (.*)$)");
  static const RE2 kArrow(R"(^\s*--> (.+):(\d+):(\d+)$)");
  static const RE2 kContext(
      R"(^In file included from |^ +from .*[:,]$|^[^\s:]+: In (member )?(function|constructor|instantiation|lambda|substitution).*:$|^[^\s:]+: In .*:$|.*:   (required|recursively required) (from|by) .*|.*: (At top level:|required from here)$)");
  static const RE2 kEslint(R"(^\s+(\d+):(\d+)\s+(error|warning)\s+(.*?)(?:\s{2,}(\S+))?$)");
  size_t found = 0;
  bool rust = false;
  bool rust_open = false;
  std::string heading;
  size_t heading_at = 0;
  for (size_t i = 0; i < page.lines.size(); ++i) {
    Line& line = page.lines[i];
    if (line.blank || line.shielded || line.text.size() > 4000 || line.fold >= 0) continue;
    const std::string_view text = line.text;
    std::string a, b, c, d, e;
    if (text.find(':') != std::string_view::npos) {
      if (rust_open && RE2::FullMatch(text, kArrow, &a, &b, &c) && !page.facts.diagnostics.empty()) {
        Diagnostic& last = page.facts.diagnostics.back();
        last.file = a;
        last.line = number_of(b);
        last.column = number_of(c);
        rust_open = false;
        line.rank = Rank::Warning;
        ++found;
        continue;
      }
      if (take(page, line)) {
        ++found;
        if (!page.facts.diagnostics.empty() && page.facts.diagnostics.back().severity == "warning" &&
            page.facts.diagnostics.back().at == line.number)
          line.rank = std::max(line.rank, Rank::Warning);
        if (line.rank == Rank::Plain && page.facts.diagnostics.size() < 50) line.rank = Rank::Detail;
        const bool note = !line.alarm && text.find(": note: ") != std::string_view::npos;
        if (note) {
          line.rank = page.chars > 4000 ? Rank::Noise : Rank::Quote;
          line.settled = true;
        }
        continue;
      }
      if (RE2::FullMatch(text, kRust, &a, &b, &c)) {
        if (page.facts.diagnostics.size() < kMostFacts)
          page.facts.diagnostics.push_back({"", 0, 0, a, b, c, line.number});
        rust = rust_open = true;
        line.rank = line.alarm ? Rank::Alarm : Rank::Warning;
        continue;
      }
      if (!heading.empty() && RE2::FullMatch(text, kEslint, &a, &b, &c, &d, &e)) {
        page.lines[heading_at].rank = Rank::Warning;
        if (page.facts.diagnostics.size() < kMostFacts) {
          page.facts.diagnostics.push_back({heading, number_of(a), number_of(b), c, e, d, line.number});
        }
        continue;
      }
      if (RE2::FullMatch(text, kContext)) {
        line.rank = Rank::Noise;
        continue;
      }
    }
    if (text[0] == '/' && text.find(' ') == std::string_view::npos) {
      heading = line.text;
      heading_at = i;
    } else if (text[0] != ' ') {
      heading.clear();
    }
  }
  page.quotes = page.quotes || found > 0;
  page.labels = page.labels || rust;
}

void hide_source(Page& page) {
  static const RE2 kFar(R"(^\s*= note: .*|^\s*(-->|:::) /rustc/.*)");  // of rustc: what it says beside
  if (!page.quotes) return;
  for (size_t i = 0; i < page.lines.size(); ++i) {
    Line& line = page.lines[i];
    if (line.blank || line.shielded || line.alarm || line.settled || line.fold >= 0 ||
        line.text.size() > 2000)
      continue;
    if (page.labels && RE2::FullMatch(line.text, kFar)) {
      line.rank = Rank::Quote;
      line.settled = true;
    } else if (page.labels && is_label(line.text)) {
      line.rank = Rank::Detail;
      line.settled = true;
    } else if (is_source_quote(line.text)) {
      line.rank = Rank::Noise;
    } else if (i + 1 < page.lines.size() && line.text[0] != '=' && line.rank < Rank::Warning &&
               page.lines[i + 1].text.find('^') != std::string::npos && only_marks(page.lines[i + 1].text)) {
      line.rank = Rank::Noise;  // the marks below point into it
      line.settled = true;
    }
  }
}

}  // namespace ttyward::digest
