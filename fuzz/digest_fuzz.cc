// Any bytes as the output of any command. The first byte chooses command, exit status and size.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "digest/digest.h"
#include "digest/testing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ttyward::digest;
  if (size == 0) return 0;
  static constexpr const char* kCommands[] = {"",         "make",  "git log",    "git status",
                                              "ls -l",    "cat x", "pytest",     "curl x",
                                              "git diff", "ls",    "grep -rn x", "diff a b"};
  Options options;
  options.command = kCommands[data[0] % std::size(kCommands)];
  options.exit_status = data[0] & 16 ? 1 : 0;
  options.max_chars = data[0] & 32 ? 300 : 8000;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const Digest digest = make_digest(text, options);
  if (alarms_accounted(digest) != alarms_in(text)) std::abort();
  (void)to_json(digest);
  return 0;
}
