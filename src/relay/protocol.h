// What goes over the one stream between this machine and another place. docs/protocol/relay.md is the prose.
//
//   here: the link (link.h)  ── one stream of frames ──  there: the relay (relay.h)
//
// The frames are those of hold/frame.h. Channel 0 is the relay itself, every other number is one terminal.
// Pure: no descriptor in here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hold/frame.h"
#include "journal/format.h"

namespace ttyward::relay {

using hold::Decoder;
using hold::Encoder;

inline constexpr uint32_t kVersion = 1;
inline constexpr uint32_t kMagic = 0x31525754;  // "TWR1"
// What a far shell and its start files print comes first. The stream begins after a line with this word and a
// nonce of the connection.
inline constexpr std::string_view kStageMarker = "TTYWARD-STAGE";
inline constexpr std::string_view kStreamMarker = "TTYWARD-STREAM";
inline constexpr uint32_t kLargestFrame = 17 << 20;  // a launch request has at most 16 MiB

// Bytes of one terminal that are under way. More wait in the far journal.
inline constexpr uint64_t kWindow = 1 << 20;

enum class Type : uint16_t {
  // To the relay, channel 0.
  Hello = 1,       // u32 magic, u32 version, string nonce
  Ping = 2,        //
  Launch = 3,      // string request, u8 has stdin
  Ask = 4,         // a question about processes and files, as in questions.h
  WriteFile = 5,   // string path, u32 mode, string content
  MakeFolder = 6,  // string path
  RemoveTree = 7,  // string path, inside the relay's own folder
  EndHolder = 8,   // u32 pid
  Forget = 9,      // string id: the journal here is whole, the one there may go
  // To the relay, one terminal's channel.
  Follow = 20,    // string id, u64 from, u64 window, u8 whether no journal of this id may come to be
  Credit = 21,    // u64 more bytes that may be sent
  Request = 22,   // u16 type of a holder's message, then its payload
  Unfollow = 23,  //
  Stdin = 24,     // u64 offset, then bytes; none: the end
  // From the relay, channel 0.
  Welcome = 128,
  Refused = 129,   // string why
  Pong = 130,      //
  Launched = 131,  // string reply
  Answer = 132,    // to Ask
  Done = 133,      // to WriteFile, MakeFolder
  Failed = 134,    // u8 code, i32 errno, string message
  // From the relay, one terminal's channel.
  Head = 150,        // what the far journal says of itself
  Bytes = 151,       // u64 offset, u32 count of marks, marks, bytes
  Gap = 152,         // u64 offset, u64 bytes, u64 line feeds
  Reply = 153,       // u16 type of a holder's message, then its payload
  Exited = 154,      // 64 bytes of the exit record
  Closed = 155,      // u32 how the output ended, marks
  Missing = 156,     // u8 a Loss, string why
  Paused = 157,      //
  InputCount = 158,  // u64 bytes the command was given, ever
  StdinTaken = 159,  // u64 offset up to which its standard input was taken; all ones: it is not wanted
  HolderGone = 160,  // nobody is there to ask; the rest of the journal follows
};

// Why a terminal cannot be followed any more.
enum class Loss : uint8_t {
  NoJournal = 1,   // it is not there, and will never be
  HolderDied = 2,  // its writer is gone without a word about the end
  CannotRead = 3,  // the journal is damaged, or from another version
};

using Frame = hold::FrameOf<Type>;
using FrameReader = hold::FrameReaderOf<Type, kLargestFrame, 0xffff>;

std::string encode(Type type, uint16_t channel, uint32_t tag, std::string_view payload = {});

// Finds a line in what comes before the stream. What follows the line is kept for the stream.
class MarkerSearch {
 public:
  explicit MarkerSearch(std::string line) : line_(std::move(line)) {}
  // True once it was found; rest() has what came after it.
  bool push(std::string_view bytes);
  std::string take_rest() { return std::move(rest_); }
  const std::string& noise() const { return noise_; }
  bool too_much() const { return noise_.size() > kMostNoise; }

  static constexpr size_t kMostNoise = 64 * 1024;

 private:
  std::string line_;
  std::string noise_;
  std::string rest_;
};

// What a relay says of the place it is in.
struct WelcomeMessage {
  uint32_t version = kVersion;
  std::string program;  // SHA-256 of the relay's own file, in hexadecimal
  std::string system;   // "Linux 6.1.0 x86_64"
  std::string host;
  std::string user;
  uint32_t uid = 0;
  std::string home;
  std::string shell;   // of the user, from its passwd entry
  std::string bash;    // path; empty: there is none
  std::string folder;  // where the relay keeps journals, sockets and shells' files
  std::string boot_id;
  uint64_t first_process = 0;  // when process 1 was started: another number after a container was restarted
  uint64_t now_unix_ns = 0;
  std::vector<std::string> environment;

  std::string encode() const;
  static std::optional<WelcomeMessage> decode(std::string_view payload);
};

// What the far journal's header says, for the copy's.
struct HeadMessage {
  uint64_t created_unix_ns = 0;
  uint32_t provider = 0;  // journal::stored
  uint32_t flags = 0;
  uint32_t size = 0;  // columns << 16 | rows
  uint32_t child_pid = 0;
  uint64_t child_started = 0;
  uint64_t quota = 0;
  uint32_t overflow = 0;
  uint64_t input_bytes = 0;
  uint64_t end = 0;
  uint32_t holder_pid = 0;  // 0: it is gone
  std::string fallback_reason;

  std::string encode() const;
  static std::optional<HeadMessage> decode(std::string_view payload);
};

std::string encode_marks(const std::vector<journal::Mark>& marks);
bool decode_marks(Decoder& in, std::vector<journal::Mark>& marks);

}  // namespace ttyward::relay
