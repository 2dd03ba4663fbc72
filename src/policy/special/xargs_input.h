// How xargs cuts its input into arguments. Total: every text has an answer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ttyward::policy::special {

struct XargsSplit {
  enum class By : uint8_t {
    Words,  // blanks and line ends; quotes and backslashes protect
    Lines,  // -I: a line is one argument; leading blanks go, quotes and backslashes protect
    Byte,   // -d, -0: nothing protects
  };
  By by = By::Words;
  char delimiter = '\n';
};

// False: xargs would refuse the input (a quote that does not end).
bool split_xargs_input(std::string_view text, XargsSplit split, std::vector<std::string>& out);

}  // namespace ttyward::policy::special
