// The service for clients that watch: waits, reads, events, attached screens.
//
// It observes every change in the engine and the gate, and sends events to subscribers through an EventSink.
// Thread rule: the loop's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "app/background.h"
#include "app/core.h"
#include "app/event_sink.h"
#include "app/gatekeeper.h"
#include "app/reply.h"
#include "app/result_memory.h"
#include "app/terminal_access.h"
#include "engine/read.h"
#include "engine/slices.h"
#include "engine/viewer.h"
#include "wire/types/recording_calls.h"
#include "wire/types/watching_calls.h"

namespace ttyward::app {

class Watching {
 public:
  Watching(Core& core, Gatekeeper& gatekeeper, EventSink& sink)
      : core_(core), gatekeeper_(gatekeeper), sink_(sink) {}

  void wait(const Caller& caller, const wire::WaitRequest& request, const Reply<wire::WaitOutcome>& reply);
  void read(const Caller& caller, const wire::ReadRequest& request, const Reply<wire::ReadAnswer>& reply);
  Outcome<wire::RecordingPart> recording(const Caller& caller, const wire::RecordingRequest& request);
  void environment(const Caller& caller, const wire::EnvironmentRequest& request,
                   const Reply<wire::EnvironmentNews>& reply);
  // Calls `then` when the outputs of these commands can be read without delay: at once as a rule. One that is
  // not known any more has none.
  void when_readable(const std::vector<std::string>& command_ids, std::function<void()> then);
  // The same for a result with this view, which result_for() makes within `then`: a digest of a long output
  // is read in slices first. `reader`: for what this reader has not seen; empty: for all of it.
  void when_viewable(const std::string& command_id, const terminal::ViewLimits& view,
                     const std::string& reader, std::function<void()> then);
  // A command's result for this reader: all of its output, or only what the reader has not seen.
  // What other services know about a command is added to each of its results.
  // Adds to a result what is known beside its terminal.
  void complete(wire::CommandResult& result) const {
    if (complete_) complete_(result);
  }
  void complete_results(std::function<void(wire::CommandResult& result)> complete) {
    complete_ = std::move(complete);
  }
  wire::CommandResult result_for(engine::Terminal& terminal, const engine::Command& command,
                                 const std::string& reader, const terminal::ViewLimits& view, bool only_new);

  // --- attached.cc
  Outcome<wire::Attached> attach(const Caller& caller, const wire::AttachRequest& request);
  void attach_input(const Caller& caller, const wire::AttachInputRequest& request,
                    const Reply<wire::Nothing>& reply);
  Outcome<wire::Nothing> attach_resize(const Caller& caller, const wire::AttachResizeRequest& request);
  Outcome<wire::Nothing> detach(const Caller& caller, const wire::DetachRequest& request);

  Outcome<wire::Selected> select(const Caller& caller, const wire::SelectRequest& request);

  // --- subscriptions.cc
  Outcome<wire::Subscribed> subscribe(const Caller& caller, const wire::SubscribeRequest& request);
  Outcome<wire::Nothing> unsubscribe(const Caller& caller, const wire::UnsubscribeRequest& request);
  // Sends the event to subscribers that may see it. `terminal_id` is empty if it is about no terminal.
  void tell(const wire::AnyEvent& event, const std::string& terminal_id);
  void terminal_changed(engine::Terminal& terminal, uint32_t changes);
  void terminal_forgotten(const engine::Terminal& terminal);
  bool anybody() const { return !subscriptions_.empty(); }
  void connection_closed(uint64_t connection);
  // Ends all subscriptions and attachments without a message.
  void end_all() {
    for (const auto& [key, each] : attachments_) core_.loop.cancel(each->idle);
    attachments_.clear();
    subscriptions_.clear();
  }

