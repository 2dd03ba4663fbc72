#include "daemon/person.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

namespace ttyward::daemon {
namespace {

using ::testing::HasSubstr;

constexpr dev_t kTerminal = 34816;

struct One {
  const char* comm;
  bool terminal;
};

// Innermost first; the last is process 1.
Lineage made_of(const std::vector<One>& list) {
  Lineage made;
  made.whole = true;
  for (size_t i = 0; i < list.size(); i++) {
    pty::ProcessStat stat;
    stat.pid = static_cast<pid_t>(list.size() - i);
    stat.parent = stat.pid - 1;
    stat.comm = list[i].comm;
    stat.terminal = list[i].terminal ? kTerminal : 0;
    made.chain.push_back(stat);
  }
  return made;
}

std::string doubt(const std::vector<One>& list, bool holds_persons = false) {
  return doubt_about(made_of(list), [=](pid_t) { return holds_persons; });
}

TEST(Person, SomebodyAtATerminalIsOne) {
  EXPECT_EQ(doubt({{"ttyward", true}, {"bash", true}, {"xterm", false}, {"systemd", false}}), "");
  EXPECT_EQ(doubt({{"ttyward", true}, {"bash", true}, {"tmux: server", false}, {"systemd", false}}), "");
  EXPECT_EQ(doubt({{"ttyward", true}, {"bash", true}, {"login", true}, {"systemd", false}}), "");
  EXPECT_EQ(doubt({{"ttyward", true}, {"bash", true}}), "") << "a container's console";
  EXPECT_EQ(
      doubt({{"ttyward", true}, {"python3", true}, {"bash", true}, {"xterm", false}, {"systemd", false}}), "")
      << "a script that the person runs at the terminal";
  EXPECT_EQ(doubt({{"ttyward", true},
                   {"bash", true},
                   {"script", true},
                   {"bash", true},
                   {"xterm", false},
                   {"systemd", false}}),
            "")
      << "a recording that the person makes";
}

TEST(Person, NobodySitsThere) {
  EXPECT_THAT(doubt({{"ttyward", false}, {"bash", false}, {"systemd", false}}), HasSubstr("no controlling"));
  EXPECT_THAT(doubt({{"ttyward", true}, {"sh", true}, {"systemd", false}, {"systemd", false}}),
              HasSubstr("made by systemd"));
  EXPECT_THAT(doubt({{"ttyward", true}, {"sh", true}, {"script", false}, {"systemd", false}}),
              HasSubstr("made by script"));
  EXPECT_THAT(doubt({{"ttyward", true}, {"sh", true}, {"python3.11", false}, {"systemd", false}}),
              HasSubstr("made by python3.11"));
  EXPECT_THAT(
      doubt({{"ttyward", true}, {"script", true}, {"sh", false}, {"cron", false}, {"systemd", false}}),
      HasSubstr("below cron"));
}

TEST(Person, RelaysAreNot) {
  EXPECT_THAT(doubt({{"socat", true}, {"bash", true}, {"xterm", false}, {"systemd", false}}),
              HasSubstr("relays input"));
  EXPECT_THAT(doubt({{"sshd", false}, {"sshd", false}, {"systemd", false}}), HasSubstr("no controlling"));
  EXPECT_THAT(doubt({{"ttyward", true}, {"bash", true}, {"sshd-session", false}, {"systemd", false}}),
              HasSubstr("below sshd-session"));
}

TEST(Person, TerminalsOfOurs) {
  const std::vector<One> list = {
      {"ttyward", true}, {"bash", true}, {"ttyward-hold", false}, {"systemd", false}};
  EXPECT_EQ(doubt(list, true), "");
  EXPECT_THAT(doubt(list, false), HasSubstr("another ttyward"));
}

TEST(Person, WhatCannotBeSeenIsInDoubt) {
  Lineage cut = made_of({{"ttyward", true}, {"bash", true}});
  cut.whole = false;
  EXPECT_THAT(doubt_about(cut, [](pid_t) { return true; }), HasSubstr("ancestors"));
  EXPECT_THAT(doubt_about({}, [](pid_t) { return true; }), HasSubstr("ancestors"));
}

TEST(Person, OurOwnLineageIsRead) {
  const Lineage own = lineage_of(::getpid());
  ASSERT_FALSE(own.chain.empty());
  EXPECT_EQ(own.chain.front().pid, ::getpid());
  ASSERT_EQ(own.chain.front().parent, ::getppid());
  EXPECT_TRUE(lineage_of(0x3fffffff).chain.empty());
}

}  // namespace
}  // namespace ttyward::daemon
