// What can be asked about a terminal: its state, its shell, its processes, its commands, who may use it.
//
// Terminal is one of these. Nothing here changes anything. Thread rule: the loop's.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/holder_port.h"
#include "engine/terminal_host.h"
#include "engine/terminal_model.h"
#include "journal/format.h"
#include "pty/spawn.h"

namespace ttyward::engine {

class TerminalFacts {
 public:
  using Clock = std::chrono::steady_clock;
  enum class State : uint8_t { Starting, Idle, Busy, AwaitingInput, Finished, Lost };
  static const char* state_name(State state);

  TerminalFacts(const TerminalFacts&) = delete;
  TerminalFacts& operator=(const TerminalFacts&) = delete;

  const std::string& id() const { return spec().id; }
  const TerminalSpec& spec() const { return model_->spec(); }
  const place::Place& place() const { return place_; }
  // Of one in another place: why it cannot be reached now. Empty: it can.
  const std::string& link_lost() const { return link_lost_; }
  State state() const;
  bool live() const { return !model_->closed(); }
  bool launching() const { return live() && !holder_alive() && !model_->feed().following(); }
  bool ready() const { return model_->ready(); }  // started, one way or the other
  bool busy() const { return model_->busy(); }
  // Its journal is at its quota under `overflow = pause`: nobody reads what it prints, so it stands still.
  bool paused() const;
  const std::optional<pty::SpawnError>& start_error() const { return start_error_; }
  int64_t created_at_ms() const { return birth_.created_at_ms; }
  int64_t last_output_at_ms() const { return last_output_at_ms_; }
  int64_t closed_at_ms() const { return end_.closed_at_ms; }

  // --- its shell
  // The one that reads commands now: the one it was opened with, or one that took its place.
  const shell::ShellIdentity& shell() const;
  shell::Quality quality() const { return model_->quality(); }
  bool integration_failed() const { return has_shell() && model_->shell().integration_failed(); }
  const std::string& fallback_reason() const { return model_->fallback_reason(); }
  // Whether ends of commands in it are seen, one way or the other.
  bool can_follow() const;
  // What changes how that shell reads a line, as of its last prompt.
  const shell::ReadingState& reading() const;
  // False between the end of a command and the prompt that follows: what the shell says of itself (folder,
  // environment, aliases) is not up to date. kPrompt follows, or kClosed.
  bool settled() const;
  const std::string& cwd() const { return model_->cwd(); }
  const char* cwd_known_by() const { return has_shell() ? model_->shell().cwd_known_by() : "start"; }
  const std::map<std::string, std::string>& environment_changes() const;
  pty::Provider provider() const { return model_->provider(); }
  // A shell without a terminal: commands go in one after the other, and nothing else does.
  bool on_pipes() const { return model_->on_pipes(); }

  // --- its processes
  pid_t pid() const { return model_->child_pid(); }
  pid_t shell_pid() const { return model_->shell_pid(); }
  pid_t holder_pid() const { return holder_pid_; }
  bool holder_alive() const { return holder_.connected(); }
  const std::optional<journal::ExitRecord>& exit() const { return end_.exit; }

  // --- what it shows
  const terminal::Output& output() const { return model_->feed().output(); }
  const std::string& title() const { return model_->title(); }
  const std::optional<vt::Progress>& progress() const { return model_->progress(); }
  uint64_t read_to() const { return model_->read_to(); }
  // Printed, and not kept: a quota, or a full disk.
  uint64_t lost_bytes() const { return model_->feed().lost_bytes(); }

  // --- its commands
  // Oldest first; the running one is the last.
  const CommandBook::Commands& commands() const { return model_->book().commands(); }
  Command* current() const { return model_->book().current(); }
  const Command* queued() const { return model_->book().queued(); }  // accepted, not yet typed
  Command* find(std::string_view command_id) const { return model_->book().find(command_id); }
  const Command* last() const { return commands().empty() ? nullptr : commands().back().get(); }
  // See TerminalModel.
  bool typing() const { return model_->typing(); }
  size_t typed_part(terminal::LineNumber number, std::string_view text) const {
    return model_->typed_part(number, text);
  }
  // What a person typed since somebody asked last.
  const std::vector<std::string>& typed_meanwhile() const { return model_->typed_meanwhile(); }

  // --- who may use it
  bool promised() const { return model_->access().promised(Clock::now()); }
  const std::optional<Lease>& lease() const { return model_->access().lease(); }
  const std::optional<Loan>& loan() const { return model_->access().loan(); }
  // Whether agents act in it, or ever did: what runs there may be theirs for as long as it lives.
  bool agents_act() const { return spec().owner == Owner::Agent || model_->access().lent_for_acting(); }

 protected:
  // The end of the process this terminal is for, as the holder tells it.
  struct ProcessEnd {
    std::optional<journal::ExitRecord> exit;
    uint64_t output_end = 0;  // where the journal ended when the process did
    bool handled = false;
    bool holder_closed = false;  // nothing of it is left
    bool holder_lost = false;    // the holder went, and how the process ended is not known
    int64_t closed_at_ms = 0;
  };

  TerminalFacts(TerminalHost& host, Birth birth, std::unique_ptr<TerminalModel> model)
      : host_(host),
        birth_(std::move(birth)),
        model_(std::move(model)),
        far_(spec().place.empty() || host.places == nullptr ? nullptr : &host.places->of(spec().place)),
        place_(far_ != nullptr ? *far_ : host.place) {}
  ~TerminalFacts() = default;
  bool has_shell() const { return model_->has_shell(); }

  TerminalHost& host_;
  const Birth birth_;
  const std::unique_ptr<TerminalModel> model_;
  const relay::FarPlace* const far_;  // null: on this machine
  const place::Place& place_;
  std::string link_lost_;
  HolderPort holder_;
  std::optional<pty::SpawnError> start_error_;
  pid_t holder_pid_ = 0;
  int64_t last_output_at_ms_ = 0;
  ProcessEnd end_;
};

}  // namespace ttyward::engine
