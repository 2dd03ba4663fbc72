// Real programs, each brought to a known point by what it prints.
#include "pty/run_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "pty/spawn.h"
#include "pty/testing.h"

namespace ttyward::pty {
namespace {

using testing::eventually;
using ::testing::HasSubstr;
using testing::read_until;
using testing::Running;

constexpr const char* kPython = "/usr/bin/python3";

bool installed(const std::string& program) {
  return ::access(("/usr/bin/" + program).c_str(), X_OK) == 0;
}

SpawnSpec argv_spec(std::vector<std::string> argv) {
  SpawnSpec spec = testing::shell_spec("");
  spec.argv = std::move(argv);
  return spec;
}

class Program {
 public:
  explicit Program(const SpawnSpec& spec) : running_(start(spec)) {}
  explicit Program(const std::string& line) : Program(testing::shell_spec(line)) {}

  // Reads until the program printed this.
  Program& after(const std::string& text) {
    seen_ += read_until(running_->master.get(), text);
    EXPECT_THAT(seen_, HasSubstr(text));
    return *this;
  }
  void type(const std::string& text) { running_.type(text); }
  pid_t pid() { return running_->child.pid(); }
  Child& child() { return running_->child; }

  RunState state() {
    drain();
    RunStateQuery query;
    query.leader = running_->child.pid();
    query.master = running_->master.get();
    query.slave_device = running_->slave_device;
    const bool alternate = seen_.rfind("\x1b[?1049h") != std::string::npos;
    query.alternate_screen = alternate ? AlternateScreen::On : AlternateScreen::Off;
    return run_state(query);
  }

  // The answer once there is one.
  Waiting waiting() {
    std::optional<Waiting> found;
    EXPECT_TRUE(eventually([&] { return (found = state().waiting).has_value(); })) << seen_;
    return found.value_or(Waiting{});
  }

  // The answer once it is this kind: a program may still be setting its terminal up.
  Waiting waiting_as(WaitKind kind) {
    Waiting last;
    EXPECT_TRUE(eventually([&] {
      const auto now = state().waiting;
      if (now) last = *now;
      return now && now->kind == kind;
    })) << "wanted "
        << wait_kind_name(kind) << ", had " << last.evidence << "\n"
        << seen_;
    return last;
  }

  // Looks many times; a single wrong answer is a failure.
  void never_waits() {
    for (int i = 0; i < 60; ++i) {
      const RunState now = state();
      ASSERT_FALSE(now.waiting) << now.waiting->evidence;
      ASSERT_TRUE(now.input_known);
      ::poll(nullptr, 0, 1);
    }
  }

 private:
  static Spawned start(const SpawnSpec& spec) {
    auto spawned = spawn(spec);
    if (!spawned) ADD_FAILURE() << spawned.error().error.message;
    return std::move(*spawned);
  }
  void drain() {
    char buffer[4096];
    ssize_t n = 0;
    while ((n = ::read(running_->master.get(), buffer, sizeof buffer)) > 0)
      seen_.append(buffer, static_cast<size_t>(n));
  }

