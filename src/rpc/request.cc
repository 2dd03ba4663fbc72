#include "rpc/request.h"

#include <utility>

#include "rpc/message.h"

namespace ttyward::rpc {

void Request::finish(json::object response) {
  if (done_) return;
  done_ = true;
  cancel_hooks_.clear();
  if (!cancelled_) carrier.finish(std::move(response));
}

void Request::reply(json::value result) {
  finish(result_response(id, std::move(result)));
}

void Request::fail(int code, std::string_view message, json::object data) {
  finish(error_response(id, error_object(code, message, std::move(data))));
}

Callback<Answer> Request::ask(std::string ask_method, json::object ask_params) {
  const RequestPtr self = shared_from_this();
  return Callback<Answer>([self, ask_method = std::move(ask_method), ask_params = std::move(ask_params)](
                              const OnAnswer& done) { self->ask(ask_method, ask_params, done); });
}

Withdraw Request::ask(std::string ask_method, json::object ask_params, const OnAnswer& done) {
  if (cancelled_ || done_ || !carrier.ask) {
    done(Answer::failed("the client cannot be asked"));
    return [] {};
  }
  const auto over = std::make_shared<bool>(false);
  const auto once = [done, over](Answer answer) {
    if (!std::exchange(*over, true)) done(std::move(answer));
  };
  const Withdraw at_carrier = carrier.ask(std::move(ask_method), std::move(ask_params), once);
  const Withdraw withdraw = [over, at_carrier] {
    if (!std::exchange(*over, true)) at_carrier();
  };
  on_cancel([done, over, withdraw] {
    if (*over) return;
    withdraw();
    done(Answer::failed("cancelled"));
  });
  return withdraw;
}

Callback<bool> Request::sleep(std::chrono::milliseconds delay) {
  const RequestPtr self = shared_from_this();
  return Callback<bool>([self, delay](const std::function<void(bool)>& done) {
    if (self->cancelled_) return done(false);
    auto timer = std::make_shared<io::Loop::TimerId>(0);
    *timer = self->loop->after(delay, [done, timer] {
      *timer = 0;
      done(true);
    });
    self->on_cancel([self, done, timer] {
      self->loop->cancel(*timer);
      done(false);
    });
  });
}

void Request::cancel() {
  if (cancelled_ || done_) return;
  cancelled_ = true;
  const RequestPtr self = shared_from_this();  // a hook may end the last coroutine that holds us
  const auto hooks = std::exchange(cancel_hooks_, {});
  for (const auto& hook : hooks) hook();
  if (carrier.dropped) carrier.dropped();
}

void Request::on_cancel(std::function<void()> hook) {
  if (cancelled_) return hook();
  if (!done_) cancel_hooks_.push_back(std::move(hook));
}

}  // namespace ttyward::rpc
