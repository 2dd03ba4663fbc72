// Any bytes as the output of any command. The first byte chooses command, exit status and size. Two bytes,
// \x01 and a number, stand for a line of a tool, so that lines of one are soon found among those of another.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>

#include "digest/digest.h"
#include "digest/testing.h"

namespace {

constexpr std::string_view kToolLines[] = {
    "a.c:5:11: error: no member named 'z'\n",
    "   5 | return p.z;\n      |        ^\n",
    "\u2713 handles errors\n",
    "[  FAILED  ] Suite.Two (1 ms)\n",
    "Traceback (most recent call last):\n",
    "  File \"x.py\", line 3, in f\n    raise ValueError\n",
    "ValueError: not found\n",
    "diff --git a/error b/error\n--- a/error\n+++ b/error\n@@ -1 +1 @@\n-fail\n+pass\n",
    "drwxr-xr-x 2 root root 4096 Nov 16 10:53 errors\n",
    "./src/error/a.c\n./src/error/b.c\n",
    "src/a.c:12: parse(line);\n",
    "src/b.c:41:  FATAL: corrupt\n",
    "NAME    READY   STATUS   NODE\n",
    "web-1   1/1   Failed    worker-1\n",
    "web-2   1/1   Running   worker-1\n",
    "Nov 03 08:00:26 web-2 app[2231]: INFO  GET /x 200\n",
    "Nov 03 08:00:27 web-2 app[2231]: ERROR gateway returned 502\n",
    "commit 0123456789012345678901234567890123456789\nAuthor: A <a@b>\n\n    Fix the error\n\n a.c | 3 ++-\n",
    "\tmodified:   src/error.c\n",
    "Changes not staged for commit:\n",
    "    at f (node:internal/error:3:4)\n",
    "goroutine 1 [running]:\nmain.f()\n\t/x/error.go:3 +0x1\n",
    "CMake Warning at CMakeLists.txt:6 (message):\n  not found\n",
    "00:ab:a4:5c:bb:7d:78:aa:e1:15:00:9c:1a:f7:f0:\n",
    "{\"error\": 1}\n",
    "npm error code E404\n",
    "gcc -c error.c -o error.o\n",
    "==12== Invalid write: error\n",
};

std::string with_tool_lines(std::string_view bytes) {
  std::string out;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == '\x01' && i + 1 < bytes.size()) {
      out += kToolLines[static_cast<uint8_t>(bytes[++i]) % std::size(kToolLines)];
    } else {
      out += bytes[i];
    }
  }
  return out;
}

}  // namespace

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
  const std::string text = with_tool_lines({reinterpret_cast<const char*>(data + 1), size - 1});
  const Digest digest = make_digest(text, options);
  if (alarms_accounted(digest) != alarms_in(text)) std::abort();
  if (alarms_hidden(text, digest) != 0) std::abort();
  (void)to_json(digest);
  return 0;
}
