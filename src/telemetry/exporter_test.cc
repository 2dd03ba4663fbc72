// The exporter against a server that answers as it is told. What the daemon does with it is in tests/daemon.
#include "telemetry/exporter.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>

namespace ttyward::telemetry {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::chrono::seconds kPatience{30};

// Takes one request after the other. `answer` is called for each with its path; empty: it says nothing.
class Collector {
 public:
  explicit Collector(std::function<std::string(const std::string& path)> answer)
      : answer_(std::move(answer)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_.get(), 16), 0);
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  ~Collector() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  uint16_t port() const { return port_; }
  // Until so many requests for this path came; how many there are then.
  size_t wait_for_requests(const std::string& path, size_t n) {
    std::unique_lock lock(mutex_);
    came_.wait_for(lock, kPatience, [&] { return bodies_[path].size() >= n; });
    return bodies_[path].size();
  }
  std::vector<std::string> bodies(const std::string& path) {
    const std::lock_guard lock(mutex_);
    return bodies_[path];
  }

 private:
  void run() {
    for (;;) {
      const base::UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!client) return;
      std::string request;
      size_t body = std::string::npos;
      size_t length = 0;
      char buffer[65536];
      while (body == std::string::npos || request.size() < body + length) {
        const ssize_t n = ::read(client.get(), buffer, sizeof buffer);
        if (n <= 0) break;
        request.append(buffer, static_cast<size_t>(n));
        if (body == std::string::npos && (body = request.find("\r\n\r\n")) != std::string::npos) {
          body += 4;
          length = std::stoul(request.substr(request.find("Content-Length: ") + 16));
        }
      }
      const std::string path = request.substr(5, request.find(' ', 5) - 5);
      {
        const std::lock_guard lock(mutex_);
        bodies_[path].push_back(request.substr(std::min(body, request.size())));
        came_.notify_all();
      }
      const std::string text = answer_(path);
      static_cast<void>(!::write(client.get(), text.data(), text.size()));
    }
  }
  const std::function<std::string(const std::string& path)> answer_;
  base::UniqueFd listener_;
  uint16_t port_ = 0;
  std::mutex mutex_;
  std::condition_variable came_;
  std::map<std::string, std::vector<std::string>> bodies_;
  std::thread thread_;
};

std::string ok(const std::string&) {
  return "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
}

CommandSpan span(const std::string& id) {
  CommandSpan out;
  out.command_id = id;
  return out;
}

Exporter::Options to(uint16_t port) {
  Exporter::Options options;
  options.endpoint = {"127.0.0.1", port, ""};
  options.resource = {"1", "h", 1, 1};
  options.interval = milliseconds(5);
  options.first_pause = milliseconds(5);
  options.longest_pause = milliseconds(20);
  return options;
}

uint16_t closed_port() {
  Collector there(ok);
  return there.port();
}

template <class Holds>
void eventually(Holds holds) {
  const auto until = Clock::now() + kPatience;
  while (!holds() && Clock::now() < until) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_TRUE(holds());
}

TEST(Exporter, sends_spans_in_batches_and_the_newest_metrics) {
  Collector collector(ok);
  Exporter::Options options = to(collector.port());
  options.interval = std::chrono::hours(1);
  options.endpoint.path = "/otlp";
  const auto exporter = Exporter::start(options).value();
  for (size_t i = 0; i < Exporter::kBatch; ++i) exporter->add(span("c" + std::to_string(i)));
  EXPECT_EQ(collector.wait_for_requests("/otlp/v1/traces", 1), 1U);  // without waiting for an hour
  exporter->set_metrics(Metrics().families({7, 0, 0, 0}, {}));
  EXPECT_EQ(collector.wait_for_requests("/otlp/v1/metrics", 1), 1U);
  EXPECT_THAT(collector.bodies("/otlp/v1/metrics")[0], HasSubstr(R"("asInt":"7")"));
  eventually([&] { return exporter->counts().sent == Exporter::kBatch; });
  EXPECT_EQ(exporter->counts().dropped, 0U);
}

TEST(Exporter, what_is_left_is_sent_at_the_end) {
  Collector collector(ok);
  Exporter::Options options = to(collector.port());
  options.interval = std::chrono::hours(1);
  {
    const auto exporter = Exporter::start(options).value();
    exporter->add(span("clast"));
  }
  ASSERT_EQ(collector.bodies("/v1/traces").size(), 1U);
  EXPECT_THAT(collector.bodies("/v1/traces")[0], HasSubstr("clast"));
}

