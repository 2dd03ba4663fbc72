// MB/s of the digest: bench_digest [FILE...]; without files, a log, numbered lines and random words.
#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

#include "digest/digest.h"

namespace {

using ttyward::digest::Builder;
using ttyward::digest::Digest;

// In seconds of this processor's time: others' load does not count.
double now() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

void measure(const std::string& name, std::string_view text) {
  const double size = static_cast<double>(text.size()) / 1e6;
  const double begin = now();
  Builder builder({});
  while (!text.empty()) {
    const size_t end = text.find('\n');
    builder.add(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  const double read = now();
  const Digest digest = builder.finish();
  const double end = now();
  fmt::print("{:24} {:8.1f} MB  {:7.1f} MB/s  finished in {:5.1f} ms  digest of {} characters\n", name, size,
             size / (end - begin), (end - read) * 1e3, digest.text().size());
}

std::string log_of(size_t bytes) {
  std::mt19937 random(1);
  std::string text;
  while (text.size() < bytes) {
    text += fmt::format("2026-03-01 10:{:02}:{:02}.{:03} INFO [worker-{}] GET /api/item/{} 200 {}ms\n",
                        random() % 60, random() % 60, random() % 1000, random() % 8, random() % 100'000,
                        random() % 900);
    if (random() % 5000 == 0)
      text += fmt::format("2026-03-01 ERROR [db] connection {} lost\n", random() % 1000);
  }
  return text;
}

std::string words_of(size_t bytes) {
  std::mt19937 random(2);
  std::string text;
  while (text.size() < bytes) {
    for (size_t word = 0; word < 8; ++word) {
      for (size_t letters = 2 + random() % 8; letters > 0; --letters)
        text += static_cast<char>('a' + random() % 26);
      text += word < 7 ? ' ' : '\n';
    }
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    for (int i = 1; i < argc; ++i) {
      std::ifstream file(argv[i], std::ios::binary);
      measure(argv[i], std::string(std::istreambuf_iterator<char>(file), {}));
    }
    return 0;
  }
  measure("log", log_of(100'000'000));
  measure("random words", words_of(50'000'000));
  measure("one line", std::string(100'000'000, 'x') + " error " + std::string(1'000'000, 'y'));
  return 0;
}
