// One request and the answer to it: a whole one, a stream of server-sent events, or a WebSocket.
//
// An exchange outlives its connection; then what is written goes nowhere.
//
// Thread rule: the loop thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "http/request.h"
#include "http/web_socket.h"

namespace ttyward::http {

class Exchange {
 public:
  // How answers travel; a connection is one.
  class Channel {
   public:
    virtual void respond(int status, const Headers& headers, std::string_view body) = 0;
    virtual void begin_events(const Headers& headers) = 0;
    virtual void write_events(std::string_view text) = 0;
    virtual void end_events() = 0;
    virtual std::shared_ptr<WebSocket> accept(const Headers& headers) = 0;

   protected:
    ~Channel() = default;
  };

  Exchange(Request asked, Channel& channel) : request(std::move(asked)), channel_(&channel) {}

  const Request request;
  std::function<void()> on_gone;  // the client went away before the answer was complete

  void respond(int status, const Headers& headers, std::string_view body);
  // Server-sent events; comments keep a silent stream alive.
  void begin_events(const Headers& headers);
  void write_events(std::string_view text);
  void end_events();
  // Makes the connection a WebSocket. Null, and answered with an error, if the client did not ask for one.
  std::shared_ptr<WebSocket> accept_web_socket(const Headers& headers);
  bool streaming() const { return streaming_; }
  bool open() const { return channel_ != nullptr && !answered_; }

  // For the connection: it is gone.
  void lose_channel();

 private:
  Channel* channel_;
  bool answered_ = false;
  bool streaming_ = false;
};

}  // namespace ttyward::http
