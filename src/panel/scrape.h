// One answer to a program that reads /metrics: asks the daemon, on a connection that ends with it.
//
// It starts no daemon: counts of one that has just begun would say nothing.
// Thread rule: the loop thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include <tl/expected.hpp>

#include "client/client.h"
#include "io/loop.h"
#include "wire/types/daemon_calls.h"

namespace ttyward::panel {

class Scrape {
 public:
  using Outcome = tl::expected<wire::MetricsText, std::string>;
  // `done` is called once, later.
  Scrape(io::Loop& loop, client::Options daemon, std::function<void(const Outcome& came)> done);
  ~Scrape();
  Scrape(const Scrape&) = delete;
  Scrape& operator=(const Scrape&) = delete;

 private:
  static constexpr std::chrono::seconds kPatience{5};
  void finish(const Outcome& came);

  io::Loop& loop_;
  std::function<void(const Outcome& came)> done_;
  io::Loop::TimerId timer_ = 0;
  std::unique_ptr<client::Client> client_;
};

}  // namespace ttyward::panel
