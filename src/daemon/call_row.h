// One row of a table of calls: decodes the arguments, calls a method of a service, encodes the answer.
//
//   const std::vector<CallRow> rows = {call_row(commands, &Commands::run), …};
//
// The method's request type names the call, the role it needs and the type of its answer (wire/types).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include "app/reply.h"
#include "daemon/call_handler.h"
#include "daemon/responder.h"
#include "wire/decoder.h"
#include "wire/encoder.h"

namespace ttyward::daemon {

struct CallRow {
  std::string_view name;
  Role role = Role::Person;  // Viewer: anybody; Agent: agents and persons
  std::function<void(const Caller&, const boost::json::object& args, const Responder&)> call;
};

// False: none of the rows has this name. A caller whose role does not suffice is answered so.
bool call_one_of(const std::vector<CallRow>& rows, const Caller& caller, const std::string& name,
                 const boost::json::object& args, const Responder& responder);

std::string stream_part_text(const wire::StreamPart& part);

// Writes an answer to the socket.
template <class T>
class SocketChannel final : public app::AnswerChannel<T> {
 public:
  explicit SocketChannel(Responder responder) : responder_(std::move(responder)) {}
  bool open() const override { return responder_.open(); }
  void ok(const T& answer) override {
    if (responder_.open()) responder_.ok_text(wire::json_text(answer));
  }
  void fail(const wire::CallError& error) override { responder_.fail(error); }
  void part(const wire::StreamPart& part) override { responder_.part_text(stream_part_text(part)); }
  void on_cancel(std::function<void()> callback) override { responder_.on_cancel(std::move(callback)); }

 private:
  Responder responder_;
};

namespace internal {

// Whatever a method returns, as an answer.
template <class T>
void give(const app::Reply<T>& reply, const T& answer) {
  reply.ok(answer);
}
template <class T, class E>
void give(const app::Reply<T>& reply, const tl::expected<T, E>& came) {
  came ? reply.ok(*came) : reply.fail(came.error());
}

template <class Request, class Invoke>
CallRow make_row(Invoke invoke) {
  using Answer = typename Request::Answer;
  return {Request::kCall, Request::kRole,
          [invoke](const Caller& caller, const boost::json::object& args, const Responder& responder) {
            auto request = wire::decode<Request>(args);
            if (!request) return responder.fail({wire::Code::InvalidArgument, std::move(request.error())});
            invoke(caller, *request, app::Reply<Answer>(std::make_shared<SocketChannel<Answer>>(responder)));
          }};
}

}  // namespace internal

// A method that answers later.
template <class Service, class Request>
CallRow call_row(Service& service, void (Service::*method)(const Caller&, const Request&,
                                                           const app::Reply<typename Request::Answer>&)) {
  return internal::make_row<Request>(
      [&service, method](const Caller& caller, const Request& request, const auto& reply) {
        (service.*method)(caller, request, reply);
      });
}

// A method that answers at once, with a value or an error.
template <class Service, class Request, class Returned>
CallRow call_row(Service& service, Returned (Service::*method)(const Caller&, const Request&)) {
  return internal::make_row<Request>(
      [&service, method](const Caller& caller, const Request& request, const auto& reply) {
        internal::give(reply, (service.*method)(caller, request));
      });
}
template <class Service, class Request, class Returned>
CallRow call_row(Service& service, Returned (Service::*method)(const Caller&, const Request&) const) {
  return internal::make_row<Request>(
      [&service, method](const Caller& caller, const Request& request, const auto& reply) {
        internal::give(reply, (service.*method)(caller, request));
      });
}

}  // namespace ttyward::daemon
