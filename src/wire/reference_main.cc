// Prints the reference of the protocol: `wire_reference markdown < docs/protocol/socket.md` the page with its
// tables made anew, `wire_reference schema` the JSON Schema.
#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>

#include "wire/reference.h"

int main(int argc, char** argv) {
  using namespace ttyward::wire;
  const std::string_view what = argc == 2 ? argv[1] : "";
  std::string out;
  if (what == "schema") out = reference_schema();
  if (what == "markdown") {
    const std::string page{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
    out = reference_markdown(page);
  }
  if (out.empty()) {
    std::fputs("usage: wire_reference schema | wire_reference markdown < docs/protocol/socket.md\n", stderr);
    return 2;
  }
  std::fwrite(out.data(), 1, out.size(), stdout);
  return 0;
}
