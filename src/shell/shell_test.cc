// The parts that decide without a shell: kinds, plans, delivery, cmd's quoting.
#include <gtest/gtest.h>

#include "shell/command_line.h"
#include "shell/launch.h"
#include "shell/quoting.h"

namespace ttyward::shell {
namespace {

TEST(ShellKind, from_argv) {
  const auto kind = [](std::vector<std::string> argv) { return identify_shell(argv).kind; };
  EXPECT_EQ(kind({"/usr/local/bin/bash-5.2"}), ShellKind::Bash);
  EXPECT_EQ(kind({"-zsh"}), ShellKind::Zsh);
  EXPECT_EQ(kind({"fish"}), ShellKind::Fish);
  EXPECT_EQ(kind({"C:/PowerShell/pwsh.exe"}), ShellKind::Pwsh);
  EXPECT_EQ(kind({"/bin/busybox", "ash"}), ShellKind::BusyboxAsh);
  EXPECT_EQ(kind({"/bin/busybox", "ls"}), ShellKind::Other);
  EXPECT_EQ(kind({"ksh93"}), ShellKind::Ksh);
  EXPECT_EQ(kind({"python3"}), ShellKind::Other);
  EXPECT_EQ(kind({}), ShellKind::Other);
  EXPECT_EQ(identify_shell({"sh"}, "/usr/bin/dash").kind, ShellKind::Dash);
  EXPECT_EQ(identify_shell({"sh"}, "/usr/bin/bash").kind, ShellKind::PosixSh);
}

TEST(ShellKind, login_and_options) {
  EXPECT_TRUE(identify_shell({"-bash"}).login);
  EXPECT_TRUE(identify_shell({"bash", "-l"}).login);
  EXPECT_TRUE(identify_shell({"fish", "--login"}).login);
  EXPECT_FALSE(identify_shell({"bash", "-i"}).login);
  EXPECT_TRUE(identify_shell({"bash", "-c", "ls"}).runs_command);
  EXPECT_TRUE(identify_shell({"bash", "script.sh"}).runs_command);
}

TEST(Launch, a_shell_that_runs_a_command_is_left_alone) {
  ShellSpec spec;
  spec.argv = {"bash", "-c", "ls"};
  spec.private_folder = "/run/x";
  spec.nonce = "n";
  const LaunchPlan plan = prepare(spec);
  EXPECT_EQ(plan.argv, spec.argv);
  EXPECT_EQ(plan.expected, Quality::None);
  EXPECT_TRUE(plan.files.empty());
}

TEST(Launch, files_are_private_filled_in_and_go_away) {
  for (const char* shell : {"bash", "zsh", "fish", "pwsh", "dash", "ash", "mksh", "ksh"}) {
    ShellSpec spec;
    spec.argv = {shell};
    spec.private_folder = "/run/it's here";
    spec.nonce = "c0ffee";
    const LaunchPlan plan = prepare(spec);
    ASSERT_EQ(plan.files.size(), 1u) << shell;
    EXPECT_EQ(plan.files[0].mode, 0600u);
    EXPECT_EQ(plan.remove_when_ready, std::vector<std::string>{plan.files[0].path});
    for (const char* name :
         {"@NONCE@", "@DIR@", "@LOGIN@", "@HISTORY@", "@ENVIRONMENT@", "@ESC@", "@BEL@", "@HIDE@", "@SHOW@",
          "@HAS_ENV@", "@USER_ENV@", "@NATIVE_RC@", "@PROMPT_LEAD@", "@HAS_ZDOTDIR@", "@USER_ZDOTDIR@"})
      EXPECT_EQ(plan.files[0].content.find(name), std::string::npos) << shell << name;
    for (const auto& [name, value] : plan.environment)
      EXPECT_EQ(value.find("c0ffee"), std::string::npos) << name;
    for (const std::string& argument : plan.argv) EXPECT_EQ(argument.find("c0ffee"), std::string::npos);
  }
}

DeliveryContext context(ShellKind kind, bool paste = true) {
  DeliveryContext made;
  made.kind = kind;
  made.bracketed_paste = paste;
  made.file_name = "c1";
  return made;
}

TEST(Delivery, short_text_is_pasted_behind_a_blank) {
  const auto delivery = deliver("ls -l\npwd", context(ShellKind::Bash));
  ASSERT_TRUE(delivery.has_value());
  EXPECT_EQ(delivery->bytes, " \x1b[200~ls -l\npwd\x1b[201~\r");
  EXPECT_FALSE(delivery->file_content.has_value());
}

TEST(Delivery, what_an_editor_would_change_goes_by_file) {
  const std::string big(5000, 'x');
  for (const std::string& text :
       {std::string("echo hi!"), big, std::string("# remark"), std::string("a\xff")}) {
    const auto delivery = deliver(text, context(ShellKind::Bash));
    ASSERT_TRUE(delivery.has_value());
    EXPECT_EQ(delivery->bytes, " eval \"$({ __ttyward_take c1; } 2>/dev/null)\"\r");
    EXPECT_EQ(delivery->file_content, text);
  }
  EXPECT_TRUE(deliver("ls", context(ShellKind::Bash, false))->file_content.has_value());
  EXPECT_TRUE(deliver("ls", context(ShellKind::Dash))->file_content.has_value());
  EXPECT_FALSE(deliver("ls", context(ShellKind::Other)).has_value());
}

TEST(Delivery, control_characters_are_refused_with_their_place) {
  for (const std::string& text :
       {std::string("a\0b", 3), std::string("ls\x1b[201~rm"), std::string("a\rb"), std::string("\x03"),
        std::string("x\x7f"), std::string(), std::string(" \n")})
    EXPECT_FALSE(deliver(text, context(ShellKind::Bash)).has_value());
  EXPECT_EQ(check_command_text("ok\nls \x1b[201~").error().message,
            "the command contains the control character 0x1b at line 2, byte 4; write it as \\033 in printf "
            "or $'…'");
}

TEST(Quoting, cmd_and_powershell) {
  EXPECT_EQ(*quote_cmd("a b"), "^\"a b^\"");
  EXPECT_EQ(*quote_cmd("say \"hi\" & %PATH%"), "^\"say \\^\"hi\\^\" ^& ^%PATH^%^\"");
  EXPECT_EQ(*quote_cmd("dir\\"), "^\"dir\\\\^\"");
  EXPECT_EQ(*quote_cmd("a\\\"b"), "^\"a\\\\\\^\"b^\"");
  EXPECT_FALSE(quote_cmd("a\nb").has_value());
  EXPECT_EQ(quote_powershell("it's $x"), "'it''s $x'");
  EXPECT_EQ(quote_powershell("\xE2\x80\x99"), "'\xE2\x80\x99\xE2\x80\x99'");
  EXPECT_FALSE(quote(std::string_view("a\0b", 3), Dialect::Posix).has_value());
  EXPECT_EQ(*quote_command({"echo", "a b", ""}, Dialect::Posix), "echo 'a b' ''");
  EXPECT_EQ(*quote_command({"my prog", "x"}, Dialect::PowerShell), "& 'my prog' 'x'");
}

}  // namespace
}  // namespace ttyward::shell
