// Programs of every day work in a sandbox: as root, and as an ordinary user.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pty/confined_testing.h"

namespace ttyward::pty {
namespace {

using testing::HasSubstr;
using testing::Not;

class SandboxedTools : public Sandboxed {
 protected:
  static bool is_installed(const std::string& program) { return fs::exists("/usr/bin/" + program); }
  // Without anything of the caller's.
  Ran works(const std::string& line) const {
    Ran ran = run("workspace", line);
    EXPECT_EQ(ran.code, 0) << line << "\n" << ran.output << ran.error;
    return ran;
  }
};
INSTANTIATE_TEST_SUITE_P(As, SandboxedTools, testing::Values(As::Caller, As::Ordinary), name_of);

TEST_P(SandboxedTools, Git) {
  make_repository();
  ASSERT_EQ(std::system(
                ("cd " + root_ +
                 "/work && git -c 'safe.directory=*' branch -m main && "
                 "git -c 'safe.directory=*' update-ref refs/remotes/origin/main main && "
                 "git -c 'safe.directory=*' config remote.origin.url /nowhere && "
                 "git -c 'safe.directory=*' config remote.origin.fetch '+refs/heads/*:refs/remotes/origin/*'")
                    .c_str()),
            0);
  own();
  const Ran branch = works("git checkout -b topic origin/main");
  EXPECT_THAT(branch.error, Not(HasSubstr("config")));
  works(
      "set -e; echo a > a; git add a; git commit -qm a; echo b > a; git stash -q; git stash pop -q; "
      "git commit -qam b; git checkout -q -b other HEAD~1; echo c > c; git add c; git commit -qm c; "
      "git rebase -q topic; git merge -q main; git tag v1; git worktree add -q tree; "
      "git -C tree log --oneline >/dev/null; git worktree remove tree; git gc -q; git diff HEAD~1 "
      ">/dev/null; "
      "git reset -q --hard HEAD~1; git fsck >/dev/null; echo n > new; git stash -qu; git stash pop -q; "
      "mkdir -p x/y; git clean -qfd; test ! -e new; test ! -e x; git status --porcelain");
  const Ran remote = run("workspace", "git remote add more ../x");
  EXPECT_NE(remote.code, 0);
  EXPECT_THAT(content("work/.git/config"), Not(HasSubstr("more")));
}

TEST_P(SandboxedTools, ADebuggerOnItsOwnChild) {
  if (!is_installed("gdb")) GTEST_SKIP() << "gdb is not installed";
  write("work/a.c", "int main(void){return 0;}\n");
  own();
  const Ran ran =
      works("gcc -g -o a a.c && gdb -q -batch -ex 'break main' -ex run -ex 'print 6*7' -ex kill ./a");
  EXPECT_THAT(ran.output, HasSubstr("Breakpoint 1, main"));
  EXPECT_THAT(ran.output, HasSubstr("$1 = 42"));
}

TEST_P(SandboxedTools, NodeAndNpmWithoutNetwork) {
  if (!is_installed("npm")) GTEST_SKIP() << "npm is not installed";
  EXPECT_EQ(
      works("node -e 'require(\"http\").createServer((q,r)=>r.end(\"ok\")).listen(0,\"127.0.0.1\",function(){"
            "require(\"http\").get({port:this.address().port},r=>{r.pipe(process.stdout);"
            "r.on(\"end\",()=>process.exit())})})'")
          .output,
      "ok");
  works(
      "set -e; mkdir package app; echo '{\"name\":\"one\",\"version\":\"1.0.0\"}' > package/package.json; "
      "(cd package && npm pack --silent >/dev/null); echo '{\"name\":\"two\",\"version\":\"1.0.0\"}' > "
      "app/package.json; "
      "cd app; npm install --offline --no-audit --no-fund --silent ../package/one-1.0.0.tgz; test -d "
      "node_modules/one");
}

TEST_P(SandboxedTools, Python) {
  if (!is_installed("python3")) GTEST_SKIP() << "python3 is not installed";
  works("python3 -m venv --without-pip v && v/bin/python -c 'import ssl, sqlite3, ctypes'");
  EXPECT_EQ(works("python3 -c 'import multiprocessing as m\n"
                  "with m.Pool(2) as p: print(p.map(abs, [-1, -2]))\n"
                  "d = m.Manager().dict(); d[1] = 2; print(dict(d))\n"
                  "q = m.Queue(); q.put(3); print(q.get())'")
                .output,
            "[1, 2]\n{1: 2}\n3\n");
  works(
      "python3 -c 'import tempfile, fcntl, socket, subprocess, threading, mmap; f = "
      "tempfile.TemporaryFile(); "
      "f.write(b\"x\"); s = socket.socket(); s.bind((\"127.0.0.1\", 0)); s.listen(); "
      "socket.create_connection(s.getsockname()); u = socket.socket(socket.AF_UNIX); u.bind(\"here.sock\"); "
      "subprocess.run([\"true\"], check=True, start_new_session=True)'");
}

TEST_P(SandboxedTools, Compilers) {
  write("work/a.c", "#include <stdlib.h>\nint main(void){free(malloc(9));return 0;}\n");
  write("work/Makefile", "all: a b c d\na b c d: a.c\n\tgcc -O1 -o $@ a.c\n");
  own();
  works("make -sj4 && ./a && ./d && make -sj4");
}

// It reserves terabytes of address space, which a limit of each process's data forbids.
TEST_P(SandboxedTools, AddressSanitizerWhereAGroupLimitsMemory) {
  if (GetParam() != As::Caller || !sandbox::make_plan(request("workspace")).value().groups.memory)
    GTEST_SKIP() << "no cgroup here";
  write("work/a.c", "#include <stdlib.h>\nint main(void){free(malloc(9));return 0;}\n");
  if (std::system(("cd " + root_ + "/work && gcc -fsanitize=address -o a a.c 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << "the compiler has no AddressSanitizer";
  works("./a");
}

TEST_P(SandboxedTools, EditorsOnATerminal) {
  if (!is_installed("vim")) GTEST_SKIP() << "vim is not installed";
  if (!is_installed("script")) GTEST_SKIP() << "script is not installed";
  EXPECT_EQ(
      works("script -qec \"vim -u NONE -c 'normal iHello' -c wq text\" /dev/null >/dev/null && cat text")
          .output,
      "Hello\n");
}

TEST_P(SandboxedTools, Archives) {
  works(
      "set -e; mkdir -p d/e; echo x > d/e/f; chmod 600 d/e/f; ln -s e/f d/l; ln d/e/f d/h; cp -a d copy; "
      "tar cpf t.tar d; mkdir out; tar xpf t.tar -C out; test \"$(stat -c %a out/d/e/f)\" = 600; "
      "test \"$(readlink copy/l)\" = e/f; mkfifo pipe; (echo y > pipe &); test \"$(cat pipe)\" = y; "
      "sort -o sorted d/e/f; truncate -s 1M big; dd if=/dev/zero of=z bs=4k count=4 2>/dev/null; rm -rf d "
      "out");
}

}  // namespace
}  // namespace ttyward::pty
