// What clients send: lines, greetings, calls, cancels.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <variant>

#include "daemon/peer.h"
#include "daemon/server.h"

namespace ttyward::daemon {

using wire::Code;

namespace {

// Of one connection in one turn: who floods has to queue behind the others.
constexpr size_t kReadBytes = 64 * 1024;
constexpr size_t kLongestName = 256;  // of a client, reader or session

std::string shown(const Caller& who) {
  return "connection " + std::to_string(who.connection) + ": pid " + std::to_string(who.pid) + " '" +
         who.client + "' is " + std::string(role_name(who.role)) +
         (who.why.empty() ? "" : ", since " + who.why);
}

}  // namespace

void Server::receive(Connection& from) {
  std::array<char, kReadBytes> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const ssize_t got = ::recv(from.fd.get(), buffer.data(), buffer.size(), 0);
  if (got == 0) return mark_for_removal(from, "closed by the client");
  if (got < 0) {
    if (errno != EAGAIN && errno != EINTR) mark_for_removal(from, "went away");
    return;
  }
  from.in.push({buffer.data(), static_cast<size_t>(got)});
  handle_lines(from);
}

void Server::handle_lines(Connection& from) {
  while (!from.is_marked && !from.is_ending && !from.throttled) {
    const auto line = from.in.next();
    if (!line) break;
    handle(from, *line);
  }
  if (from.is_marked || from.is_ending) return;
  if (from.in.too_long()) {
    return reject(from, {Code::InvalidArgument,
                         from.greeted ? "a line may have at most 16 MiB" : "the first line must be a hello"});
  }
  unparsed_ = unparsed_ - from.counted + from.in.held();
  from.counted = from.in.held();
  if (unparsed_ > limits_.unparsed_bytes) {
    return reject(from, {Code::Exhausted, "too much data is being sent at once; try again later"});
  }
  watch(from);
}

void Server::handle(Connection& from, const std::string& line) {
  auto message = wire::parse_from_client(line);
  if (!message) {
    const wire::Problem& problem = message.error();
    if (!from.greeted || problem.id == 0 || from.calls.contains(problem.id)) {
      return reject(from, {Code::InvalidArgument, problem.message});
    }
    return send(from, wire::encode(wire::Failed{problem.id, {Code::InvalidArgument, problem.message}}));
  }
  if (const auto* hello = std::get_if<wire::Hello>(&*message)) return greet(from, *hello);
  if (!from.greeted) return reject(from, {Code::InvalidArgument, "the first line must be a hello"});
  if (const auto* taken_back = std::get_if<wire::Cancel>(&*message)) return cancel(from, taken_back->id);
  open_call(from, std::move(std::get<wire::Call>(*message)), line.size());
}

void Server::greet(Connection& from, const wire::Hello& hello) {
  if (from.greeted) return reject(from, {Code::InvalidArgument, "a connection sends one hello only"});
  if (hello.protocol != wire::kProtocol) {
    return send_last(
        from, wire::encode_unsupported("this daemon speaks protocol " + std::to_string(wire::kProtocol) +
                                       ", not " + std::to_string(hello.protocol)));
  }
  const auto asked = role_named(hello.role);
  if (!asked) {
    return reject(from, {Code::InvalidArgument, "'hello.role' must be agent, person, viewer or dialogue"});
  }
  if (std::max({hello.client.size(), hello.reader.size(), hello.session.size(), hello.secret.size(),
                hello.token.size()}) > kLongestName) {
    return reject(from, {Code::InvalidArgument,
                         "names in a hello may be at most " + std::to_string(kLongestName) + " bytes long"});
  }
  Admission admission = judge(from, *asked, hello);
  if (!admission.refused.empty()) return reject(from, {Code::PermissionDenied, admission.refused});
  loop_.cancel(from.timer);
  from.greeted = true;
  from.in.set_largest(wire::kLargestLine);
  from.process.reset();  // only the greeting needs it
  from.who.role = admission.role;
  from.who.person = admission.person;
  from.who.why = std::move(admission.why);
  from.who.session = std::move(admission.session);
  from.who.client = hello.client;
  from.who.reader = hello.reader.empty() ? hello.client : hello.reader;
  log_.info(shown(from.who), "socket",
            {{"connection", from.who.connection},
             {"pid", from.who.pid},
             {"role", role_name(from.who.role)},
             {"client", from.who.client}});
  wire::Welcome welcome;
  welcome.version = TTYWARD_VERSION;
  welcome.daemon = id_;
  welcome.pid = ::getpid();
  welcome.role = role_name(from.who.role);
  welcome.why = from.who.why;
  if (from.who.role == Role::Person) welcome.notices = handler_.notices();
  send(from, wire::encode(welcome));
}

Admission Server::judge(Connection& from, Role asked, const wire::Hello& hello) {
  Admission admission = handler_.admit(std::max(from.who.pid, 0), asked, hello);
  // Only if the number meant the same process all the while is the answer about it.
  if (from.who.pid <= 0 || Peer::process_alive(from.process.get())) return admission;
  return handler_.admit(0, asked, hello);
}

void Server::open_call(Connection& from, wire::Call call, size_t bytes) {
  const uint64_t id = call.id;
  if (from.calls.contains(id)) {
    return reject(from, {Code::InvalidArgument, "call " + std::to_string(id) + " is still open"});
  }
  if (stopping_)
    return send(from, wire::encode(wire::Failed{id, {Code::Unavailable, "the daemon is shutting down"}}));
  if (from.calls.size() >= limits_.open_calls) {
    return send(from, wire::encode(wire::Failed{
                          id,
                          {Code::Exhausted, std::to_string(limits_.open_calls) +
                                                " calls are open already; wait for some of them"}}));
  }
  if (!from.calls.empty() && from.call_bytes + bytes > limits_.open_call_bytes) {
    return send(from,
                wire::encode(wire::Failed{
                    id,
                    {Code::Exhausted, "the calls that are open have " + std::to_string(from.call_bytes) +
                                          " bytes of arguments already; wait for some of them"}}));
  }
  const auto elapsed = std::chrono::duration<double>(loop_.now() - from.tokens_at).count();
  from.tokens_at = loop_.now();
  from.tokens = std::min<double>(from.tokens + elapsed * limits_.calls_per_second, limits_.calls_per_second);
  from.tokens -= 1;
  if (from.tokens < 0) {
    from.throttled = true;
    const auto pause = std::chrono::duration<double>((1 - from.tokens) / limits_.calls_per_second);
    from.timer = loop_.after(std::chrono::ceil<io::Loop::Clock::duration>(pause),
                             [this, number = from.who.connection] {
                               Connection* again = find(number);
                               if (again == nullptr) return;
                               again->timer = 0;
                               again->throttled = false;
                               handle_lines(*again);
                             });
  }
  auto state = std::make_shared<Responder::State>();
  state->sink = this;
  state->connection = from.who.connection;
  state->id = id;
  from.calls[id] = {state, bytes};
  from.call_bytes += bytes;
  handler_.call(from.who, call.name, std::move(call.args), Responder(std::move(state)));
}

void Server::cancel(Connection& from, uint64_t id) {
  const auto found = from.calls.find(id);
  if (found == from.calls.end()) return;  // it was answered while the cancel was under way
  const auto call = found->second.state;
  const auto cancelled = std::exchange(call->cancelled, nullptr);
  call->sink = nullptr;
  fail(from.who.connection, id, {Code::Cancelled, "the call was cancelled"});
  if (cancelled) cancelled();
}

}  // namespace ttyward::daemon
