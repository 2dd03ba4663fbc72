// Clients that do not keep to the protocol, do not read, or go away: nobody else notices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <future>
#include <random>

#include "client/connection.h"
#include "daemon/testing.h"
#include "raw_client.h"

namespace ttyward {
namespace {

using daemon::Limits;
using daemon::testing::ScratchFolder;
using daemon::testing::ToyServer;
using ::testing::HasSubstr;
using tests::RawClient;

class Hostile : public ::testing::Test {
 protected:
  std::string folder() const { return scratch_.folders().runtime; }
  client::Connection good() {
    client::Options options;
    options.folders = scratch_.folders();
    options.client = "good";
    options.start_daemon = false;
    options.patience = std::chrono::milliseconds(60'000);
    return std::move(client::Connection::open(options).value());
  }
  // One error line about the connection, and then the end.
  static void expect_rejected(RawClient& client, const std::string& why) {
    const std::string rest = client.rest();
    EXPECT_THAT(rest, HasSubstr("{\"error\":{\"code\":\"")) << why;
    EXPECT_THAT(rest, HasSubstr(why));
    EXPECT_EQ(std::count(rest.begin(), rest.end(), '\n'), 1) << rest;
  }

  ScratchFolder scratch_;
};

TEST_F(Hostile, TheFirstLineMustBeAHello) {
  ToyServer server(folder());
  const std::pair<std::string, std::string> cases[] = {
      {"\n", "not JSON"},
      {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "not JSON"},
      {"{\"id\":1,\"call\":\"echo\"}\n", "must be a hello"},
      {"{\"cancel\":1}\n", "must be a hello"},
      {"[]\n", "JSON object"},
      {std::string("\0\x01\xff\xfe\n", 5), "not JSON"},
      {"{\"hello\":{\"protocol\":1,\"role\":\"king\",\"client\":\"x\"}}\n",
       "agent, person, viewer or dialogue"},
      {"{\"hello\":{\"protocol\":1,\"role\":\"agent\",\"client\":\"" + std::string(300, 'x') + "\"}}\n",
       "256 bytes"},
      {std::string(70'000, 'x'), "must be a hello"},
      {"{\"hello\":{\"protocol\":2,\"role\":\"agent\"}}\n", "\"protocols\":[1]"},
  };
  for (const auto& [bytes, why] : cases) {
    RawClient client(folder());
    client.send(bytes);
    expect_rejected(client, why);
  }
  EXPECT_EQ(server.handler.calls, 0);
  EXPECT_EQ(server.handler.closed, 0) << "who was never welcomed is not said goodbye to";
  EXPECT_TRUE(good().call("echo", {}));
}

TEST_F(Hostile, MalformedLinesAfterTheHello) {
  ToyServer server(folder());
  const std::string deep = "{\"id\":1,\"call\":\"echo\",\"args\":{\"a\":" + std::string(1000, '[') +
                           std::string(1000, ']') + "}}\n";
  const std::pair<std::string, std::string> cases[] = {
      {"nonsense\n", "not JSON"},
      {"{\"id\":1,\"call\":\"echo\",\"args\":{\"a\":\"\xff\"}}\n", "not JSON"},
      {deep, "32 deep"},
      {"{\"hello\":{\"protocol\":1,\"role\":\"person\"}}\n", "one hello"},
      {"{\"id\":1,\"call\":\"never\"}\n{\"id\":1,\"call\":\"echo\"}\n", "still open"},
      {std::string((16 << 20) + 1, 'x'), "16 MiB"},
  };
  for (const auto& [bytes, why] : cases) {
    RawClient client(folder());
    ASSERT_TRUE(client.hello());
    client.send(bytes);
    expect_rejected(client, why);
  }
  EXPECT_TRUE(good().call("echo", {}));
}

TEST_F(Hostile, ACallThatIsWrongInItselfCostsOnlyThatCall) {
  ToyServer server(folder());
  RawClient client(folder());
  ASSERT_TRUE(client.hello());
  client.send("{\"id\":3,\"call\":\"echo\",\"args\":7}\n{\"id\":4,\"call\":\"echo\"}\n");
  EXPECT_THAT(client.line(), HasSubstr("{\"id\":3,\"error\":{\"code\":\"invalid_argument\""));
  EXPECT_EQ(client.line(), "{\"id\":4,\"ok\":{}}");
}

TEST_F(Hostile, NothingAfterARejectedLineIsCarriedOut) {
  ToyServer server(folder());
  RawClient client(folder());
  ASSERT_TRUE(client.hello());
  client.send("{\"id\":1,\"call\":\"echo\"}\nbad\n{\"id\":2,\"call\":\"echo\"}\n");
  EXPECT_EQ(client.line(), "{\"id\":1,\"ok\":{}}");
  expect_rejected(client, "not JSON");
  EXPECT_EQ(server.handler.calls, 1);
}

TEST_F(Hostile, RandomBytes) {
  ToyServer server(folder());
  std::mt19937 random(4711);
  for (int i = 0; i < 200; ++i) {
    RawClient client(folder());
    if (i % 2 == 0) {
      ASSERT_TRUE(client.hello());
    }
    std::string bytes(random() % 5000, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    client.send(bytes + "\n");
    if (i % 3 == 0) client.rest();
  }
  EXPECT_TRUE(good().call("echo", {}));
}

TEST_F(Hostile, WhoSaysNoHelloIsClosed) {
  Limits limits;
  limits.hello_patience = std::chrono::milliseconds(1);
  ToyServer server(folder(), limits);
  RawClient client(folder());
  expect_rejected(client, "hello did not arrive");
}

TEST_F(Hostile, OpenCallsAreBoundedInNumberAndInBytes) {
  Limits limits;
  limits.open_calls = 4;
  limits.open_call_bytes = 4000;
  ToyServer server(folder(), limits);
  RawClient client(folder());
  ASSERT_TRUE(client.hello());
  const std::string padding(1500, 'x');
  client.send("{\"id\":1,\"call\":\"never\",\"args\":{\"text\":\"" + padding + "\"}}\n");
  client.send("{\"id\":2,\"call\":\"never\",\"args\":{\"text\":\"" + padding + "\"}}\n");
  client.send("{\"id\":3,\"call\":\"never\",\"args\":{\"text\":\"" + padding + "\"}}\n");
  EXPECT_THAT(client.line(), AllOf(HasSubstr("\"id\":3"), HasSubstr("exhausted"), HasSubstr("bytes")));
  client.send("{\"id\":4,\"call\":\"never\"}\n{\"id\":5,\"call\":\"never\"}\n{\"id\":6,\"call\":\"echo\"}\n");
  EXPECT_THAT(client.line(), AllOf(HasSubstr("\"id\":6"), HasSubstr("4 calls are open already")));
  // What was taken back or answered counts no more, and a larger bound holds at once.
  client.send("{\"cancel\":1}\n");
  EXPECT_THAT(client.line(), AllOf(HasSubstr("\"id\":1"), HasSubstr("cancelled")));
  server.on_loop([](daemon::Server& each) { each.set_open_calls(8); });
  client.send("{\"id\":7,\"call\":\"never\",\"args\":{\"text\":\"" + padding +
              "\"}}\n{\"id\":8,\"call\":\"echo\"}\n{\"id\":9,\"call\":\"finish\"}\n");
  EXPECT_EQ(client.line(), "{\"id\":8,\"ok\":{}}");
  for (const int id : {2, 4, 5, 7})
    EXPECT_EQ(client.line(), "{\"id\":" + std::to_string(id) + ",\"ok\":{\"late\":true}}");
  EXPECT_EQ(client.line(), "{\"id\":9,\"ok\":{}}");
}

TEST_F(Hostile, OneConnectionTooMany) {
  Limits limits;
  limits.connections = 3;
  ToyServer server(folder(), limits);
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<RawClient>(folder()));
    ASSERT_TRUE(clients.back()->hello());
  }
  RawClient more(folder());
  expect_rejected(more, "exhausted");
  client::Options options;
  options.folders = scratch_.folders();
  options.client = "one more";
  for (int i = 0; i < 20; ++i) {  // whether the hello was sent before the end or not
    auto refused = client::Connection::open(options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, base::ErrorCode::Exhausted);
    EXPECT_THAT(refused.error().message, HasSubstr("connections, which is the limit"));
  }
  auto gone = server.next_closed();
  clients.pop_back();
  gone.get();
  EXPECT_TRUE(RawClient(folder()).hello());
}

TEST_F(Hostile, OneOpenCallTooMany) {
  Limits limits;
  limits.open_calls = 5;
  ToyServer server(folder(), limits);
  auto connection = good();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(connection.start("never", {}));
  auto answer = connection.call("echo", {});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, wire::Code::Exhausted);
  connection.cancel(1);
  ASSERT_TRUE(connection.next(std::chrono::milliseconds(-1)));
  EXPECT_TRUE(connection.call("echo", {}));
}

TEST_F(Hostile, HalfLinesOfManyAreBoundedTogether) {
  Limits limits;
  limits.unparsed_bytes = 1 << 20;
  ToyServer server(folder(), limits);
  RawClient first(folder());
  RawClient second(folder());
  ASSERT_TRUE(first.hello());
  ASSERT_TRUE(second.hello());
  const std::string half(600 << 10, ' ');
  ASSERT_TRUE(first.send(half));
  // Both are read by the same loop, in turns; one of them is over the limit in the end.
  second.send(half);
  pollfd entries[2] = {{first.fd(), POLLIN, 0}, {second.fd(), POLLIN, 0}};
  ASSERT_GT(::poll(entries, 2, 60'000), 0);
  RawClient& rejected = entries[0].revents != 0 ? first : second;
  RawClient& other = entries[0].revents != 0 ? second : first;
  expect_rejected(rejected, "too much");
  other.send("{\"id\":1,\"call\":\"echo\"}\n");
  EXPECT_EQ(other.line(), "{\"id\":1,\"ok\":{}}");
}

TEST_F(Hostile, AFasterCallerThanAllowedIsSlowedDownNotRefused) {
  Limits limits;
  limits.calls_per_second = 200;
  ToyServer server(folder(), limits);
  RawClient client(folder());
  ASSERT_TRUE(client.hello());
  std::string calls;
  for (int i = 1; i <= 300; ++i) calls += "{\"id\":" + std::to_string(i) + ",\"call\":\"echo\"}\n";
  ASSERT_TRUE(client.send(calls));
  for (int i = 1; i <= 300; ++i) {
    ASSERT_EQ(client.line(), "{\"id\":" + std::to_string(i) + ",\"ok\":{}}");
  }
}

TEST_F(Hostile, WhoDoesNotReadIsNotReadFromAndOthersGoOn) {
  Limits limits;
  limits.pause_backlog = 1 << 20;
  ToyServer server(folder(), limits);
  RawClient client(folder());
  ASSERT_TRUE(client.hello());
  // 100 answers of 1 MiB are never made for somebody who reads none of them.
  std::string calls;
  for (int i = 1; i <= 100; ++i) {
    calls += "{\"id\":" + std::to_string(i) + ",\"call\":\"large\",\"args\":{\"bytes\":1000000}}\n";
    calls += std::string(1 << 16, ' ') + "{\"cancel\":999}\n";  // so that calls come in several reads
  }
  std::thread sender([&] { client.send(calls); });
  auto other = good();
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(other.call("echo", {}));
  EXPECT_LT(server.handler.calls, 200 + 10);
  for (int i = 1; i <= 100; ++i) ASSERT_GT(client.line().size(), 1'000'000U);
  sender.join();
}

TEST_F(Hostile, WhoDoesNotReadEventsIsDisconnected) {
  Limits limits;
  limits.largest_backlog = 4 << 20;
  ToyServer server(folder(), limits);
  RawClient client(folder());
  ASSERT_TRUE(client.hello());
  auto gone = server.next_closed();
  client.send("{\"id\":1,\"call\":\"flood\",\"args\":{\"events\":100,\"bytes\":100000}}\n");
  gone.get();
  EXPECT_TRUE(good().call("echo", {}));
}

TEST_F(Hostile, WhoDoesNotReadWhyItWasRejectedIsClosedAllTheSame) {
  Limits limits;
  limits.farewell_patience = std::chrono::milliseconds(1);
  ToyServer server(folder(), limits);
  RawClient client(folder());
  ASSERT_TRUE(client.hello());
  auto gone = server.next_closed();
  client.send("{\"id\":1,\"call\":\"flood\",\"args\":{\"events\":50,\"bytes\":100000}}\nbad\n");
  gone.get();
}

TEST_F(Hostile, AllBacklogsTogetherAreBounded) {
  Limits limits;
  limits.pause_backlog = 1 << 20;
  limits.total_backlog = 12 << 20;
  ToyServer server(folder(), limits);
  RawClient first(folder());
  RawClient second(folder());
  ASSERT_TRUE(first.hello());
  ASSERT_TRUE(second.hello());
  auto gone = server.next_closed();
  const std::string flood = "{\"id\":1,\"call\":\"flood\",\"args\":{\"events\":80,\"bytes\":100000}}\n";
  first.send(flood);
  auto other = good();
  ASSERT_TRUE(other.call("echo", {}));
  second.send(flood);
  EXPECT_EQ(gone.get(), 2U) << "who adds to it goes";
  EXPECT_TRUE(other.call("echo", {})) << "and not who reads";
}

TEST_F(Hostile, BacklogIsToldAndDrainingIsAnEvent) {
  ToyServer server(folder());
  RawClient client(folder());
  ASSERT_TRUE(client.hello());
  client.send("{\"id\":1,\"call\":\"flood\",\"args\":{\"events\":200,\"bytes\":100000}}\n");
  auto other = good();
  ASSERT_TRUE(other.call("echo", {}));  // the flood was made before this
  std::promise<void> drained;
  const bool paused = server.on_loop([&](daemon::Server& s) {
    s.on_drained(1, [&] { drained.set_value(); });
    return s.must_pause(1);
  });
  EXPECT_TRUE(paused);
  std::string line;
  do {
    line = client.line();
  } while (line.find("\"id\":1") == std::string::npos);
  drained.get_future().get();
  EXPECT_EQ(server.on_loop([](daemon::Server& s) { return s.backlog(1); }), 0U);
  std::promise<void> at_once;
  server.on_loop([&](daemon::Server& s) { s.on_drained(1, [&] { at_once.set_value(); }); });
  at_once.get_future().get();
}

TEST_F(Hostile, AClientKilledInTheMiddleOfACall) {
  ToyServer server(folder());
  auto gone = server.next_closed();
  RawClient client(folder());
  ASSERT_TRUE(client.hello());
  client.send("{\"id\":1,\"call\":\"never\"}\n{\"id\":2,\"call\":\"echo\"}\n");
  EXPECT_EQ(client.line(), "{\"id\":2,\"ok\":{}}");
  client.close();  // what a kill does
  EXPECT_EQ(gone.get(), 1U);
  EXPECT_EQ(server.handler.cancelled, 1);
  auto other = good();
  EXPECT_TRUE(other.call("finish", {}));  // answers the dead client's call: nothing happens
  EXPECT_EQ(server.on_loop([](daemon::Server& s) { return s.open_calls(); }), 0U);
}

TEST_F(Hostile, WhoConnectedThroughAProcessThatIsGoneIsAnAgent) {
  ToyServer server(folder());
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const base::UniqueFd ours(ends[0]);
  const base::UniqueFd theirs(ends[1]);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {  // connects, hands the connection over, and dies
    RawClient client(folder());
    char byte = 'x';
    iovec data{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    const int fd = client.fd();
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
    ::_exit(::sendmsg(theirs.get(), &message, 0) == 1 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ASSERT_EQ(::recvmsg(ours.get(), &message, MSG_CMSG_CLOEXEC), 1);
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
  client::Options options;
  options.client = "heir";
  options.patience = std::chrono::milliseconds(60'000);
  auto connection = client::Connection::greet(base::UniqueFd(fd), options);
  ASSERT_TRUE(connection);
  EXPECT_EQ(connection->welcome().role, "agent");
}

TEST_F(Hostile, TheSocketIsForItsOwnerOnly) {
  ToyServer server(folder());
  struct stat st{};
  ASSERT_EQ(::stat((folder() + "/daemon.sock").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600U);
  ASSERT_EQ(::stat(folder().c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0700U);
}

TEST_F(Hostile, FoldersThatAreNotPrivateAreRefusedByBothSides) {
  const std::string real = scratch_.path() + "/real";
  std::filesystem::create_directory(real);
  std::filesystem::permissions(real, std::filesystem::perms::owner_all);
  std::filesystem::create_directory_symlink(real, folder());
  auto listener = daemon::bind_listener(folder(), "daemon.sock");
  ASSERT_FALSE(listener);
  EXPECT_THAT(listener.error().message, HasSubstr("symbolic link"));

  std::filesystem::remove(folder());
  std::filesystem::create_directory(folder());
  std::filesystem::permissions(folder(), std::filesystem::perms::all);
  listener = daemon::bind_listener(folder(), "daemon.sock");
  ASSERT_FALSE(listener);
  EXPECT_THAT(listener.error().message, HasSubstr("chmod go="));
  client::Options options;
  options.folders = scratch_.folders();
  options.client = "test";
  auto opened = client::Connection::open(options);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("chmod go="));
  EXPECT_FALSE(client::probe(scratch_.folders()).reachable);
}

TEST_F(Hostile, AFolderOfAnotherUserIsRefused) {
  std::filesystem::create_directory(folder());
  std::filesystem::permissions(folder(), std::filesystem::perms::owner_all);
  if (::chown(folder().c_str(), 65534, 65534) != 0) GTEST_SKIP() << "only root can give a folder away";
  auto listener = daemon::bind_listener(folder(), "daemon.sock");
  ASSERT_FALSE(listener);
  EXPECT_EQ(listener.error().code, base::ErrorCode::PermissionDenied);
  EXPECT_THAT(client::probe(scratch_.folders()).why_not, HasSubstr("another user"));
}

TEST_F(Hostile, APeerOfAnotherUserIsDroppedAtOnce) {
  ToyServer server(folder());
  // Somebody who got hold of the path all the same: the modes are opened for the test.
  for (const std::string& path : {scratch_.path(), folder(), folder() + "/daemon.sock"}) {
    std::filesystem::permissions(path, std::filesystem::perms::all);
  }
  const std::string path = folder() + "/daemon.sock";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (::setresuid(65534, 65534, 65534) != 0) ::_exit(77);
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) ::_exit(2);
    char byte = 0;
    ::_exit(::recv(fd, &byte, 1, 0) <= 0 ? 0 : 3);  // not a word
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "only root can become another user";
  EXPECT_EQ(status, 0);
  EXPECT_EQ(server.on_loop([](daemon::Server& s) { return s.connections(); }), 0U);
}

TEST_F(Hostile, APathOfAnyLength) {
  std::string deep = scratch_.path();
  while (deep.size() < 300) deep += "/a-folder-with-a-name";
  const base::Folders folders{scratch_.path() + "/state", deep, scratch_.path()};
  ToyServer server(deep);
  EXPECT_TRUE(client::probe(folders, std::chrono::milliseconds(60'000)).reachable);
}

TEST_F(Hostile, WhatIsNoSocketIsNotReplaced) {
  std::filesystem::create_directory(folder());
  std::filesystem::permissions(folder(), std::filesystem::perms::owner_all);
  std::filesystem::create_symlink("/etc/passwd", folder() + "/daemon.sock");
  EXPECT_FALSE(daemon::bind_listener(folder(), "daemon.sock"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder() + "/daemon.sock"));
}

}  // namespace
}  // namespace ttyward
