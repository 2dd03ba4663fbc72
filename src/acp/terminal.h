// One command of an agent, as the terminal methods of the Agent Client Protocol see it: it runs in the
// daemon; its output is read from there when somebody wants it.
//
// Thread rule: the loop thread. The object may outlive its id: what is shown stays after a release.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "acp/plain_text.h"
#include "client/caller.h"
#include "io/loop.h"
#include "rpc/json.h"
#include "wire/types/objects.h"

namespace ttyward::acp {

class Terminal : public std::enable_shared_from_this<Terminal> {
 public:
  using Then = std::function<void()>;
  using OnBytes = std::function<void(std::string_view)>;

  // `daemon` is used while `*daemon_is_there`.
  Terminal(io::Loop& loop, client::Caller& daemon, std::shared_ptr<const bool> daemon_is_there,
           std::string command_id, size_t limit);

  const std::string& command_id() const { return command_id_; }
  std::string terminal_id;  // the daemon's
  std::string command;      // as it is shown
  std::string cwd;
  std::shared_ptr<void> held;  // for somebody who waits until it is gone

  // Begins to wait for its end.
  void follow();
  // It has ended so.
  void end(wire::CommandResult result);
  // Reads what is new, then calls.
  void refresh(Then then);
  void when_ended(Then then);
  void kill(Then then);
  // Bytes as they were printed, from now on, as they are read.
  void on_bytes(OnBytes handler) { on_bytes_ = std::move(handler); }

  bool ended() const { return ended_; }
  // {"exitCode":…,"signal":…}; of one that ended.
  rpc::json::object exit_status() const;
  std::optional<int64_t> exit_code() const { return result_.exit_code; }
  const PlainText& text() const { return text_; }
  // Nobody but the display reads it any more.
  void keep_only(size_t bytes) { text_.shrink(bytes); }

 private:
  void read_next();
  void read_done();
  // It is gone from the daemon's memory; the history knows how it ended.
  void look_up(int attempt);

  io::Loop& loop_;
  client::Caller& daemon_;
  const std::shared_ptr<const bool> daemon_is_there_;
  const std::string command_id_;
  const size_t limit_;
  PlainText text_;
  uint64_t offset_ = 0;
  bool reading_ = false;
  bool came_ = false;    // something new in this reading
  bool exited_ = false;  // what is left of its output is being read
  bool ended_ = false;
  wire::CommandResult result_;
  std::vector<Then> readers_;
  std::vector<Then> waiters_;
  OnBytes on_bytes_;
};

}  // namespace ttyward::acp
