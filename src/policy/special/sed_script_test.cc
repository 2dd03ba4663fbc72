#include "policy/special/sed_script.h"

#include <gtest/gtest.h>

#include <random>

namespace ttyward::policy::special {
namespace {

TEST(SedScript, scripts_that_only_edit_the_stream) {
  for (const char* script : {"",
                             "p",
                             "1,20p",
                             "$!N;P;D",
                             "s/a/b/g",
                             "s|/a|/b|",
                             "s/[\\/]/x/",
                             "s/a/b/;s/c/d/ ; p",
                             "/foo/,/bar/p",
                             "\\%a%d",
                             "/x/I{p;d}",
                             "0~3d",
                             "2,+3d",
                             "y/abc/xyz/",
                             ":a;N;$!ba;s/\\n/ /g",
                             ":a\nN\nb a",
                             "1i\\\nfirst",
                             "1i\\  x",
                             "a text w out",
                             "$a\\\ntwo\\\nlines\np",
                             "a x\\\\\np",
                             "q5",
                             "# w out\np",
                             "/a/{s/b/c/\n}",
                             "s/x/e w out/",
                             "s/a/\\\n/"}) {
    EXPECT_EQ(read_sed_script(script), SedScript{}) << script;
  }
}

TEST(SedScript, files_are_named_up_to_the_end_of_the_line) {
  EXPECT_EQ(read_sed_script("r in;p").reads, std::vector<std::string>{"in;p"});
  EXPECT_EQ(read_sed_script("1R  in\np").reads, std::vector<std::string>{"in"});
  EXPECT_EQ(read_sed_script("/x/w out").writes, std::vector<std::string>{"out"});
  EXPECT_EQ(read_sed_script("s/a/b/gw out }").writes, std::vector<std::string>{"out }"});
  EXPECT_EQ(read_sed_script("W out\nw more").writes, (std::vector<std::string>{"out", "more"}));
}

TEST(SedScript, what_runs_something_or_is_not_understood_is_a_problem) {
  for (const char* script :
       {"e",          "e id",       "1e",          "s/a/b/e",   "s/a/b/ge",  "p;e",     "{e}",
        "a x\\\\\ne", "a x\\",      "a\\",         ":a e id",   "b x e id",  "s/a/b",   "s/a/b/x",
        "s[a[b[",     "s/[/]/x/;e", "s/[^/]/e/e",  "p d",       "}",         "{p",      "v",
        "k",          "1,p",        "s/a\nb/c/",   "/x",        "y/a/b/e",   "r",       "w",
        "1,/x/!e id", "#n\ne id",   "s/a/b/\ne x", ":a#\ne id", "i\\\nx\ne", "c x\n1e", "t\ne"}) {
    EXPECT_NE(read_sed_script(script).problem, "") << script;
  }
}

TEST(SedScript, every_text_has_an_answer) {
  std::mt19937 random(7);
  constexpr std::string_view kBytes = "sye/\\[]{}wra\nb;:!1,$~+#x ^";
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (size_t n = random() % 12; n > 0; --n) text.push_back(kBytes[random() % kBytes.size()]);
    read_sed_script(text);
  }
}

}  // namespace
}  // namespace ttyward::policy::special
