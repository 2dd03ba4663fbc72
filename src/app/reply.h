// The open end of one call: what a service answers, now or later.
//
// A Reply<T> is a handle; copies mean the same call. It is answered once, with a T or an error, and may say
// parts before. It may outlive the client: then it does nothing. Where the answer goes is
// the Channel's business (the daemon's is a socket). Thread rule: the loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "wire/types/call_error.h"
#include "wire/types/parts.h"

namespace ttyward::app {

// One open call, whatever kind of answer it gets.
class Channel {
 public:
  virtual ~Channel() = default;
  // Nobody has answered yet, and somebody still waits.
  virtual bool open() const = 0;
  virtual void fail(const wire::CallError& error) = 0;
  virtual void part(const wire::StreamPart& part) = 0;
  // Called once, if the client disconnects or cancels the call. The last one that was set counts.
  virtual void on_cancel(std::function<void()> callback) = 0;
};

template <class T>
class AnswerChannel : public Channel {
 public:
  virtual void ok(const T& answer) = 0;
};

// What every Reply can do.
class ReplyBase {
 public:
  bool open() const { return channel_->open(); }
  void fail(const wire::CallError& error) const { channel_->fail(error); }
  void fail(wire::Code code, std::string message) const { channel_->fail({code, std::move(message)}); }
  void fail(const base::Error& error) const { channel_->fail(wire::call_error(error)); }
  void part(const wire::StreamPart& part) const { channel_->part(part); }
  void on_cancel(std::function<void()> callback) const { channel_->on_cancel(std::move(callback)); }

 protected:
  explicit ReplyBase(std::shared_ptr<Channel> channel) : channel_(std::move(channel)) {}

 private:
  std::shared_ptr<Channel> channel_;
};

template <class T>
class Reply : public ReplyBase {
 public:
  explicit Reply(std::shared_ptr<AnswerChannel<T>> channel)
      : ReplyBase(channel), answers_(std::move(channel)) {}

  void ok(const T& answer) const { answers_->ok(answer); }
  // Whichever it is.
  void give(const base::Result<T>& came) const { came ? ok(*came) : fail(came.error()); }

 private:
  std::shared_ptr<AnswerChannel<T>> answers_;
};

inline tl::unexpected<wire::CallError> refuse(wire::Code code, std::string message) {
  return tl::unexpected(wire::CallError{code, std::move(message)});
}

}  // namespace ttyward::app
