// Makes shell lines: by a grammar, as token soup, and by changing lines that were made before.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace ttyward::fuzz {

// How long lines are made: "120s" is a time, "40000" a number of lines. The tests take a number and a fixed seed,
// so that they do the same every time.
class Budget {
 public:
  explicit Budget(const std::string& text)
      : number_(std::strtoull(text.c_str(), nullptr, 10)), seconds_(text.ends_with('s')) {}

  bool valid() const { return number_ > 0; }
  // Takes one line of what is left.
  bool take() {
    return seconds_ ? std::chrono::steady_clock::now() - start_ < std::chrono::seconds(number_)
                    : taken_++ < number_;
  }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  uint64_t number_;
  bool seconds_;
  uint64_t taken_ = 0;
};

// Words for the two kinds of run: anything goes when lines are only parsed; when they are run, only words
// that a command of the allow-list might have.
class LineMaker {
 public:
  explicit LineMaker(uint64_t seed) : random_(seed) {}

  // A line by the grammar, soup, or a mutant of an earlier line.
  std::string next();
  // Keeps a line as material for mutants.
  void keep(const std::string& line);

  std::string program(int depth);
  std::string mutate(std::string line);

 private:
  size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
  bool chance(int percent) { return below(100) < static_cast<size_t>(percent); }
  template <typename List>
  std::string pick(const List& list) {
    return std::string(list[below(std::size(list))]);
  }
  std::string soup();
  std::string list(int depth);
  std::string command(int depth);
  std::string simple(int depth);
  std::string word(int depth);
  std::string piece(int depth);
  std::string gap();
  std::string separator();

  std::mt19937_64 random_;
  std::vector<std::string> kept_;
};

}  // namespace ttyward::fuzz
