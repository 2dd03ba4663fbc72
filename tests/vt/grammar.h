// Random output from a grammar of everything the screen understands.
#pragma once

#include <fmt/format.h>

#include <array>
#include <random>
#include <string>
#include <string_view>

namespace ttyward::test {

class Grammar {
 public:
  explicit Grammar(unsigned seed) : random_(seed) {}

  std::string output(int pieces) {
    std::string out;
    for (int i = 0; i < pieces; i++) out += piece();
    return out;
  }
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  // Plain text with wide characters, marks, styles and hard and soft line ends.
  std::string text(int pieces) {
    static constexpr const char* kPieces[] = {"word ",      "a longer stretch of words ",
                                              "\r\n",       "漢字",
                                              "e\xcc\x81",  "\033[1m",
                                              "\033[0;44m", "\033[m",
                                              "😀",         "\t",
                                              "x"};
    std::string out;
    for (int i = 0; i < pieces; i++) out += kPieces[below(std::size(kPieces))];
    return out;
  }

 private:
  std::string number() { return below(4) == 0 ? "" : std::to_string(below(14)); }
  char one_of(std::string_view letters) {
    return letters[static_cast<size_t>(below(static_cast<int>(letters.size())))];
  }

  std::string piece() {
    switch (below(22)) {
      case 0:
      case 1:
      case 2:
        return text(3);
      case 3:
        return std::string(static_cast<size_t>(below(30)), one_of("abc"));
      case 4:
        return fmt::format("\033[{};{}H", number(), number());
      case 5:
        return fmt::format("\033[{}{}", number(), one_of("ABCDEFGIZade`"));
      case 6:
        return fmt::format("\033[{}{}", number(), one_of("@PXLMST"));
      case 7:
        return fmt::format("\033[{}{}", below(3), one_of("JK"));
      case 8:
        return fmt::format("\033[{};{}r", number(), number());
      case 9:
        return fmt::format("\033[?69h\033[{};{}s", number(), number());
      case 10:
        return fmt::format(
            "\033[?{}{}",
            (std::array{6, 7, 25, 45, 69, 1049, 2004, 2027, 1006})[static_cast<size_t>(below(9))],
            one_of("hl"));
      case 11:
        return fmt::format("\033[4{}", one_of("hl"));
      case 12:
        return std::string("\033") + one_of("78DEM69Hc=>");
      case 13:
        return fmt::format("\033[{}m",
                           (std::array{0, 1, 3, 4, 7, 31, 44, 97, 103})[static_cast<size_t>(below(9))]);
      case 14:
        return fmt::format("\033[38;2;{};{};{};48;5;{}m", below(256), below(256), below(256), below(256));
      case 15:
        return fmt::format("\033[{};{};{};{}${}", number(), number(), number(), number(), one_of("z{"));
      case 16:
        return fmt::format("\033[65;{};{};{};{}$x", number(), number(), number(), number());
      case 17:
        return fmt::format("\033[{};{};{};{};1;{};{}$v", number(), number(), number(), number(), number(),
                           number());
      case 18:
        return fmt::format("\033]8;;{}\007", below(2) == 0 ? "" : "http://a/" + std::to_string(below(3)));
      case 19:
        return fmt::format("\033]133;{}\007", one_of("ABCD"));
      case 20:
        return fmt::format("\033[{}b", number());
      default:
        return std::string(1, one_of("\r\n\b\t\016\017"));
    }
  }

  std::mt19937 random_;
};

}  // namespace ttyward::test
