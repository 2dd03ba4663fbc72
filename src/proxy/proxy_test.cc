#include "proxy/proxy.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <thread>

#include "base/ids.h"
#include "base/testing.h"
#include "proxy/environment.h"
#include "proxy/proxy_thread.h"

namespace ttyward::proxy {
namespace {

using namespace std::chrono_literals;
using base::UniqueFd;

// Answers from a table, on the loop; counts how often each name was asked for.
class TableResolver final : public Resolver {
 public:
  explicit TableResolver(io::Loop& loop) : loop_(loop) {}
  std::map<std::string, std::vector<std::string>> names;
  std::map<std::string, int> asked;
  bool silent = false;

  void resolve(const std::string& name, Done done) override {
    asked[name]++;
    if (silent) return;
    std::vector<Address> found;
    for (const std::string& text : names[name]) found.push_back(*parse_address(text));
    loop_.post([done = std::move(done), found, name] {
      if (found.empty()) return done(base::fail(base::ErrorCode::NotFound, "no such name: " + name));
      done(found);
    });
  }

 private:
  io::Loop& loop_;
};

// A server on a port of this machine that handles one connection after the other on a thread.
class TestServer {
 public:
  explicit TestServer(std::function<void(int fd)> handle) : handle_(std::move(handle)) {
    listener_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_.get(), 64), 0);
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] {
      for (;;) {
        const UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!client) return;
        accepted++;
        handle_(client.get());
      }
    });
  }
  ~TestServer() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  std::string port() const { return std::to_string(port_); }
  std::atomic<int> accepted{0};

 private:
  std::function<void(int fd)> handle_;
  UniqueFd listener_;
  uint16_t port_ = 0;
  std::thread thread_;
};

void send_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    text.remove_prefix(static_cast<size_t>(sent));
  }
}

std::string read_to_end(int fd) {
  std::string all;
  char bytes[4096];
  for (ssize_t count = 0; (count = ::recv(fd, bytes, sizeof bytes, 0)) > 0;)
    all.append(bytes, static_cast<size_t>(count));
  return all;
}

std::string read_until(int fd, std::string_view end) {
  std::string all;
  char byte = 0;
  while (!all.ends_with(end) && ::recv(fd, &byte, 1, 0) == 1) all += byte;
  return all;
}

std::string read_count(int fd, size_t count) {
  std::string all(count, '\0');
  const ssize_t got = ::recv(fd, all.data(), count, MSG_WAITALL);
  all.resize(got < 0 ? 0 : static_cast<size_t>(got));
  return all;
}

void echo(int fd) {
  char bytes[4096];
  for (ssize_t count = 0; (count = ::recv(fd, bytes, sizeof bytes, 0)) > 0;)
    send_all(fd, {bytes, static_cast<size_t>(count)});
}

class ProxyTest : public ::testing::Test {
 protected:
  ProxyTest() : folder_("/tmp/ttyward-proxy-" + base::random_nonce()) {
    ::mkdir(folder_.c_str(), 0700);
    auto made = io::Loop::create();
    loop_ = std::move(*made);
    resolver_ = std::make_unique<TableResolver>(*loop_);
  }
  ~ProxyTest() override {
    proxy_.reset();
    base::testing::remove_tree(folder_);
  }
  void allow(const std::vector<std::string>& rules, const Limits& limits = {}) {
    proxy_.reset();
    auto list = AllowList::parse(rules);
    ASSERT_TRUE(list) << list.error().message;
    auto made = Proxy::listen(*loop_, *resolver_, folder_ + "/p.sock", std::move(*list), limits);
    ASSERT_TRUE(made) << made.error().message;
    proxy_ = std::move(*made);
  }
  UniqueFd dial() const {
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (folder_ + "/p.sock").copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return fd;
  }
  // Runs the client on a thread of its own and the proxy here until the client is done.
  void with_client(const std::function<void()>& client) {
    std::atomic<bool> done = false;
    std::thread thread([&] {
      client();
      done = true;
      loop_->post([] {});
    });
    while (!done) loop_->turn(100ms);
    thread.join();
  }
  // Says something, closes its side, and returns all that came.
  std::string talk(const std::string& text) {
    std::string answer;
    with_client([&] {
      const UniqueFd fd = dial();
      send_all(fd.get(), text);
      ::shutdown(fd.get(), SHUT_WR);
      answer = read_to_end(fd.get());
    });
    return answer;
  }
  std::string status(const std::string& text) { return talk(text).substr(0, 12); }
  static std::string socks_name(const std::string& name, uint16_t port) {
    return std::string("\x05\x01\x00\x05\x01\x00\x03", 7) + static_cast<char>(name.size()) + name +
           static_cast<char>(port >> 8) + static_cast<char>(port & 255);
  }

