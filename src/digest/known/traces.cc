// Stack traces: the own frames nearest to the fault, the ends, and the chain of causes. Library frames are
// counted.
#include <re2/re2.h>

#include <unordered_set>

#include "digest/known/known.h"
#include "digest/line_scan.h"

namespace ttyward::digest {
namespace {

const RE2& frame_pattern() {
  static const RE2 kPattern(
      R"(^\s+File ".*", line \d+(, in .*)?$|^\s+at .+\(?.*:\d+(:\d+)?\)?.*$|^\s+at \S+\(.*\)$|^\s+at .* \(?<?(anonymous|node:.*|native).*$|^\s*#\d+ +(0x[0-9a-f]+ in .*|[A-Za-z_~<?][\w:~<>,.*&?\[\] -]* ?\(.*)$|^==\d+== +(at|by) 0x.*$|^\s+\d+: .*$|^\s+\.\.\. \d+ more$|^\s+(# |from )\S+:\d+:in .*$|^#\d+ \S+\(\d+\): .*$|^\s+(async )?[\w.<>]+ \((node|file):[^()]*:\d+:\d+\)$)");
  return kPattern;
}

bool is_library(std::string_view text) {
  for (const std::string_view part :
       {"site-packages", "node_modules", "node:",          "/usr/lib",   "/usr/include", "lib/python3",
        "java.base/",    "jdk.",         "java.util.",     "java.lang.", "<frozen",      "libc.so",
        "libasan",       "/rustc/",      "sysdeps",        "(/lib/",     "libstdc++",    "../csu",
        "libsanitizer",  "vgpreload",    "/usr/local/go/", "/gems/",     "/vendor/"}) {
    if (text.find(part) != std::string_view::npos) return true;
  }
  return false;
}

// A line of source under a frame.
void rank_source(Page& page, size_t index, size_t frame) {
  Line& line = page.lines[index];
  const bool marks = line.text.find_first_not_of(" ^~") == std::string::npos;
  if (marks || is_library(page.lines[frame].text)) line.rank = Rank::Noise;
  line.under = static_cast<int32_t>(frame);
}

}  // namespace

void know_traces(Page& page) {
  size_t traces = 0;
  std::unordered_set<uint64_t> seen;  // frames of earlier traces
  for (size_t i = 0; i < page.lines.size();) {
    if (page.lines[i].shielded || page.lines[i].fold >= 0 || page.lines[i].text.size() > 2000 ||
        !RE2::FullMatch(page.lines[i].text, frame_pattern())) {
      ++i;
      continue;
    }
    // A trace: frames, each with at most three indented lines of its own (Python quotes the source).
    std::vector<size_t> frames;
    size_t end = i;
    bool python = false;
    for (size_t j = i; j < page.lines.size() && j - end <= 5 && page.lines[j].text.size() <= 2000; ++j) {
      if (page.lines[j].blank) break;
      const std::string_view text = page.lines[j].text;
      if (RE2::FullMatch(text, frame_pattern())) {
        frames.push_back(j);
        python = python || text.find("File \"") != std::string_view::npos;
        end = j;
      } else if (!python || text[0] != ' ') {
        break;
      }
    }
    const size_t after = end + 1;
    // The line above says what happened.
    if (i > 0 && !page.lines[i - 1].blank && !page.lines[i - 1].shielded) {
      page.lines[i - 1].rank = std::max(page.lines[i - 1].rank, Rank::Warning);
    }
    if (frames.size() >= 4) {
      ++traces;
      constexpr size_t kShort = 8;  // frames
      const size_t most = traces > 1 && !python ? 2 : frames.size() <= kShort ? 5 : 3;
      size_t own = 0;
      uint64_t before = 0;
      for (size_t f = 0; f < frames.size(); ++f) {
        // Python's innermost frame is the last, everybody else's the first.
        const size_t at = python ? frames[frames.size() - 1 - f] : frames[f];
        const bool outermost = f + 1 == frames.size();
        const uint64_t shape = shape_of(page.lines[at].text);
        const bool again = shape == before;  // it calls itself
        before = shape;
        const bool keep =
            f == 0 ||
            (again ? false : (!is_library(page.lines[at].text) && own < most) || (outermost && own < 2));
        if (!again && !is_library(page.lines[at].text)) ++own;
        if (seen.size() < 10'000) seen.insert(shape_of(page.lines[at].text));
        const size_t next = python ? (f == 0 ? after + 2 : frames[frames.size() - f]) : at + 1;
        for (size_t k = at; k < std::min(next, page.lines.size()) &&
                            (k == at || (python && page.lines[k].text.starts_with("  ")));
             ++k) {
          Line& line = page.lines[k];
          if (line.fold >= 0) continue;
          line.settled = true;
          line.rank = line.alarm ? Rank::Alarm : keep ? Rank::Detail : Rank::Noise;
          if (k > at && !line.alarm) rank_source(page, k, at);
        }
      }
    } else {
      for (const size_t f : frames) {
        Line& line = page.lines[f];
        // Python quotes the source of each frame.
        for (size_t k = f + 1; python && k < page.lines.size() && k <= f + 3 &&
                               page.lines[k].text.starts_with("    ") && page.lines[k].fold < 0;
             ++k) {
          if (!page.lines[k].alarm) rank_source(page, k, f);
        }
        if (line.alarm) continue;
        const bool known = traces > 0 && (is_library(line.text) || !seen.insert(shape_of(line.text)).second);
        line.rank = known ? Rank::Noise : std::max(line.rank, Rank::Detail);
      }
      ++traces;
    }
    i = std::max(after, i + 1);
  }
  static const RE2 kCause(
      R"(^(\w+[\w.]*(Error|Exception|Warning|Interrupt|Exit)\b.*|Caused by: .*|\s*\[cause\]: .*|During handling of .*|The above exception was .*|Traceback \(most.*)$)");
  for (Line& line : page.lines) {
    if (line.alarm && !line.shielded && line.fold < 0 && line.text.size() < 2000 &&
        RE2::FullMatch(line.text, kCause))
      line.rank = Rank::Alarm;
  }
}

}  // namespace ttyward::digest
