#include "shell/platform.h"

#include <gtest/gtest.h>

#include "shell/quoting.h"
#include "shell/shell_kind.h"

namespace ttyward::shell {
namespace {

std::string windows(std::string_view line) {
  return platform_command(line, Platform::Windows);
}

TEST(Platform, files_are_listed_by_dir_on_windows_only) {
  EXPECT_EQ(list_files_command(Platform::Windows), "dir");
  for (const Platform other : {Platform::Linux, Platform::Mac, Platform::Unknown})
    EXPECT_EQ(list_files_command(other), "ls -la");
}

TEST(Platform, lines_stay_as_they_are_elsewhere) {
  for (const Platform other : {Platform::Linux, Platform::Mac, Platform::Unknown})
    EXPECT_EQ(platform_command("cat src/a.txt > /tmp/x", other), "cat src/a.txt > /tmp/x");
}

TEST(Platform, paths_get_backslashes_on_windows) {
  EXPECT_EQ(windows("type src/main.cc"), "type src\\main.cc");
  EXPECT_EQ(windows("cd build/debug"), "cd build\\debug");
  EXPECT_EQ(windows("./gradlew build"), ".\\gradlew build");
  EXPECT_EQ(windows("node_modules/.bin/eslint src/app.ts"), "node_modules\\.bin\\eslint src\\app.ts");
  EXPECT_EQ(windows("python ../tools/run.py ~/notes"), "python ..\\tools\\run.py ~\\notes");
  EXPECT_EQ(windows("copy C:/a/b //server/share/c"), "copy C:\\a\\b \\\\server\\share\\c");
  EXPECT_EQ(windows("\"C:/Program Files/x.exe\" a"), "\"C:\\Program Files\\x.exe\" a");
  EXPECT_EQ(windows("echo hi >logs/out.txt"), "echo hi >logs\\out.txt");
  EXPECT_EQ(windows("cmake --install --prefix=./out"), "cmake --install --prefix=.\\out");
  EXPECT_EQ(windows("a && cd x/y"), "a && cd x\\y");
  EXPECT_EQ(windows("ls src/"), "ls src\\");
}

TEST(Platform, switches_addresses_and_names_stay) {
  for (const char* line :
       {"dir /s /b", "msbuild app.sln /p:Configuration=Release", "curl https://example.org/a/b.txt",
        "git clone git@example.org:user/repository.git", "git checkout origin/main", "git log feature/login",
        "npm install @scope/package", "sed s/one/two/g", "sed 's/a/b/'", "curl -H \"Accept: text/html\" x",
        "docker pull library/ubuntu:22.04", "echo 1/2", "echo \"this and/or that\"", "findstr /c:text",
        "git clone user/repository.git"})
    EXPECT_EQ(windows(line), line);
}

TEST(Platform, kinds_of_shells_of_windows) {
  const auto kind = [](std::string program) { return identify_shell({std::move(program)}).kind; };
  EXPECT_EQ(kind("cmd.exe"), ShellKind::Cmd);
  EXPECT_EQ(kind("C:\\Windows\\System32\\cmd.exe"), ShellKind::Cmd);
  EXPECT_EQ(kind("C:\\Program Files\\Git\\bin\\bash.exe"), ShellKind::GitBash);
  EXPECT_EQ(kind("C:/Program Files/Git/usr/bin/sh.exe"), ShellKind::GitBash);
  EXPECT_EQ(kind("git-bash.exe"), ShellKind::GitBash);
  EXPECT_EQ(kind("C:\\msys64\\usr\\bin\\bash.exe"), ShellKind::Bash);
  EXPECT_EQ(kind("C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe"), ShellKind::Pwsh);
  // A program of that name on this system is not Windows' shell.
  EXPECT_EQ(kind("/usr/local/bin/cmd"), ShellKind::Other);
  EXPECT_EQ(kind("/srv/Git/bash"), ShellKind::Bash);
  EXPECT_EQ(dialect_of(ShellKind::Cmd), Dialect::Cmd);
  EXPECT_EQ(dialect_of(ShellKind::GitBash), Dialect::Posix);
  EXPECT_EQ(attainable_quality(ShellKind::Cmd), Quality::None);
  for (const ShellKind each : {ShellKind::Bash, ShellKind::Zsh, ShellKind::Fish, ShellKind::Pwsh,
                               ShellKind::Cmd, ShellKind::GitBash, ShellKind::Other})
    EXPECT_EQ(shell_kind_named(shell_kind_name(each)), each);
}

}  // namespace
}  // namespace ttyward::shell
