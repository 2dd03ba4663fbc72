#include "panel/scrape.h"

#include <utility>

namespace ttyward::panel {
namespace {

client::Options for_reading(client::Options daemon) {
  daemon.role = "viewer";
  daemon.client += " metrics";
  daemon.reader = daemon.client;
  daemon.start_daemon = false;
  return daemon;
}

}  // namespace

Scrape::Scrape(io::Loop& loop, client::Options daemon, std::function<void(const Outcome& came)> done)
    : loop_(loop),
      done_(std::move(done)),
      client_(std::make_unique<client::Client>(loop, for_reading(std::move(daemon)),
                                               client::Client::Presence::AtNeed)) {
  timer_ = loop_.after(kPatience, [this] {
    timer_ = 0;
    finish(tl::unexpected(std::string("the daemon does not answer")));
  });
  using Answer = client::AnswerOf<wire::MetricsRequest>;
  client_->call(wire::MetricsRequest{}, {}, [this](const Answer& answer) {
    if (answer) return finish(*answer);
    finish(tl::unexpected(answer.error().message));
  });
}

Scrape::~Scrape() {
  done_ = nullptr;
  loop_.cancel(timer_);
}

void Scrape::finish(const Outcome& came) {
  loop_.cancel(timer_);
  if (const auto done = std::exchange(done_, nullptr)) done(came);
}

}  // namespace ttyward::panel