TEST(Exporter, a_batch_is_sent_again_until_it_is_taken) {
  std::atomic<int> calls = 0;
  Collector collector([&](const std::string& path) {
    const char* const answers[] = {"HTTP/1.1 500 no\r\n\r\n", "HTTP/1.1 429 wait\r\n\r\n", "",
                                   "nonsense\r\n"};
    const int call = calls++;
    return call < 4 ? answers[call] : ok(path);
  });
  std::mutex mutex;
  std::vector<std::string> said;
  Exporter::Options options = to(collector.port());
  const auto say = [&](const std::string& text) {
    const std::lock_guard lock(mutex);
    said.push_back(text.substr(text.find(" ", 22) + 1));
  };
  options.failed = say;
  options.works_again = say;
  const auto exporter = Exporter::start(options).value();
  exporter->add(span("cfirst"));
  eventually([&] { return exporter->counts().sent == 1; });
  for (const std::string& body : collector.bodies("/v1/traces")) EXPECT_THAT(body, HasSubstr("cfirst"));
  EXPECT_EQ(collector.bodies("/v1/traces").size(), 5U);
  EXPECT_THAT(exporter->problems(), IsEmpty());
  const std::lock_guard lock(mutex);
  EXPECT_THAT(said,
              ElementsAre(HasSubstr("does not take spans: it answered 500"), HasSubstr("takes spans again")));
}

TEST(Exporter, what_is_refused_is_given_up_and_the_rest_goes_on) {
  Collector collector(
      [](const std::string& path) { return path == "/v1/traces" ? "HTTP/1.1 400 no\r\n\r\n" : ok(path); });
  const auto exporter = Exporter::start(to(collector.port())).value();
  exporter->add(span("cbad"));
  eventually([&] { return exporter->counts().dropped == 1; });
  exporter->set_metrics({});
  EXPECT_EQ(collector.wait_for_requests("/v1/metrics", 1), 1U);
  EXPECT_THAT(exporter->problems(), ElementsAre(HasSubstr("does not take spans: it answered 400")));
}

TEST(Exporter, a_full_queue_drops_and_counts) {
  Exporter::Options options = to(closed_port());
  options.most_waiting = 10;
  options.interval = std::chrono::hours(1);
  const auto exporter = Exporter::start(options).value();
  for (int i = 0; i < 100; ++i) exporter->add(span("c" + std::to_string(i)));
  EXPECT_EQ(exporter->counts().dropped, 90U);
}

TEST(Exporter, nobody_there_is_said_once_and_costs_nothing) {
  std::atomic<int> failures = 0;
  Exporter::Options options = to(closed_port());
  options.failed = [&](const std::string&) { failures++; };
  auto exporter = Exporter::start(options).value();
  exporter->add(span("c1"));
  eventually([&] { return !exporter->problems().empty(); });
  EXPECT_THAT(exporter->problems()[0], HasSubstr("Connection refused"));
  exporter->add(span("c2"));
  const auto began = Clock::now();
  exporter->end();
  eventually([&] { return exporter->ended(); });
  EXPECT_LT(Clock::now() - began, options.farewell + kPatience / 2);
  EXPECT_EQ(exporter->counts().dropped, 2U);
  EXPECT_EQ(failures, 1);
}

TEST(Exporter, a_silent_collector_delays_neither_the_caller_nor_the_end) {
  std::mutex mutex;
  std::condition_variable changed;
  bool go = false;
  Collector collector([&](const std::string& path) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, kPatience, [&] { return go; });
    return ok(path);
  });
  Exporter::Options options = to(collector.port());
  options.patience = std::chrono::hours(1);
  options.farewell = milliseconds(50);
  auto exporter = Exporter::start(options).value();
  exporter->add(span("c1"));
  EXPECT_EQ(collector.wait_for_requests("/v1/traces", 1), 1U);
  for (int i = 0; i < 100; ++i) exporter->add(span("c2"));
  exporter.reset();  // returns, although nobody answers
  const std::lock_guard lock(mutex);
  go = true;
  changed.notify_all();
}

}  // namespace
}  // namespace ttyward::telemetry
