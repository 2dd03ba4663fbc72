// The messages of docs/protocol/socket.md as values: one JSON object per line.
//
// Pure: text in, values out, and back. What is not in the protocol is a Problem,
// never an exception. Every encode() ends with the line end.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <boost/json/object.hpp>
#include <tl/expected.hpp>

#include "wire/types/call_error.h"

namespace ttyward::wire {

inline constexpr int64_t kProtocol = 1;
inline constexpr size_t kDeepest = 32;  // objects and arrays inside each other, the message itself included
inline constexpr size_t kMostValues = 1 << 18;  // in one message: a parsed value takes 30 times its text

// From the client.
struct Hello {
  int64_t protocol = kProtocol;
  std::string role = "person";
  std::string client;
  std::string reader;   // empty: the client's name
  std::string session;  // empty: none
  std::string secret;   // of the session: whoever brings it again is the same agent
  std::string token;    // a person's, where the process alone does not show that it is one

  bool operator==(const Hello&) const = default;
};
struct Call {
  uint64_t id = 0;
  std::string name;
  boost::json::object args;

  bool operator==(const Call&) const = default;
};
struct Cancel {
  uint64_t id = 0;

  bool operator==(const Cancel&) const = default;
};

// From the daemon.
struct Welcome {
  int64_t protocol = kProtocol;
  std::string version;
  std::string daemon;  // differs between any two starts of a daemon
  pid_t pid = 0;
  std::string role;
  std::string why{};                   // the role is not the one that was asked for; empty: it is
  std::vector<std::string> notices{};  // what a person has to know before anything else

  bool operator==(const Welcome&) const = default;
};
struct Part {
  uint64_t id = 0;
  boost::json::object part;

  bool operator==(const Part&) const = default;
};
struct Ok {
  uint64_t id = 0;
  boost::json::object value;

  bool operator==(const Ok&) const = default;
};
struct Failed {
  uint64_t id = 0;  // 0: it is about the connection, which ends
  CallError error;

  bool operator==(const Failed&) const = default;
};
struct Event {
  boost::json::object event;  // with its "event" and "subscription" members

  bool operator==(const Event&) const = default;
};

using FromClient = std::variant<Hello, Call, Cancel>;
using FromDaemon = std::variant<Welcome, Part, Ok, Failed, Event>;

// Why a line is no message. With an id, only that call is wrong and the
// connection can go on; without one, it cannot.
struct Problem {
  uint64_t id = 0;
  std::string message;
};

tl::expected<FromClient, Problem> parse_from_client(std::string_view line);
tl::expected<FromDaemon, Problem> parse_from_daemon(std::string_view line);

std::string encode(const Hello& hello);
std::string encode(const Call& call);
std::string encode(const Cancel& cancel);
std::string encode(const Welcome& welcome);
std::string encode(const Part& part);
std::string encode(const Ok& ok);
std::string encode(const Failed& failed);
std::string encode(const Event& event);
// {"id":1,"ok":BODY} and {"id":1,"part":BODY}, of a body that is JSON text already.
std::string encode_ok(uint64_t id, std::string_view body);
std::string encode_part(uint64_t id, std::string_view body);
// An object as text; bytes that are not UTF-8 become U+FFFD.
std::string object_text(const boost::json::object& object);
// The answer to a hello of another protocol.
std::string encode_unsupported(const std::string& message);

}  // namespace ttyward::wire
