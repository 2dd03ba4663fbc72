#include "pty/listening_ports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pty/process_tree.h"
#include "pty/spawn.h"
#include "pty/testing.h"

namespace ttyward::pty {
namespace {

TEST(ListeningPorts, of_a_process_and_its_children_only) {
  auto spawned = spawn(
      testing::shell_spec("/usr/bin/python3 -c 'import socket,time\n"
                          "s=socket.socket(); s.bind((\"127.0.0.1\",0)); s.listen()\n"
                          "t=socket.socket(socket.AF_INET6); t.bind((\"::1\",0)); t.listen()\n"
                          "c=socket.create_connection(s.getsockname())\n"
                          "print(\"ready\", s.getsockname()[1], t.getsockname()[1], \"end\", flush=True)\n"
                          "time.sleep(1000)'; true"));
  ASSERT_TRUE(spawned);
  testing::Running server(std::move(*spawned));
  testing::read_until(server->master.get(), "end");
  std::vector<pid_t> pids = {server->child.pid()};
  const auto below = list_descendants(server->child.pid());
  ASSERT_TRUE(below);
  for (const ProcessInfo& process : *below) pids.push_back(process.id.pid);
  const auto ports = listening_ports(pids);
  ASSERT_TRUE(ports);
  ASSERT_EQ(ports->size(), 2U);
  for (const ListeningPort& port : *ports) {
    EXPECT_THAT(port.address, ::testing::AnyOf("127.0.0.1", "::1"));
    EXPECT_EQ(port.pid, below->front().id.pid);
    EXPECT_GT(port.port, 0);
  }
  const pid_t shell_only[] = {server->child.pid()};
  EXPECT_EQ(listening_ports(shell_only), std::vector<ListeningPort>{});
}

TEST(ListeningPorts, a_table_is_read_line_by_line) {
  const auto sockets = parse_tcp_table(
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
      "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0 "
      "100 0 0 10 0\n"
      "   1: 0100007F:1F91 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000        0 4712 1 0 "
      "20 4 30 10 -1\n"
      "   2: garbage\n");
  ASSERT_EQ(sockets.size(), 1U);
  EXPECT_EQ(sockets[0], (ListeningSocket{4711, 8080, "127.0.0.1"}));
}

}  // namespace
}  // namespace ttyward::pty
