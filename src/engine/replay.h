// A terminal's state from what it left on disk: a pure function of its log and its journal.
//
// A daemon that was killed at any instruction had written what it was about to do into
// the log before it did it, and the holder kept every byte in the journal. The log's records
// say where among the bytes they belong, so the two are told to a TerminalModel in one
// order, the one in which they happened. Nothing in the world changes by it.
//
// May run on any thread, several at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "base/result.h"
#include "engine/terminal_model.h"

namespace ttyward::engine {

struct ReplayInput {
  // Whole records of the log, in order; the first says what the terminal is.
  std::vector<boost::json::object> records;
  base::Result<journal::Reader> journal;
  uint64_t replied_to = 0;  // what programs asked before this offset was answered
  ModelOptions model;
  // For what nobody noted the time of: now, by both clocks.
  int64_t now_ms = 0;
  TerminalModel::Clock::time_point now;
};

struct Replayed {
  enum class Outcome : uint8_t {
    Follows,       // it may still live: its holder knows
    NeverStarted,  // logged, and no journal was ever made: nothing ran
    Damaged,       // the journal cannot be read; the log says what is known
  };

  Outcome outcome = Outcome::Follows;
  Birth birth;
  std::unique_ptr<TerminalModel> model;
  std::shared_ptr<void> observer;  // the model's, until it gets another one
  std::optional<journal::ExitRecord> exit;
  std::string replies;  // to what programs asked and nobody answered
  int64_t last_output_at_ms = 0;
  // It was closed before.
  bool closed = false;
  bool lost = false;
  int64_t closed_at_ms = 0;
};

// Of a terminal that has no past: it is being opened.
Replayed nothing_yet(TerminalSpec spec, Birth birth, const ModelOptions& model, int64_t now_ms);

// An error: the log does not say what it is about.
base::Result<Replayed> replay(ReplayInput input);

}  // namespace ttyward::engine
