// Another machine or a container, for whoever uses terminals there: a connection to the link's socket.
//
// Questions are answered from the loop, when the answer has come; while there is no link, with "nothing is
// known". Nothing is answered at once, with the exceptions that are said below. Thread rule: one thread, the
// one that waits on the poller.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "io/outgoing.h"
#include "io/poller.h"
#include "place/place.h"
#include "pty/spawn.h"
#include "relay/link_protocol.h"

namespace ttyward::relay {

// Where links are, and what starts one.
struct LinkFolders {
  std::string program;  // path of ttyward-hold
  std::string run;      // folder of the sockets
  std::string state;    // folder of what is noted
};

class FarPlace final : public place::Place, private io::Poller::Handler {
 public:
  using Told = std::function<void(const LinkState&)>;

  // Starts the link's process if there is none; does not wait for the place itself.
  static base::Result<std::unique_ptr<FarPlace>> open(io::Poller& poller, const LinkFolders& folders,
                                                      const PlaceName& name);
  // Not connected yet.
  FarPlace(io::Poller& poller, LinkFolders folders, PlaceName name)
      : poller_(poller), folders_(std::move(folders)), name_(std::move(name)) {}
  FarPlace(const FarPlace&) = delete;
  FarPlace& operator=(const FarPlace&) = delete;
  ~FarPlace() override;

  // Connects to the link's process, which is started if there is none.
  enum class IfNone : uint8_t { Start, Fail };
  base::Result<void> ensure(IfNone none = IfNone::Start);
  // The same for a loop that must not wait: what is asked meanwhile is sent when the process is there.
  base::Result<void> begin();
  // Makes the link if there is none, and tells how that went. A link whose process ends meanwhile is made
  // again.
  void reach(Told then) { reach_again(std::move(then), kMoreLinks); }
  // As it is now.
  void look(Told then) const { ask_state(0, std::move(then)); }
  // As far as it was told.
  const LinkState& state() const { return state_; }
  const PlaceName& place() const { return name_; }
  void on_change(Told told) { told_ = std::move(told); }
  // A connection on which one terminal is launched there, as hold::IdleHolder does.
  base::Result<base::UniqueFd> connect_launch() const;
  // Removes what was made for a shell.
  void remove_tree(const std::string& path) const;
  // A folder for a shell's files.
  std::string shell_folder(const std::string& id) const;

  // --- Place
  std::string name() const override { return name_.text(); }
  void process(pid_t pid, uint32_t parts,
               const Then<std::optional<place::ProcessFacts>>& then) const override;
  void descendants(pid_t root, const Then<std::optional<Stats>>& then) const override;
  void ports(std::span<const pid_t> pids, const Then<std::optional<Ports>>& then) const override;
  void left_behind(const place::LeftBehindQuery& query, const Then<place::LeftBehind>& then) const override;
  pid_t newest_process() const override { return 0; }
  void file(const std::string& path, const Then<base::Result<place::FileKind>>& then) const override;
  void text(const std::string& path, size_t most, const Then<base::Result<std::string>>& then) const override;
  // At once for the user's shell and bash, which the place has said.
  void program(const std::string& name, const std::string& search,
               const Then<std::string>& then) const override;
  base::Result<void> make_folder(const std::string& path) const override;
  base::Result<void> write_file(const std::string& path, std::string_view content,
                                uint32_t mode) const override;
  void end_holder(pid_t holder) const override;

 private:
  using Answers = std::function<void(std::optional<Frame>)>;

  void on_ready(int fd, uint32_t events) override;
  static constexpr int kMoreLinks = 2;

  void ask_state(uint8_t wait, Told then) const;
  void reach_again(Told then, int more);
  void ask(Type type, std::string_view payload, Answers then) const;
  void flush() const;
  void lose();
  base::Result<void> attach(base::UniqueFd fd);
  void started(int fd);
  void forget_start();
  void answer_nobody(const std::string& why);

  // The process that starts the link; it ends when the link's sockets are there.
  struct Start {
    pty::Spawned process;
    base::UniqueFd limit;  // a timer
  };

  io::Poller& poller_;
  const LinkFolders folders_;
  const PlaceName name_;
  base::UniqueFd fd_;
  std::optional<Start> start_;
  std::string start_problem_;  // of the last one; empty: it went well
  FrameReader in_;
  mutable io::Outgoing out_;
  mutable uint32_t last_tag_ = 0;
  mutable std::map<uint32_t, Answers> open_;
  LinkState state_;
  Told told_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// Waits until there is a link, or why there is none; for programs without a loop.
base::Result<LinkState> reach_now(io::Poller& poller, FarPlace& place, std::chrono::milliseconds patience);

// What a link that runs says of itself; none is started, and no link is made.
base::Result<LinkState> ask_state(io::Poller& poller, const LinkFolders& folders, const PlaceName& name,
                                  std::chrono::milliseconds patience);

}  // namespace ttyward::relay