  const std::string folder_;
  std::unique_ptr<io::Loop> loop_;
  std::unique_ptr<TableResolver> resolver_;
  std::unique_ptr<Proxy> proxy_;
};

TEST_F(ProxyTest, ATunnelPassesBytesBothWays) {
  TestServer server(echo);
  resolver_->names["here.example"] = {"127.0.0.1"};
  allow({"here.example:" + server.port(), "127.0.0.1:" + server.port()});
  std::string hello;
  std::string back;
  with_client([&] {
    const UniqueFd fd = dial();
    send_all(fd.get(), "CONNECT Here.Example.:" + server.port() + " HTTP/1.1\r\nHost: x\r\n\r\nearly ");
    hello = read_until(fd.get(), "\r\n\r\n");
    send_all(fd.get(), "late");
    ::shutdown(fd.get(), SHUT_WR);
    back = read_to_end(fd.get());
  });
  EXPECT_EQ(hello, "HTTP/1.1 200 Connection established\r\n\r\n");
  EXPECT_EQ(back, "early late");
  EXPECT_TRUE(proxy_->refused().empty());
  EXPECT_EQ(resolver_->asked["here.example"], 1);
  while (proxy_->connections() > 0) loop_->turn(100ms);
}

TEST_F(ProxyTest, SocksPassesBytesBothWays) {
  TestServer server(echo);
  resolver_->names["here.example"] = {"127.0.0.1"};
  allow({"here.example:*", "127.0.0.1:*"});
  std::string back;
  with_client([&] {
    const UniqueFd fd = dial();
    send_all(fd.get(), socks_name("here.example", static_cast<uint16_t>(std::stoi(server.port()))) + "hello");
    ::shutdown(fd.get(), SHUT_WR);
    back = read_to_end(fd.get());
  });
  EXPECT_EQ(back, std::string("\x05\x00\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00", 12) + "hello");
}

TEST_F(ProxyTest, AnAbsoluteRequestBecomesAnOrdinaryOne) {
  std::string seen;
  TestServer server([&](int fd) {
    seen = read_until(fd, "\r\n\r\n");
    seen += read_count(fd, 4);
    send_all(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
  });
  resolver_->names["here.example"] = {"127.0.0.1"};
  allow({"here.example:*", "127.0.0.1:*"});
  const std::string answer = talk("POST http://here.example:" + server.port() +
                                  "/a?b=c HTTP/1.1\r\nHost: other.example\r\nProxy-Authorization: secret\r\n"
                                  "Connection: keep-alive, X-Mine\r\nX-Mine: 1\r\nAccept: */*\r\n"
                                  "Content-Length: 4\r\n\r\nbody");
  EXPECT_TRUE(answer.ends_with("ok")) << answer;
  EXPECT_EQ(seen, "POST /a?b=c HTTP/1.1\r\nHost: here.example:" + server.port() +
                      "\r\nAccept: */*\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody");
}

TEST_F(ProxyTest, RefusedHostsAreNamed) {
  allow({"good.example"});
  const std::string answer = talk("CONNECT bad.example:443 HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 403 ")) << answer;
  EXPECT_NE(answer.find("bad.example:443"), std::string::npos);
  EXPECT_EQ(status("GET http://bad.example/x HTTP/1.1\r\n\r\n"), "HTTP/1.1 403");
  EXPECT_EQ(talk(socks_name("bad.example", 443)).substr(2, 2), std::string("\x05\x02", 2));
  EXPECT_EQ(status("CONNECT good.example:22 HTTP/1.1\r\n\r\n"), "HTTP/1.1 403");
  const std::vector<RefusedHost> expected = {{"bad.example", 443, "the host is not allowed", 2},
                                             {"bad.example", 80, "the host is not allowed", 1},
                                             {"good.example", 22, "port 22 is not allowed for this host", 1}};
  EXPECT_EQ(proxy_->refused(), expected);
  EXPECT_TRUE(resolver_->asked.empty());  // not even looked up
}

