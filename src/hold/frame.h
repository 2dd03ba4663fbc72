// Frames of the streams between holders, relays and those who use them:
// u32 length · u16 type · u16 channel · u32 tag · payload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hold/codec.h"

namespace ttyward::hold {

inline constexpr size_t kFrameHeaderBytes = 12;

template <typename Type>
struct FrameOf {
  Type type{};
  uint16_t channel = 0;  // which terminal's, where one stream carries several
  uint32_t tag = 0;      // chosen by who asks, repeated in the answer; 0 in events
  std::string payload;
};

template <typename Type>
std::string encode_frame(Type type, uint16_t channel, uint32_t tag, std::string_view payload) {
  return Encoder()
      .number(static_cast<uint32_t>(payload.size()))
      .number(static_cast<uint16_t>(type))
      .number(channel)
      .number(tag)
      .raw(payload.data(), payload.size())
      .take();
}

// Cuts frames out of a stream.
template <typename Type, uint32_t kLargest, uint16_t kHighestChannel>
class FrameReaderOf {
 public:
  void push(std::string_view bytes) { buffer_.append(bytes); }

  // The next whole frame; nullopt if there is none yet, or if broken().
  std::optional<FrameOf<Type>> next() {
    if (broken_) return std::nullopt;
    const std::string_view left = std::string_view(buffer_).substr(at_);
    Decoder header(left.substr(0, kFrameHeaderBytes));
    const auto size = header.template number<uint32_t>();
    FrameOf<Type> frame;
    frame.type = static_cast<Type>(header.template number<uint16_t>());
    frame.channel = header.template number<uint16_t>();
    frame.tag = header.template number<uint32_t>();
    if (header.ok() && (size > kLargest || frame.channel > kHighestChannel)) {
      broken_ = true;
      return std::nullopt;
    }
    if (!header.ok() || left.size() < kFrameHeaderBytes + size) {
      buffer_.erase(0, at_);
      at_ = 0;
      return std::nullopt;
    }
    frame.payload = left.substr(kFrameHeaderBytes, size);
    at_ += kFrameHeaderBytes + size;
    return frame;
  }

  // A header that no frame has: the stream cannot be trusted any more.
  bool broken() const { return broken_; }

 private:
  std::string buffer_;
  size_t at_ = 0;
  bool broken_ = false;
};

}  // namespace ttyward::hold