  Running running_;
  std::string seen_;
};

TEST(RunStateReads, a_line_asked_for_by_python) {
  Program program(argv_spec({kPython, "-c", "input('Name? ')"}));
  const Waiting waiting = program.after("Name? ").waiting();
  EXPECT_EQ(waiting.kind, WaitKind::Line);
  EXPECT_EQ(waiting.mode, WaitMode::Reads);
  EXPECT_EQ(waiting.pid, program.pid());
  EXPECT_THAT(waiting.program, HasSubstr("python3"));
  EXPECT_THAT(waiting.evidence, HasSubstr("is blocked reading the terminal in read(0); line mode, echo on"));
}

TEST(RunStateReads, a_password_asked_for_by_getpass_and_by_read_s) {
  Program getpass(argv_spec({kPython, "-c", "import getpass; getpass.getpass('Secret: ')"}));
  EXPECT_EQ(getpass.after("Secret: ").waiting_as(WaitKind::Password).mode, WaitMode::Reads);
  Program read_s("read -s -p 'Secret: ' x");
  EXPECT_EQ(read_s.after("Secret: ").waiting_as(WaitKind::Password).program, "bash");
}

TEST(RunStateReads, a_passphrase_asked_for_by_ssh_keygen_on_dev_tty) {
  const testing::TemporaryFolder folder;
  Program program(argv_spec({"ssh-keygen", "-t", "ed25519", "-f", folder.path() + "/key"}));
  const Waiting waiting = program.after("passphrase").waiting_as(WaitKind::Password);
  EXPECT_EQ(waiting.program, "ssh-keygen");
  EXPECT_EQ(waiting.mode, WaitMode::Reads);
}

TEST(RunStateReads, a_key_asked_for_by_bash) {
  Program program("echo ready; read -n1 x");
  EXPECT_EQ(program.after("ready").waiting_as(WaitKind::Key).mode, WaitMode::Reads);
  Program silent("echo ready; read -s -n1 x");
  EXPECT_EQ(silent.after("ready").waiting_as(WaitKind::Key).mode, WaitMode::Reads);
}

TEST(RunStateReads, cat_and_the_first_of_a_pipeline) {
  Program cat(argv_spec({"cat"}));
  EXPECT_EQ(cat.waiting().program, "cat");
  Program pipeline("cat | cat");
  const Waiting waiting = pipeline.waiting();
  EXPECT_EQ(waiting.program, "cat");
  EXPECT_NE(waiting.pid, pipeline.pid());
}

TEST(RunStateReads, the_line_read_by_every_shell) {
  for (const char* shell : {"/bin/bash", "/bin/dash", "/bin/zsh", "/bin/busybox"}) {
    if (::access(shell, X_OK) != 0) continue;
    SpawnSpec spec = testing::shell_spec("echo ready; read x; echo got $x", Provider::Pty, shell);
    if (std::string(shell) == "/bin/busybox") spec.argv.insert(spec.argv.begin() + 1, "sh");
    Program program(spec);
    const Waiting waiting = program.after("ready").waiting();
    EXPECT_EQ(waiting.kind, WaitKind::Line) << shell;
    program.type("yes\r");
    program.after("got yes");
  }
}

TEST(RunStateReads, one_thread_among_several_is_enough) {
  Program program(argv_spec({kPython, "-c",
                             "import threading,time,sys\n"
                             "threading.Thread(target=lambda: sys.stdin.readline(), daemon=True).start()\n"
                             "print('ready', flush=True)\n"
                             "while True: time.sleep(0.05)"}));
  const Waiting waiting = program.after("ready").waiting();
  EXPECT_EQ(waiting.kind, WaitKind::Line);
  EXPECT_EQ(waiting.mode, WaitMode::Reads);
}

TEST(RunStateReads, a_program_in_a_terminal_within_the_terminal) {
  if (!installed("script")) GTEST_SKIP() << "script(1) is not installed";
  Program program(
      argv_spec({"script", "-qc", std::string(kPython) + " -c 'input(\"Name? \")'", "/dev/null"}));
  const Waiting waiting = program.after("Name? ").waiting();
  EXPECT_EQ(waiting.kind, WaitKind::Line);
  EXPECT_THAT(waiting.program, HasSubstr("python3"));
}

TEST(RunStateListens, node_asking_a_question) {
  if (!installed("node")) GTEST_SKIP() << "node is not installed";
  Program program(
      argv_spec({"node", "-e",
                 "require('readline').createInterface({input:process.stdin,output:process.stdout})"
                 ".question('Name? ',()=>{})"}));
  const Waiting waiting = program.after("Name? ").waiting();
  EXPECT_EQ(waiting.kind, WaitKind::Line);
  EXPECT_EQ(waiting.mode, WaitMode::Listens);
  EXPECT_THAT(waiting.evidence, HasSubstr("epoll"));
}

TEST(RunStateListens, poll_and_select_without_a_timeout) {
  const char* waits[] = {"select.select([0],[],[])", "p=select.poll();p.register(0,select.POLLIN);p.poll()",
                         "e=select.epoll();e.register(0,select.EPOLLIN);e.poll()"};
  for (const char* wait : waits) {
    Program program(
        argv_spec({kPython, "-c", std::string("import select\nprint('ready',flush=True)\n") + wait}));
    const Waiting waiting = program.after("ready").waiting();
    EXPECT_EQ(waiting.mode, WaitMode::Listens) << wait;
    EXPECT_FALSE(waiting.timeout) << wait;
  }
}

TEST(RunStateListens, the_prompt_of_a_line_editor_is_a_line) {
  Program python(argv_spec({kPython, "-q", "-i", "-c", "print('rea'+'dy')"}));
  EXPECT_THAT(python.after("ready").waiting_as(WaitKind::Line).program, HasSubstr("python3"));
  Program bash(argv_spec({"bash", "--norc", "-i"}));
  EXPECT_EQ(bash.waiting_as(WaitKind::Line).program, "bash");
  if (!installed("zsh")) return;
  Program zsh(argv_spec({"zsh", "-f", "-i"}));
  EXPECT_EQ(zsh.waiting_as(WaitKind::Line).program, "zsh");
}

TEST(RunStateScreen, a_pager) {
  const testing::TemporaryFolder folder;
  Program program("seq 1 1000 | less");
  const Waiting waiting = program.waiting_as(WaitKind::Pager);
  EXPECT_EQ(waiting.program, "less");
  program.type("q");
  EXPECT_TRUE(testing::wait_for_exit(program.child()));
}

TEST(RunStateScreen, an_editor) {
  Program program(argv_spec({"vim", "-u", "NONE", "-i", "NONE", "-n", "/tmp/nothing-is-written"}));
  const Waiting waiting = program.waiting_as(WaitKind::Editor);
  EXPECT_THAT(waiting.program, HasSubstr("vim"));
  program.type("\x1b:q!\r");
  EXPECT_TRUE(testing::wait_for_exit(program.child()));
}

TEST(RunStateScreen, a_program_on_the_alternate_screen) {
  Program program(argv_spec({kPython, "-c",
                             "import sys,tty,select\n"
                             "tty.setraw(0)\n"
                             "sys.stdout.write('\\x1b[?1049h'); sys.stdout.flush()\n"
                             "while True: select.select([0],[],[],0.5)"}));
  const Waiting waiting = program.waiting_as(WaitKind::Fullscreen);
  EXPECT_EQ(waiting.mode, WaitMode::Listens);
  EXPECT_EQ(waiting.timeout, std::chrono::milliseconds(500));
}

TEST(RunStateListens, top_wakes_by_itself_and_takes_keys) {
  if (!installed("top")) GTEST_SKIP() << "top is not installed";
  Program program(argv_spec({"top", "-d", "3"}));
  EXPECT_EQ(program.after("load average").waiting().mode, WaitMode::Listens);
}

TEST(RunStateListens, however_short_the_timeout) {
  for (const char* code :
       {"import select; print('ready',flush=True)\nwhile True: select.select([0],[],[],2)",
        "import tty,sys,termios,os\ntty.setraw(0); a=termios.tcgetattr(0); a[6][termios.VMIN]=0; "
        "a[6][termios.VTIME]=2\n"
        "termios.tcsetattr(0,termios.TCSANOW,a); print('ready',flush=True)\nwhile True: os.read(0,1)"}) {
    SCOPED_TRACE(code);
    Program program(argv_spec({kPython, "-c", code}));
    EXPECT_EQ(program.after("ready").waiting().mode, WaitMode::Listens);
    EXPECT_TRUE(program.state().terminal.has_value());
  }
}

TEST(RunStateSilence, nobody_is_told_of_programs_that_wait_for_others) {
  for (const char* line :
       {"echo ready; sleep 1000", "echo ready; (sleep 1000) | cat", "echo ready; while :; do :; done",
        "echo ready; sleep 1000 & wait", "echo ready; coproc cat; read x <&${COPROC[0]}",
        "echo ready; while sleep 0.01; do :; done"}) {
    SCOPED_TRACE(line);
    Program(line).after("ready").never_waits();
  }
}

TEST(RunStateSilence, sockets) {
  Program(argv_spec({kPython, "-c",
                     "import socket; s=socket.socket(); s.bind(('127.0.0.1',0)); s.listen(); "
                     "print('ready',flush=True); s.accept()"}))
      .after("ready")
      .never_waits();
}

TEST(RunStateSilence, a_background_job_that_only_listens) {
  Program program(
      "set -m; /usr/bin/python3 -c 'import select; print(\"ready\",flush=True); select.select([0],[],[])' & "
      "sleep 1000");
  program.after("ready").never_waits();
}

TEST(RunStateActivity, computing_sleeping_stopped_ended_gone) {
  Program busy("echo ready; while :; do :; done");
  busy.after("ready");
  EXPECT_TRUE(eventually([&] { return busy.state().activity == Activity::Running; }));
  ASSERT_EQ(::kill(busy.pid(), SIGSTOP), 0);
  EXPECT_TRUE(eventually([&] { return busy.state().activity == Activity::Stopped; }));

  Program sleeper("echo ready; exec sleep 1000");
  sleeper.after("ready");
  EXPECT_TRUE(eventually([&] { return sleeper.state().activity == Activity::Sleeping; }));
  ASSERT_TRUE(sleeper.child().signal(SIGKILL));
  ASSERT_TRUE(testing::wait_readable(sleeper.child().pidfd(), testing::Clock::now() + testing::kPatience));
  EXPECT_EQ(sleeper.state().activity, Activity::Zombie);
  ASSERT_TRUE(testing::wait_for_exit(sleeper.child()));
  EXPECT_EQ(sleeper.state().activity, Activity::Finished);
}

TEST(RunStateActivity, a_job_stopped_for_reading_or_setting_the_terminal_from_the_background) {
  Program reads("set -m; cat & echo ready; sleep 1000");
  reads.after("ready");
  std::optional<TerminalStop> stop;
  ASSERT_TRUE(eventually([&] { return (stop = reads.state().stopped_for_terminal).has_value(); }));
  EXPECT_EQ(stop->program, "cat");
  EXPECT_THAT(stop->evidence, HasSubstr("SIGTTIN"));
  EXPECT_FALSE(reads.state().waiting);

  Program sets("set -m; stty -echo & echo ready; sleep 1000");
  sets.after("ready");
  ASSERT_TRUE(eventually([&] { return (stop = sets.state().stopped_for_terminal).has_value(); }));
  EXPECT_EQ(stop->program, "stty");
  EXPECT_THAT(stop->evidence, HasSubstr("SIGTTOU"));
}

TEST(RunStateActivity, a_command_in_pipes_waits_for_nobody) {
  SpawnSpec spec = testing::shell_spec("echo ready; read x", Provider::Pipe);
  spec.stdin_kind = StdinKind::Pipe;
  auto spawned = spawn(spec);
  ASSERT_TRUE(spawned);
  Running running(std::move(*spawned));
  read_until(running->stdout_fd.get(), "ready");
  RunStateQuery query;
  query.leader = running->child.pid();
  EXPECT_TRUE(eventually([&] { return run_state(query).activity == Activity::Sleeping; }));
  EXPECT_FALSE(run_state(query).waiting);
}

// A program with other rights than ours, as sudo is to an ordinary user: here one
// that may not be traced, watched by one without privileges.
TEST(RunStateHidden, a_password_is_seen_by_the_terminal_alone_and_the_rest_is_unknown) {
  if (::getuid() != 0) GTEST_SKIP() << "needs to become another user";
  const pid_t pid = ::fork();
  if (pid == 0) {
    const auto code = [](const char* ask) {
      return std::string("import ctypes,getpass,sys\nctypes.CDLL(None).prctl(4,0)\n") + ask;
    };
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(1);
    Program secret(argv_spec({kPython, "-c", code("getpass.getpass('Secret: ')")}));
    const Waiting waiting = secret.after("Secret: ").waiting();
    if (waiting.kind != WaitKind::Password || waiting.mode != WaitMode::Listens) ::_exit(2);
    Program line(argv_spec({kPython, "-c", code("input('Name? ')")}));
    line.after("Name? ");
    if (line.state().waiting || line.state().input_known) ::_exit(3);
    if (!eventually([&] { return line.state().activity == Activity::Sleeping; })) ::_exit(4);
    // An ordinary process of the same user is open to its ancestor.
    Program open(argv_spec({"cat"}));
    if (open.waiting().mode != WaitMode::Reads) ::_exit(5);
    ::_exit(::testing::Test::HasFailure() ? 6 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace ttyward::pty
