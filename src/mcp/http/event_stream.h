// Server-sent events of one request in a legacy session, numbered, and kept so that a client whose connection
// broke can come back for the rest.
//
// Thread rule: the loop thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "http/exchange.h"
#include "mcp/json.h"
#include "rpc/outlet.h"

namespace ttyward::mcp {

using rpc::Last;
using rpc::Outlet;

class EventStream final : public Outlet {
 public:
  enum class Begin { AtOnce, WithFirstMessage };

  // `number` is unique in the session. With Begin::WithFirstMessage an answer that comes alone is plain JSON.
  EventStream(uint64_t number, http::Headers headers, bool primed)
      : number_(number), headers_(std::move(headers)), primed_(primed) {}

  ~EventStream() override { end(); }

  void attach(const std::shared_ptr<http::Exchange>& exchange, Begin begin);
  // Sends again what came after event `after`, then goes on live.
  void resume(const std::shared_ptr<http::Exchange>& exchange, uint64_t after);

  void send(const json::object& message, Last last) override { send_text(json::serialize(message), last); }
  void send_batch(const json::array& answers) override { send_text(json::serialize(answers), Last::Yes); }
  void close() override;
  void pause() override { end(); }
  bool finished() const { return finished_; }
  bool attached() const { return exchange_ != nullptr && exchange_->open(); }
  size_t kept_bytes() const { return kept_bytes_; }

 private:
  static constexpr size_t kMaxKept = 1u << 20;  // older events cannot be had again

  void begin();
  void send_text(std::string data, Last last);
  void write(uint64_t event, const std::string& data);
  void end();

  const uint64_t number_;
  const http::Headers headers_;
  const bool primed_;
  std::shared_ptr<http::Exchange> exchange_;
  struct Event {
    uint64_t number;
    std::string data;
  };
  std::deque<Event> kept_;
  size_t kept_bytes_ = 0;
  uint64_t last_event_ = 0;
  bool finished_ = false;
};

// "3.17": event 17 of stream 3.
struct EventId {
  uint64_t stream = 0;
  uint64_t event = 0;
};
bool parse_event_id(std::string_view text, EventId& id);

}  // namespace ttyward::mcp
