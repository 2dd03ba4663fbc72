// Runs a line of bash in a terminal of its own, waits for its end, and ends as it did.
#include <ttyward/command/run.h>

#include <iostream>

int main() {
  const auto result = ttyward::run("echo checked; exit 4");
  std::cout << result.output.text;
  return result.shell_code();
}
