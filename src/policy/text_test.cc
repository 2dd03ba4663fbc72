// Bytes in, and what a person sees of them.
#include <gtest/gtest.h>

#include "policy/escaped_view.h"
#include "policy/foreign_line.h"
#include "policy/paths.h"
#include "policy/text_screen.h"

namespace ttyward::policy {
namespace {

TEST(TextScreen, plain_text_in_any_language_is_fine) {
  EXPECT_TRUE(screen_text("grep -rn 'café' docs\nls\t日本語 данные ✓ →").empty());
}

TEST(TextScreen, deceiving_bytes_are_found) {
  using namespace std::string_view_literals;
  for (const std::string_view text :
       {"ls\0x"sv, "ls\rtouch x"sv, "ls \x1b[2K"sv, "ls \xff"sv, "ls \xc0\xaf"sv, "ls \xe2\x80\xae"sv,
        "ls \xe2\x80\x8b"sv, "ls \xf3\xa0\x81\xa1"sv, "ls\xc2\xa0-la"sv, "ls \xed\xa0\x80"sv, "ls \x7f"sv,
        "ls \x0c"sv, "ls \xef\xbb\xbf"sv}) {
    const auto problems = screen_text(text);
    ASSERT_FALSE(problems.empty());
    EXPECT_TRUE(problems.front().unparsable);
  }
}

TEST(TextScreen, padding_and_length_are_noticed) {
  EXPECT_FALSE(screen_text("ls " + std::string(300, ' ') + "; touch x").empty());
  EXPECT_FALSE(screen_text("echo " + std::string(5000, 'x')).empty());
  EXPECT_TRUE(screen_text(std::string(300'000, 'x')).front().unparsable);
}

TEST(EscapedView, nothing_raw_reaches_the_person) {
  EXPECT_EQ(escape_text("a\x1b[2K\rb\xe2\x80\xae\xff"), "a\\x1b[2K\\rb\\u202e\\xff");
  EXPECT_EQ(escape_text("a\nb"), "a\\nb");
  EXPECT_EQ(escape_text("a\nb", true), "a\nb");
  EXPECT_EQ(escape_text("\xf3\xa0\x81\xa1"), "\\U000e0061");
}

TEST(EscapedView, what_is_hidden_is_counted) {
  const std::string shown = show_command("echo " + std::string(5000, ' ') + "; touch x", 100);
  EXPECT_NE(shown.find("+4914 characters not shown, 4914 of them blank, 0 line ends"), std::string::npos)
      << shown;
  EXPECT_NE(shown.find("; touch x"), std::string::npos);
}

TEST(Paths, zones_and_meanings) {
  const FakeFiles files(std::map<std::string, std::string>{{"/w/p/link", "/home/me/.ssh"}});
  const Place place{"/w/p", "/w/p", "/home/me", &files};
  const auto look = [&](std::string_view path) { return look_at(path, "/w/p", place); };
  EXPECT_EQ(look("src/a").zone, Zone::Workspace);
  EXPECT_EQ(look("../x").zone, Zone::System);
  EXPECT_EQ(look("/tmp/x").zone, Zone::Temporary);
  EXPECT_EQ(look("/home/me/x").zone, Zone::Home);
  EXPECT_EQ(look("/home/you/x").zone, Zone::OtherHome);
  EXPECT_TRUE(look("link/config").secret);
  EXPECT_TRUE(look(".env").secret);
  EXPECT_FALSE(look(".env.example").secret);
  EXPECT_TRUE(look("/dev/sda1").disk);
  EXPECT_FALSE(look("/dev/null").disk);
  EXPECT_TRUE(look("/dev/null").harmless_device);
  EXPECT_TRUE(look(".git/hooks/pre-commit").control);
  EXPECT_TRUE(look("sub/.claude/settings.json").agent);
  for (const char* path :
       {"/", "/usr", "/home", "/home/me", "/etc", "../..", "/home/me/\x04", "/\x04", "/w/../"})
    EXPECT_TRUE(look(path).vital) << path;
  for (const char* path : {"src", "/tmp/x", "/home/me/x", "/w/p/build", "\x04"})
    EXPECT_FALSE(look(path).vital) << path;
}

TEST(Paths, real_links_are_followed) {
  const RealFiles files;
  EXPECT_EQ(files.canonical("/proc/self/../self/nothing_here"),
            files.canonical("/proc/self") + "/nothing_here");
  EXPECT_EQ(files.canonical("/no/such/thing"), "/no/such/thing");
  EXPECT_EQ(files.canonical("/"), "/");
}

TEST(ForeignLine, other_shells_are_always_asked_about) {
  EXPECT_EQ(check_foreign_line("Get-ChildItem", ShellKind::PowerShell).decision, Decision::Ask);
  EXPECT_EQ(check_foreign_line("dir & del x", ShellKind::Cmd).risk, Risk::High);
  EXPECT_EQ(check_foreign_line("Remove-Item -Recurse -Force C:\\", ShellKind::PowerShell).decision,
            Decision::Deny);
  EXPECT_EQ(check_foreign_line("rd /s /q c:\\", ShellKind::Cmd).decision, Decision::Deny);
  EXPECT_EQ(check_foreign_line("format c:", ShellKind::Cmd).decision, Decision::Deny);
  EXPECT_EQ(split_line("a 'b;c'; d | e", ShellKind::PowerShell).commands,
            (std::vector<std::string>{"a", "d", "e"}));
}

}  // namespace
}  // namespace ttyward::policy
