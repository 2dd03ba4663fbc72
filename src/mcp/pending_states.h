// What a server has to remember between a question and its answer when there is no session: the modern era's
// requestState.
//
//   state = NAME "." UNTIL "." SIGNATURE      NAME: 128 random bits; UNTIL: milliseconds, this process's
//   clock
//
// The signature (HMAC-SHA-256, with a key that this process made and nobody else has) is over the name, the
// time, the method with its parameters, and the questions: a state is good for the call that was asked about,
// with the questions that were asked, and for nothing else. It is good once, because the record it names is
// taken with it, and for kLifetime. At most kMost are kept: the oldest goes first.
//
// Thread rule: the loop thread.
#pragma once

#include <chrono>
#include <list>
#include <optional>
#include <string>

#include "io/loop.h"
#include "mcp/json.h"
#include "mcp/request.h"

namespace ttyward::mcp {

// Makes and checks the texts.
class StateSigner {
 public:
  StateSigner();

  struct Made {
    std::string name;
    std::string state;
  };
  Made make(const Request& request, const json::object& questions, io::Loop::Clock::time_point until) const;
  // The name in a text of the right form, which still may be a forgery.
  static std::string name_in(std::string_view state);
  bool is_genuine(std::string_view state, const Request& request, const json::object& questions,
                  io::Loop::Clock::time_point until) const;

 private:
  std::string sign(const std::string& name, const Request& request, const json::object& questions,
                   io::Loop::Clock::time_point until) const;

  const std::string key_;
};

template <typename Record>
class PendingStates {
 public:
  // The state to send with `questions`.
  std::string keep(const Request& request, json::object questions, Record record) {
    if (kept_.size() >= kMost) kept_.pop_front();
    const auto until = io::Loop::Clock::now() + kLifetime;
    StateSigner::Made made = signer_.make(request, questions, until);
    kept_.push_back({std::move(made.name), std::move(questions), std::move(record), until});
    return made.state;
  }
  // The record of the state that `request` brings back. Null: forged, used, too old, or for something else.
  std::optional<Record> take(const Request& request) {
    const std::string state = text_or(request.params, "requestState");
    const std::string name = StateSigner::name_in(state);
    for (auto kept = kept_.begin(); kept != kept_.end(); ++kept) {
      if (kept->name != name) continue;
      if (!signer_.is_genuine(state, request, kept->questions, kept->until)) return std::nullopt;
      Kept found = std::move(*kept);
      kept_.erase(kept);
      if (io::Loop::Clock::now() > found.until) return std::nullopt;
      return std::move(found.record);
    }
    return std::nullopt;
  }

 private:
  static constexpr size_t kMost = 1024;
  static constexpr std::chrono::minutes kLifetime{15};

  struct Kept {
    std::string name;
    json::object questions;
    Record record;
    io::Loop::Clock::time_point until;
  };
  StateSigner signer_;
  std::list<Kept> kept_;
};

}  // namespace ttyward::mcp