// The SOCKS5 name with a NUL that once passed a check for its end.
TEST_F(ProxyTest, NamesThatAreNoNamesAreRefused) {
  resolver_->names["good.example"] = {"127.0.0.1"};
  allow({"good.example", "*.good.example"});
  EXPECT_EQ(talk(socks_name(std::string("evil.example\0.good.example", 26), 443)).substr(2, 2),
            std::string("\x05\x02", 2));
  for (const char* name :
       {"evil.example%00.good.example", "evil.example/.good.example", "evil example.good.example",
        "evil.example#.good.example", ".good.example", "a..good.example", "good.example@evil.example"})
    EXPECT_NE(talk(socks_name(name, 443)).substr(2, 2), std::string("\x05\x00", 2)) << name;
  ASSERT_FALSE(proxy_->refused().empty());
  EXPECT_EQ(proxy_->refused()[0].host, "evil.example?.good.example");
  EXPECT_TRUE(resolver_->asked.empty());
}

TEST_F(ProxyTest, ANameThatLeadsToThisMachineIsRefused) {
  TestServer server(echo);
  resolver_->names["rebound.example"] = {"127.0.0.1"};
  resolver_->names["metadata.example"] = {"169.254.169.254"};
  resolver_->names["mapped.example"] = {"::ffff:10.0.0.1"};
  resolver_->names["mixed.example"] = {"10.0.0.1", "192.168.1.1"};
  allow({"*.example:*"});
  for (const char* name : {"rebound.example", "metadata.example", "mapped.example", "mixed.example"})
    EXPECT_EQ(status("CONNECT " + std::string(name) + ":" + server.port() + " HTTP/1.1\r\n\r\n"),
              "HTTP/1.1 403")
        << name;
  EXPECT_EQ(server.accepted, 0);
  EXPECT_EQ(proxy_->refused()[0].why, "it leads to 127.0.0.1, a loopback address");
  // Nor by any spelling of the address.
  for (const char* host :
       {"127.0.0.1", "127.1", "0x7f000001", "2130706433", "0177.0.0.1", "[::1]", "[::ffff:127.0.0.1]",
        "localhost", "LOCALHOST.", "\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.0.0.1", "0", "0.0.0.0"})
    EXPECT_EQ(status("CONNECT " + std::string(host) + ":" + server.port() + " HTTP/1.1\r\n\r\n"),
              "HTTP/1.1 403")
        << host;
  EXPECT_EQ(server.accepted, 0);
}

TEST_F(ProxyTest, LocalhostIsReachedOnlyWhereARuleSaysSo) {
  TestServer server(echo);
  resolver_->names["localhost"] = {"::1", "127.0.0.1"};
  allow({"localhost:" + server.port()});
  EXPECT_EQ(status("CONNECT localhost:" + server.port() + " HTTP/1.1\r\n\r\n"), "HTTP/1.1 200");
  EXPECT_EQ(status("CONNECT localhost:1 HTTP/1.1\r\n\r\n"), "HTTP/1.1 403");
}

TEST_F(ProxyTest, SaysWhatCannotBeReached) {
  allow({"nowhere.example", "127.0.0.1:1"});
  EXPECT_EQ(status("CONNECT nowhere.example:443 HTTP/1.1\r\n\r\n"), "HTTP/1.1 502");
  EXPECT_EQ(status("CONNECT 127.0.0.1:1 HTTP/1.1\r\n\r\n"), "HTTP/1.1 502");
  EXPECT_TRUE(proxy_->refused().empty());
}

