#include "mcp/http/event_stream.h"

#include <fmt/core.h>

#include <charconv>
#include <utility>

namespace ttyward::mcp {

bool parse_event_id(std::string_view text, EventId& id) {
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos) return false;
  const char* const begin = text.data();
  const char* const middle = begin + dot;
  const char* const end = begin + text.size();
  const auto stream = std::from_chars(begin, middle, id.stream);
  const auto event = std::from_chars(middle + 1, end, id.event);
  return stream.ec == std::errc() && stream.ptr == middle && event.ec == std::errc() && event.ptr == end;
}

void EventStream::attach(const std::shared_ptr<http::Exchange>& exchange, Begin when) {
  end();
  exchange_ = exchange;
  exchange_->on_gone = [this] { exchange_ = nullptr; };
  if (when == Begin::AtOnce) begin();
}

void EventStream::begin() {
  exchange_->begin_events(headers_);
  // An event without data gives the client an id to come back with before anything has happened.
  if (primed_ && attached())
    exchange_->write_events(fmt::format("id: {}.{}\nretry: 1000\ndata: \n\n", number_, last_event_));
}

void EventStream::resume(const std::shared_ptr<http::Exchange>& exchange, uint64_t after) {
  attach(exchange, Begin::AtOnce);
  for (const Event& event : kept_) {
    if (event.number > after) write(event.number, event.data);
  }
  if (finished_) end();
}

void EventStream::send_text(std::string data, Last last) {
  if (finished_) return;
  finished_ = last == Last::Yes;
  if (finished_ && attached() && !exchange_->streaming()) {
    http::Headers headers = headers_;
    headers.emplace_back("Content-Type", "application/json");
    const auto exchange = std::exchange(exchange_, nullptr);
    exchange->on_gone = nullptr;
    return exchange->respond(200, std::move(headers), data);
  }
  const uint64_t event = ++last_event_;
  if (attached()) {
    if (!exchange_->streaming()) begin();
    write(event, data);
  }
  kept_bytes_ += data.size();
  kept_.push_back({event, std::move(data)});
  while (kept_bytes_ > kMaxKept && kept_.size() > 1) {
    kept_bytes_ -= kept_.front().data.size();
    kept_.pop_front();
  }
  if (finished_) end();
}

void EventStream::write(uint64_t event, const std::string& data) {
  if (attached())
    exchange_->write_events(fmt::format("event: message\nid: {}.{}\ndata: {}\n\n", number_, event, data));
}

void EventStream::close() {
  finished_ = true;
  if (attached() && !exchange_->streaming()) {
    const auto exchange = std::exchange(exchange_, nullptr);
    exchange->on_gone = nullptr;
    return exchange->respond(202, {}, "");
  }
  end();
}

void EventStream::end() {
  const auto exchange = std::exchange(exchange_, nullptr);
  if (!exchange) return;
  exchange->on_gone = nullptr;
  exchange->end_events();
}

}  // namespace ttyward::mcp
