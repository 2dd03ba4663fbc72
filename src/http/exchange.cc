#include "http/exchange.h"

namespace ttyward::http {

void Exchange::respond(int status, const Headers& headers, std::string_view body) {
  if (!open() || streaming_) return;
  answered_ = true;
  std::exchange(channel_, nullptr)->respond(status, headers, body);
}

void Exchange::begin_events(const Headers& headers) {
  if (!open() || streaming_) return;
  streaming_ = true;
  channel_->begin_events(headers);
}

void Exchange::write_events(std::string_view text) {
  if (open() && streaming_ && !text.empty()) channel_->write_events(text);
}

void Exchange::end_events() {
  if (!open() || !streaming_) return;
  answered_ = true;
  std::exchange(channel_, nullptr)->end_events();
}

std::shared_ptr<WebSocket> Exchange::accept_web_socket(const Headers& headers) {
  if (!open() || streaming_) return nullptr;
  if (!request.is_upgrade) {
    respond(426, {{"Upgrade", "websocket"}}, "this path serves WebSockets only\n");
    return nullptr;
  }
  answered_ = true;
  return std::exchange(channel_, nullptr)->accept(headers);
}

void Exchange::lose_channel() {
  channel_ = nullptr;
  const auto hook = std::exchange(on_gone, nullptr);
  if (!answered_ && hook) hook();
}

}  // namespace ttyward::http