 private:
  // When events of output were sent for a terminal.
  struct Throttle {
    std::chrono::steady_clock::time_point sent;
    bool due = false;
    terminal::LineNumber told = 0;  // with text: the lines up to here
  };
  struct Subscription {
    Caller caller;
    bool answers = false;         // a person who subscribed to questions
    std::string terminal;         // empty: all
    std::set<std::string> kinds;  // empty: all
    bool text = false;            // events of output carry it
    uint64_t missed = 0;          // while its reader did not read
    std::map<std::string, Throttle> output;
  };
  struct Attachment {
    uint64_t connection = 0;
    std::string terminal;
    bool writable = false;
    bool paused = false;  // its reader does not read
    std::chrono::milliseconds give_back{
        0};  // without input for so long it loses the keyboard; 0: it does not
    io::Loop::TimerId idle = 0;
    std::unique_ptr<engine::Viewer> viewer;
  };

  void wait_for_approval(const Caller& caller, const std::string& id, std::chrono::milliseconds timeout,
                         const Reply<wire::WaitOutcome>& reply);
  wire::WaitOutcome wait_outcome(const engine::WaitOutcome& came, const std::string& terminal_id,
                                 const std::string& command_id, const wire::WaitRequest& request,
                                 const Caller& caller);
  void start_wait(const Caller& caller, const wire::WaitRequest& request, engine::WaitSpec spec,
                  const std::string& terminal_id, const Reply<wire::WaitOutcome>& reply);
  // What is asked about: found again whenever time has passed.
  struct ReadFrom {
    std::string terminal;
    std::string command;  // empty: the terminal as a whole
  };
  base::Result<engine::OutputSource> source_of(const ReadFrom& from);
  void read_lines(const std::string& reader, const wire::ReadRequest& request, const ReadFrom& from,
                  std::shared_ptr<terminal::Output> styled, const Reply<wire::ReadAnswer>& reply);
  // In slices.
  void search(engine::Grep grep, const terminal::ViewLimits& view, const ReadFrom& from,
              const std::shared_ptr<terminal::Output>& styled, const Reply<wire::ReadAnswer>& reply);

  // Reads on for a digest of the command's output, until the time is over. True: it has all there is.
  struct LongDigest;
  bool read_on(LongDigest& digest, engine::Slices::Clock::time_point until);
  // It has read all: the rest is done on another thread, then `then` is called.
  void make_digest(const std::shared_ptr<LongDigest>& digest, const std::function<void()>& then);
  // The one that was read for this command, within `then` of when_viewable().
  LongDigest* long_digest_of(const std::string& command_id) const;

  bool hears(const Caller& caller, const std::string& terminal_id, const wire::AnyEvent& event);
  void count_listeners();
  // True: an event of output has just been sent, and the next one is due later.
  bool throttled(uint64_t key, Subscription& subscription, const std::string& terminal_id);
  // With the lines that have ended since the last one, for those who asked for text.
  wire::OutputCame output_event(Subscription& subscription, engine::Terminal& terminal);

  Outcome<Attachment*> find_attachment(const Caller& caller, uint64_t key);
  // Who had the keyboard goes on watching.
  void take_keyboard(engine::Terminal& terminal);
  // There was input: the time until the keyboard is given back begins anew.
  void expect_input(uint64_t key, Attachment& attachment);
  // It goes on watching.
  void release_keyboard(Attachment& attachment);
  void send_changes(uint64_t key);
  // Adds where a person is and what they marked, as far as the caller may read it.
  void add_person(const Caller& caller, wire::EnvironmentNews& news);
  // `reason` is told to the watcher, unless it is empty.
  void end_attachment(uint64_t key, const std::string& reason);

  Core& core_;
  Gatekeeper& gatekeeper_;
  std::function<void(wire::CommandResult& result)> complete_;
  EventSink& sink_;
  LongDigest* long_digest_ = nullptr;
  ResultMemory memory_;
  uint64_t last_key_ = 0;  // of subscriptions and attachments
  std::map<uint64_t, std::unique_ptr<Subscription>> subscriptions_;
  std::map<uint64_t, std::unique_ptr<Attachment>> attachments_;
  Background background_;  // last: its work uses the rest
};

}  // namespace ttyward::app
