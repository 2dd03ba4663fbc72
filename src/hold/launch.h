// Starting a holder process that outlives its starter.
//
//   starter                     ttyward-hold
//   spawn ────────────────────▶ forks; the first process ends, the second is in a
//                               session of its own and is not our child
//   HolderFolders ────────────▶ (optional) makes socket, journal and terminal ahead
//   LaunchRequest ────────────▶ socket, journal, command
//   LaunchReply ◀────────────── ready, or why not: exec errors too
//
// Everything goes over one socket pair, nothing over argv: an environment holds
// secrets, and every user can read argv. A holder that waits for its request
// is idle and may be kept in a pool.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "hold/holder.h"
#include "pty/child.h"
#include "pty/spawn.h"

namespace ttyward::hold {

// Much longer than a start takes on a loaded machine; after it the start has failed.
inline constexpr std::chrono::seconds kLaunchPatience{30};
inline constexpr uint32_t kLargestLaunchMessage = 16 << 20;

// Where a holder puts its files.
struct HolderFolders {
  std::string journals;  // the journal is called hold.journal.id
  uint64_t total_quota = journal::kDefaultTotalQuota;
  std::string sockets;  // the socket is called <id>.sock

  bool operator==(const HolderFolders&) const = default;
  // As a message to an idle holder, which then prepares what it will need there.
  std::string encode_prepare() const;
  static std::optional<HolderFolders> decode_prepare(std::string_view bytes);
};

struct LaunchRequest : HolderFolders {
  // A stdin descriptor travels with the request. Not passed on: kept descriptors
  // and hooks. They belong to the process that has them.
  HoldSpec hold;

  std::string encode() const;
  static std::optional<LaunchRequest> decode(std::string_view bytes);
};

struct LaunchReply {
  std::optional<pty::SpawnError> error;
  pid_t holder = 0;
  pid_t child = 0;
  pty::Provider provider = pty::Provider::Pty;
  std::string fallback_reason;

  std::string encode() const;
  static std::optional<LaunchReply> decode(std::string_view bytes);
};

// One length-prefixed message on a blocking socket, and with it a descriptor if
// there is one to pass on. nullopt: the peer is gone, does not keep to the format,
// or was silent for too long.
std::optional<std::string> receive_message(int fd, std::chrono::milliseconds patience,
                                           base::UniqueFd* passed = nullptr);
bool send_message(int fd, std::string_view message, int pass = -1);

// Makes an idle holder a fork server; sent in place of a LaunchRequest.
inline constexpr std::string_view kForkServerMessage = "fork server";

// Whether a holder's answer may still be waited for, or its descriptor is readable already.
enum class Answer : uint8_t { MayTakeTime, IsThere };

class IdleHolder {
 public:
  // `program` is the path of ttyward-hold.
  static tl::expected<IdleHolder, pty::SpawnError> start(const std::string& program);

  // One that is reached through another process: the link to another place.
  static IdleHolder behind(base::UniqueFd control) { return IdleHolder(std::move(control)); }

  // The two halves of a launch. `ask` does not wait as long as the request is small; `answer` blocks until
  // the command runs or could not be started, and uses the holder up.
  tl::expected<void, pty::SpawnError> ask(const LaunchRequest& request);
  // Makes journal, socket and terminal ahead, for a request with these folders. Does not wait for it; a
  // holder that is gone is found out by ask().
  void prepare(const HolderFolders& folders);
  tl::expected<LaunchReply, pty::SpawnError> answer(Answer when = Answer::MayTakeTime) &&;
  tl::expected<LaunchReply, pty::SpawnError> launch(const LaunchRequest& request) &&;
  // Readable when there is an answer.
  int fd() const { return control_.get(); }

 private:
  friend class ForkServer;
  explicit IdleHolder(base::UniqueFd control) : control_(std::move(control)) {}

  base::UniqueFd control_;  // closing it ends an idle holder
};

// A ttyward-hold that only makes others: it is loaded once, and each new idle holder costs only a fork. It
// ends with its owner; the holders do not. Not for several threads at once.
class ForkServer {
 public:
  static tl::expected<ForkServer, pty::SpawnError> start(const std::string& program);
  // Does not wait for it: a holder that never came is found out by launch(), as a SpawnFailure::Setup.
  tl::expected<IdleHolder, pty::SpawnError> next();

 private:
  explicit ForkServer(base::UniqueFd control) : control_(std::move(control)) {}

  base::UniqueFd control_;
};

// Both at once.
tl::expected<LaunchReply, pty::SpawnError> launch(const std::string& program, const LaunchRequest& request);

}  // namespace ttyward::hold
