// How fast the VT engine turns bytes into a screen, beside the floor any terminal has.
//
//   bench_vt [--cols N] [--rows N] [--scrollback N] [--reps N] [--limit-mb N] CORPUS…
//   bench_vt --resize [--scrollback N] CORPUS…
//
// Each corpus is fed in 64 KiB chunks to a fresh screen; the best of the
// repetitions counts. "limit" is the cheapest thing a grid with scrollback can do
// with the same bytes: find the runs of text and store each character in an
// 8-byte cell of a ring of rows. One JSON object a line; the last one holds the
// geometric means. With --resize: how long a change of width takes on a full
// history, to narrower, wider and back.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "vt/fill.h"
#include "vt/screen.h"

namespace {

using ttyward::vt::Screen;
using ttyward::vt::ScreenOptions;

constexpr size_t kChunk = 64 * 1024;

struct Settings {
  int cols = 80;
  int rows = 24;
  size_t scrollback = 10'000;
  int reps = 3;
  size_t limit = 0;
  bool engine_only = false;  // for profilers
  bool resize = false;
  std::vector<std::string> files;
};

template <typename F>
double best_seconds(int reps, F run) {
  double best = 1e9;
  for (int i = 0; i < reps; i++) {
    const auto start = std::chrono::steady_clock::now();
    run();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

volatile uint64_t sink;

void store_limit(const std::string& bytes, const Settings& settings, std::vector<uint64_t>& grid) {
  const auto cols = static_cast<size_t>(settings.cols);
  const size_t rows = settings.scrollback + static_cast<size_t>(settings.rows);
  const auto* p = reinterpret_cast<const uint8_t*>(bytes.data());
  const uint8_t* const end = p + bytes.size();
  size_t r = 0;
  size_t c = 0;
  const auto next_row = [&] {
    r = r + 1 == rows ? 0 : r + 1;
    c = 0;
  };
  while (p < end) {
    const uint8_t* run = p;
    p = ttyward::vt::find_non_printable(p, end);
    while (run < p) {
      if (c == cols) next_row();
      const size_t n = std::min(static_cast<size_t>(p - run), cols - c);
      uint64_t* const cells = &grid[r * cols + c];
      for (size_t i = 0; i < n; i++) cells[i] = run[i] | 0x100000000u;
      run += n;
      c += n;
    }
    for (; p < end && (*p < 0x20 || *p > 0x7E); p++) {
      if (*p != '\n') continue;
      next_row();
      std::memset(&grid[r * cols], 0, cols * sizeof(uint64_t));
    }
  }
  sink = grid[r * cols];
}

long resident_kib() {
  std::ifstream statm("/proc/self/statm");
  long size = 0;
  long resident = 0;
  statm >> size >> resident;
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

// Milliseconds for each of a few changes of width on the history that `bytes` leave.
void measure_resize(const std::string& name, const std::string& bytes, const ScreenOptions& options) {
  Screen screen(options);
  while (screen.history_size() < options.scrollback.lines) {
    const size_t before = screen.history_size();
    screen.feed(bytes);
    screen.take_replies();
    screen.take_events();
    if (screen.history_size() == before) break;
  }
  const size_t lines = screen.history_size();
  std::string out;
  for (const int cols : {options.cols - 1, options.cols / 2, options.cols * 2, options.cols}) {
    const double seconds = best_seconds(1, [&] { screen.resize(cols, options.rows); });
    const double read = best_seconds(1, [&] { sink = screen.history_size(); });
    char text[120];
    std::snprintf(text, sizeof text, "%s\"to_%d\":{\"resize\":%.3f,\"first_read\":%.1f}",
                  out.empty() ? "" : ",", cols, seconds * 1000, read * 1000);
    out += text;
  }
  std::printf("{\"corpus\":\"%s\",\"history_lines\":%zu,\"ms\":{%s}}\n", name.c_str(), lines, out.c_str());
  std::fflush(stdout);
}

std::string corpus_name(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.substr(0, name.rfind('.'));
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; i++) {
    const std::string arg = argv[i];
    const auto number = [&] { return i + 1 < argc ? std::atol(argv[++i]) : 0; };
    if (arg == "--cols") {
      settings.cols = static_cast<int>(number());
    } else if (arg == "--rows") {
      settings.rows = static_cast<int>(number());
    } else if (arg == "--scrollback") {
      settings.scrollback = static_cast<size_t>(number());
    } else if (arg == "--reps") {
      settings.reps = static_cast<int>(number());
    } else if (arg == "--limit-mb") {
      settings.limit = static_cast<size_t>(number()) << 20;
    } else if (arg == "--resize") {
      settings.resize = true;
    } else if (arg == "--engine-only") {
      settings.engine_only = true;
    } else {
      settings.files.push_back(arg);
    }
  }
  if (settings.files.empty()) {
    std::fprintf(stderr, "usage: bench_vt [--cols N] [--rows N] [--scrollback N] [--reps N] CORPUS...\n");
    return 2;
  }

  double log_engine = 0;
  double log_limit = 0;
  for (const std::string& file : settings.files) {
    std::ifstream in(file, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (bytes.empty()) {
      std::fprintf(stderr, "bench_vt: cannot read %s\n", file.c_str());
      return 1;
    }
    if (settings.limit != 0 && bytes.size() > settings.limit) bytes.resize(settings.limit);

    ScreenOptions options;
    options.cols = settings.cols;
    options.rows = settings.rows;
    options.scrollback.lines = settings.scrollback;
    if (settings.resize) {
      measure_resize(corpus_name(file), bytes, options);
      continue;
    }
    std::unique_ptr<Screen> screen;
    long grown = 0;
    const double engine = best_seconds(settings.reps, [&] {
      screen.reset();
      const long before = resident_kib();
      screen = std::make_unique<Screen>(options);
      for (size_t at = 0; at < bytes.size(); at += kChunk) {
        screen->feed(std::string_view(bytes).substr(at, kChunk));
        screen->take_replies();
        screen->take_events();
      }
      grown = std::max(grown, resident_kib() - before);
    });
    const size_t lines = screen->history_size();
    const size_t memory = screen->memory();
    screen.reset();

    std::vector<uint64_t> grid((settings.scrollback + static_cast<size_t>(settings.rows)) *
                               static_cast<size_t>(settings.cols));
    const double limit = settings.engine_only
                             ? engine
                             : best_seconds(settings.reps, [&] { store_limit(bytes, settings, grid); });
    const double engine_rate = static_cast<double>(bytes.size()) / engine / 1e6;
    const double limit_rate = static_cast<double>(bytes.size()) / limit / 1e6;
    log_engine += std::log(engine_rate);
    log_limit += std::log(limit_rate);
    std::printf(
        "{\"corpus\":\"%s\",\"cols\":%d,\"rows\":%d,\"mb_per_s\":%.1f,\"limit_mb_per_s\":%.1f,\"of_limit\":%."
        "2f,"
        "\"history_lines\":%zu,\"memory_bytes\":%zu,\"rss_growth_kib\":%ld}\n",
        corpus_name(file).c_str(), settings.cols, settings.rows, engine_rate, limit_rate,
        engine_rate / limit_rate, lines, memory, grown);
    std::fflush(stdout);
  }
  if (settings.resize) return 0;
  const auto n = static_cast<double>(settings.files.size());
  std::printf("{\"corpus\":\"geometric_mean\",\"mb_per_s\":%.1f,\"limit_mb_per_s\":%.1f,\"of_limit\":%.2f}\n",
              std::exp(log_engine / n), std::exp(log_limit / n), std::exp((log_engine - log_limit) / n));
  return 0;
}