TEST_F(ProxyTest, MalformedRequestsEnd) {
  allow({"*"});
  for (const char* text :
       {"GET / HTTP/1.1\r\n\r\n", "GET  http://a/ HTTP/1.1\r\n\r\n", "CONNECT a HTTP/1.1\r\n\r\n",
        "CONNECT a:0 HTTP/1.1\r\n\r\n", "CONNECT a:65536 HTTP/1.1\r\n\r\n",
        "CONNECT a:443 HTTP/1.1\nHost: b\n\n", "GET http://u:p@a/ HTTP/1.1\r\n\r\n",
        "GET http://a/ HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET http://a/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "GET http://a/ HTTP/1.1\r\nHost : a\r\n\r\n", "GET http://a/ HTTP/1.1\r\nA: b\r\n c\r\n\r\n",
        "GET https://a/ HTTP/1.1\r\n\r\n", "\x04\x01\x01\xbb\x01\x02\x03\x04\x01"})
    EXPECT_EQ(status(text), "HTTP/1.1 400") << text;
  EXPECT_EQ(status("GET http://a/ HTTP/2.0\r\n\r\n"), "HTTP/1.1 505");
  EXPECT_EQ(status("GET http://a/ HTTP/1.1\r\nA: " + std::string(20'000, 'a')), "HTTP/1.1 431");
  EXPECT_EQ(talk(std::string("\x05\x01\x02", 3)), "\x05\xff");
  EXPECT_EQ(talk(std::string("\x05\x01\x00\x05\x03\x00\x01\x01\x01\x01\x01\x00\x50", 13)).substr(2, 2),
            std::string("\x05\x07", 2));
  EXPECT_TRUE(resolver_->asked.empty());
}

TEST_F(ProxyTest, SlowAndSilentClientsAreDropped) {
  Limits limits;
  limits.handshake_time = 50ms;
  limits.connect_time = 50ms;
  limits.idle_time = 50ms;
  TestServer server(echo);
  resolver_->names["here.example"] = {"127.0.0.1"};
  allow({"here.example:*", "slow.example", "127.0.0.1:*"}, limits);
  std::string silent = "?";
  std::string idle = "?";
  with_client([&] {
    const UniqueFd fd = dial();
    send_all(fd.get(), "CONNECT ");
    silent = read_to_end(fd.get());
    const UniqueFd other = dial();
    send_all(other.get(), "CONNECT here.example:" + server.port() + " HTTP/1.1\r\n\r\n");
    idle = read_to_end(other.get());
  });
  EXPECT_EQ(silent, "");
  EXPECT_EQ(idle, "HTTP/1.1 200 Connection established\r\n\r\n");
  resolver_->silent = true;
  EXPECT_EQ(status("CONNECT slow.example:443 HTTP/1.1\r\n\r\n"), "HTTP/1.1 504");
  while (proxy_->connections() > 0) loop_->turn(100ms);
}

// A server that sends without end to a client that does not read: what is kept is bounded, and others go on.
TEST_F(ProxyTest, AFloodIsHeldBack) {
  std::atomic<size_t> sent = 0;
  std::atomic<bool> stop = false;
  TestServer flood([&](int fd) {
    const std::string block(64 << 10, 'x');
    timeval patience{0, 50'000};
    ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    while (!stop) {
      const ssize_t count = ::send(fd, block.data(), block.size(), MSG_NOSIGNAL);
      if (count > 0) sent += static_cast<size_t>(count);
      if (count < 0 && errno != EAGAIN) return;
    }
  });
  TestServer server(echo);
  resolver_->names["here.example"] = {"127.0.0.1"};
  allow({"here.example:*", "127.0.0.1:*"});
  std::string back;
  with_client([&] {
    const UniqueFd lazy = dial();
    send_all(lazy.get(), "CONNECT here.example:" + flood.port() + " HTTP/1.1\r\n\r\n");
    size_t before = 1;
    while (before != sent) {  // until nothing moves any more
      before = sent;
      std::this_thread::sleep_for(100ms);
    }
    const UniqueFd fd = dial();
    send_all(fd.get(), "CONNECT here.example:" + server.port() + " HTTP/1.1\r\n\r\nhi");
    ::shutdown(fd.get(), SHUT_WR);
    back = read_to_end(fd.get());
    stop = true;
  });
  EXPECT_TRUE(back.ends_with("hi"));
  EXPECT_LT(sent, size_t{32} << 20);  // what the kernel's own buffers take
}

TEST_F(ProxyTest, MoreConnectionsThanAllowedWait) {
  Limits limits;
  limits.connections = 2;
  allow({"good.example"}, limits);
  with_client([&] {
    UniqueFd first = dial();
    UniqueFd second = dial();
    const UniqueFd third = dial();
    send_all(third.get(), "CONNECT bad.example:443 HTTP/1.1\r\n\r\n");
    first.reset();
    EXPECT_TRUE(read_until(third.get(), "\r\n").starts_with("HTTP/1.1 403"));
  });
}

TEST_F(ProxyTest, ALargeTransferArrivesWhole) {
  TestServer server(echo);
  resolver_->names["here.example"] = {"127.0.0.1"};
  allow({"here.example:*", "127.0.0.1:*"});
  std::string data(8 << 20, '\0');
  for (size_t i = 0; i < data.size(); i++) data[i] = static_cast<char>(i * 31 + i / 255);
  std::string back;
  with_client([&] {
    const UniqueFd fd = dial();
    send_all(fd.get(), "CONNECT here.example:" + server.port() + " HTTP/1.1\r\n\r\n");
    read_until(fd.get(), "\r\n\r\n");
    std::thread writer([&] {
      send_all(fd.get(), data);
      ::shutdown(fd.get(), SHUT_WR);
    });
    back = read_to_end(fd.get());
    writer.join();
  });
  EXPECT_TRUE(back == data);
}

TEST_F(ProxyTest, TheSocketIsOursAndGoesWithTheProxy) {
  allow({"good.example"});
  struct stat info{};
  ASSERT_EQ(::stat((folder_ + "/p.sock").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  proxy_.reset();
  EXPECT_NE(::stat((folder_ + "/p.sock").c_str(), &info), 0);
}

TEST_F(ProxyTest, TheSystemsResolverAnswersOnTheLoop) {
  SystemResolver resolver(*loop_);
  std::optional<base::Result<std::vector<Address>>> found;
  resolver.resolve("localhost",
                   [&](base::Result<std::vector<Address>> addresses) { found = std::move(addresses); });
  while (!found) loop_->turn(100ms);
  ASSERT_TRUE(*found) << found->error().message;
  EXPECT_EQ((*found)->front().reach(), Reach::Loopback);
}

TEST_F(ProxyTest, RunsOnAThreadOfItsOwn) {
  auto started = ProxyThread::start(folder_ + "/p.sock", *AllowList::parse({"good.example"}));
  ASSERT_TRUE(started) << started.error().message;
  const UniqueFd fd = dial();
  send_all(fd.get(), "CONNECT bad.example:443 HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(read_until(fd.get(), "\r\n").starts_with("HTTP/1.1 403"));
  ASSERT_EQ((*started)->stop().size(), 1U);
  EXPECT_EQ((*started)->stop()[0].text(), "network bad.example:443 (the host is not allowed)");
}

TEST(ProxyEnvironment, HasBothCases) {
  const auto variables = proxy_environment(3128);
  for (const char* each : {"http_proxy=http://127.0.0.1:3128", "HTTPS_PROXY=http://127.0.0.1:3128",
                           "NO_PROXY=localhost,127.0.0.1,::1", "npm_config_proxy=http://127.0.0.1:3128"})
    EXPECT_NE(std::find(variables.begin(), variables.end(), each), variables.end()) << each;
}

}  // namespace
}  // namespace ttyward::proxy
