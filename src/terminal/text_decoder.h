// Bytes of a program to UTF-8: is it text at all, and in which encoding.
//
// Binary is decided on the first 4 KiB and then stands. Text is taken as UTF-8
// until a byte says otherwise; then the encoding is guessed from what has been
// seen, and from that byte on everything is converted, statefully, so that a
// character split over two reads arrives whole. Where no guess can be made the
// bytes pass as they are (the screen shows U+FFFD) and the encoding is unknown.
#pragma once

#include <iconv.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace ttyward::terminal {

// Binary if a NUL is among the first 4 KiB of a pipe. On a terminal programs pad with NULs now and then:
// there more than a tenth of the first 512 bytes must be NUL, or more than a thirty-second of at least 256
// bytes control characters that neither text nor escape sequences have. What begins with the byte order mark
// of UTF-16 is text, for all its NULs. Decided byte by byte, so it does not matter how the bytes come in.
class BinarySniffer {
 public:
  // Shell: a terminal that stays open; whatever one of its commands printed first says nothing of the rest.
  enum class Source : uint8_t { Pipe, Terminal, Shell };
  static constexpr size_t kSample = 4096;
  static constexpr size_t kTerminalSample = 512;

  explicit BinarySniffer(Source source) : source_(source) {}
  // Looks at the next bytes; true once the output is known to be binary.
  bool look(std::string_view bytes);
  bool is_binary() const { return binary_; }
  bool is_utf16() const { return utf16_; }

 private:
  Source source_;
  bool utf16_ = false;
  uint8_t first_ = 0;
  size_t seen_ = 0;
  size_t nuls_ = 0;
  size_t strange_ = 0;
  bool binary_ = false;
};

class TextDecoder {
 public:
  TextDecoder() = default;
  TextDecoder(const TextDecoder&) = delete;
  TextDecoder& operator=(const TextDecoder&) = delete;
  ~TextDecoder();

  // Whether ASCII passes as it is: then it need not be decoded, only noted.
  bool passes_ascii() const { return !converting_ && pending_.empty(); }
  void note_passed(std::string_view bytes) {
    if (sample_.size() < kSampleBytes) sample_.append(bytes.substr(0, kSampleBytes - sample_.size()));
  }
  // How many of the next bytes decode() would hand on as they are; 0 where characters are converted.
  size_t passes(std::string_view bytes) const {
    return converting_ || !pending_.empty() ? 0 : valid_prefix(bytes);
  }
  // Bytes of an unfinished character, taken and not handed on.
  size_t pending() const { return pending_.size(); }

  // UTF-8 for the next bytes; what it returns is valid until the next call. `ahead` begins with these bytes
  // and has more: a guess is made from all of it.
  std::string_view decode(std::string_view bytes, std::string_view ahead = {});

  // End of input: returns the replacement for an incomplete character, if there is one.
  std::string_view finish();

  // "UTF-8", a name iconv knows, or "unknown".
  const std::string& encoding() const { return encoding_; }

 private:
  static constexpr size_t kSampleBytes = 64 * 1024;  // what a guess is made from, at most

  void guess(std::string_view bytes);
  static size_t valid_prefix(std::string_view bytes);

  std::string encoding_ = "UTF-8";
  iconv_t converter_ = reinterpret_cast<iconv_t>(-1);
  bool converting_ = false;
  size_t next_guess_ = 0;  // size of the sample
  std::string sample_;
  std::string pending_;  // an unfinished character
  std::string out_;
};

}  // namespace ttyward::terminal
