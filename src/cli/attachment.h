// A person in a terminal of the daemon's: its screen on theirs, their keys to it, until they leave.
//
// The person's terminal is raw meanwhile and as it was afterwards, however this ends. A daemon that
// goes away is waited for and the screen drawn anew. Thread rule: one thread, which blocks its
// signals while this runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <boost/json/object.hpp>

#include "cli/detach_key.h"
#include "cli/person_tty.h"
#include "cli/screen_painter.h"
#include "cli/signal_watch.h"
#include "client/session.h"
#include "wire/types/terminal_calls.h"
#include "wire/types/watching_calls.h"

namespace ttyward::cli {

struct AttachOptions {
  std::string terminal;
  bool read_only = false;
  bool take = false;  // the keyboard, from another person
  DetachKey detach_key;
  std::optional<DetachKey> mark_key = {};  // marks what is shown, for agents
};

// How somebody attached calls themselves: others see it when they look who has the keyboard.
client::Options attach_options();

struct AttachEnd {
  enum class Kind : uint8_t { Detached, Closed, Signal, Failed };
  Kind kind = Kind::Detached;
  std::string reason;  // for a person
  int signal = 0;
  std::optional<client::CallFailure> failure;
};

class Attachment {
 public:
  Attachment(client::Session& daemon, AttachOptions options);

  AttachEnd run();

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr size_t kInputAhead = 64;  // calls that may be open before keys are read again
  static constexpr size_t kMostHeld = 4096;  // bytes; what is typed beyond them rings the bell
  static constexpr std::chrono::milliseconds kRetry{300};  // between looks for a daemon that is gone

  bool is_ours();
  void ask_to_attach();
  void turn();
  void take_signals();
  void take_keys();
  void type(const std::string& keys);
  void mark_screen();
  void take_messages();
  void take_reply(const client::Reply& reply);
  void take_event(const boost::json::object& event);
  void attached(const client::AnswerOf<wire::AttachRequest>& answer);
  void learn(const wire::Terminal& terminal);
  void resized();
  void paint();
  void write_out(std::string_view bytes);
  void end(AttachEnd::Kind kind, std::string reason = {});
  std::string status() const;
  // Of the person's terminal, the part that shows the other one.
  int cols() const { return size_.columns; }
  int rows() const { return size_.rows > 1 ? size_.rows - 1 : 1; }
  bool may_write() const { return writable_ && !options_.read_only; }

  client::Session& daemon_;
  AttachOptions options_;
  PersonTty tty_;
  SignalWatch signals_;
  ScreenPainter painter_;
  pty::WindowSize size_{80, 24, 0, 0};
  std::optional<AttachEnd> end_;

  uint64_t attach_call_ = 0;                // open; 0: none
  uint64_t subscribe_call_ = 0;             // open; 0: none
  uint64_t select_call_ = 0;                // open; 0: none
  std::map<uint64_t, std::string> inputs_;  // keys on their way, by call
  std::string held_;                        // keys for when we are attached again
  uint64_t subscription_ = 0;               // 0: not attached now
  uint64_t changes_ = 0;                    // the subscription that tells of the lease
  bool writable_ = false;
  std::optional<wire::Time> our_lease_since_;
  int64_t its_cols_ = 0;  // the terminal's own size
  int64_t its_rows_ = 0;
  bool dirty_ = true;
  bool daemon_gone_ = false;
  std::string name_;       // as people call it
  std::string lease_by_;   // who has the keyboard; empty: nobody, or not known
  std::string waits_;      // a command that waits for the keyboard
  std::string complaint_;  // shown in the status line until the next key
};

}  // namespace ttyward::cli
