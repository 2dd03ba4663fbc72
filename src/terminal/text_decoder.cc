#include "terminal/text_decoder.h"

#include <uchardet/uchardet.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/utf8.h"

namespace ttyward::terminal {

namespace {

// C0 controls that no text has, NUL aside: all but BEL to SI and ESC.
bool is_strange(uint8_t byte) {
  return (byte > 0 && byte < 0x07) || (byte > 0x0F && byte < 0x20 && byte != 0x1B);
}

// Its letters share their bytes with those of Western Europe, and of a few words the detector knows only the
// bytes.
bool is_central_european(std::string_view name) {
  return name == "ISO-8859-2" || name == "ISO-8859-16" || name == "WINDOWS-1250" || name == "ISO-8859-3" ||
         name == "ISO-8859-4" || name == "ISO-8859-10" || name == "ISO-8859-13" || name == "WINDOWS-1257";
}

bool is_letter(uint8_t byte) {
  return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') || byte >= 0xC0;
}

// Whether it makes sense as Latin-1: that has signs where the others have letters (a superscript three for a
// Polish l), and signs do not stand inside words.
bool reads_as_western(std::string_view sample) {
  for (size_t i = 0; i < sample.size(); i++) {
    const auto byte = static_cast<uint8_t>(sample[i]);
    if (byte < 0x80 || byte >= 0xC0) continue;
    if (byte < 0xA0) return false;  // controls in Latin-1
    const bool after = i > 0 && is_letter(static_cast<uint8_t>(sample[i - 1]));
    const bool before = i + 1 < sample.size() && is_letter(static_cast<uint8_t>(sample[i + 1]));
    if (after && before) return false;
  }
  return true;
}

constexpr size_t kFewestForNuls = 32;  // a tenth of less than that is no evidence
constexpr size_t kFewestForStrange = 256;

}  // namespace

bool BinarySniffer::look(std::string_view bytes) {
  if (source_ == Source::Shell) return false;
  const size_t sample = source_ == Source::Pipe ? kSample : kTerminalSample;
  for (size_t i = 0; i < bytes.size() && seen_ < sample && !binary_; i++) {
    const auto byte = static_cast<uint8_t>(bytes[i]);
    if (seen_ == 0) first_ = byte;
    if (seen_ == 1) utf16_ = (first_ == 0xFF && byte == 0xFE) || (first_ == 0xFE && byte == 0xFF);
    seen_++;
    if (utf16_) continue;
    nuls_ += byte == 0 ? 1 : 0;
    strange_ += is_strange(byte) ? 1 : 0;
    if (source_ == Source::Pipe) {
      binary_ = nuls_ > 0;
    } else {
      binary_ = (seen_ >= kFewestForNuls && nuls_ * 10 > seen_) ||
                (seen_ >= kFewestForStrange && strange_ * 32 > seen_);
    }
  }
  return binary_;
}

TextDecoder::~TextDecoder() {
  if (converting_) ::iconv_close(converter_);
}

// How many of the bytes are UTF-8; an unfinished character at the end counts.
size_t TextDecoder::valid_prefix(std::string_view bytes) {
  size_t at = 0;
  while (at < bytes.size()) {
    // Eight at a time while it is ASCII.
    constexpr uint64_t kHighBits = 0x8080808080808080;
    uint64_t word = kHighBits;
    if (at + sizeof word <= bytes.size()) std::memcpy(&word, bytes.data() + at, sizeof word);
    if ((word & kHighBits) == 0) {
      at += sizeof word;
      continue;
    }
    const auto first = static_cast<uint8_t>(bytes[at]);
    if (first < 0x80) {
      at++;
      continue;
    }
    const base::Utf8Lead lead = base::utf8_lead(first);
    if (lead.following == 0) return at;
    uint8_t low = lead.low;
    uint8_t high = lead.high;
    for (size_t i = 1; i <= lead.following; i++) {
      if (at + i == bytes.size()) return bytes.size();
      const auto byte = static_cast<uint8_t>(bytes[at + i]);
      if (byte < low || byte > high) return at;
      low = 0x80;
      high = 0xBF;
    }
    at += lead.following + 1u;
  }
  return at;
}

void TextDecoder::guess(std::string_view bytes) {
  sample_.append(bytes.substr(0, kSampleBytes - std::min(kSampleBytes, sample_.size())));
  // A guess costs a look at the whole sample: the next one is made when there is twice as much to see.
  if (sample_.size() < next_guess_) return;
  next_guess_ = sample_.size() < kSampleBytes ? std::min(kSampleBytes, 2 * sample_.size()) : kSampleBytes + 1;
  uchardet_t detector = uchardet_new();
  uchardet_handle_data(detector, sample_.data(), sample_.size());
  uchardet_data_end(detector);
  std::string name = uchardet_get_charset(detector);
  uchardet_delete(detector);
  if (is_central_european(name) && reads_as_western(sample_)) name = "ISO-8859-1";
  if (name.empty() || name == "ASCII" || name == "UTF-8") {
    encoding_ = "unknown";
    return;
  }
  converter_ = ::iconv_open("UTF-8", name.c_str());
  if (converter_ == reinterpret_cast<iconv_t>(-1)) {
    encoding_ = "unknown";
    return;
  }
  converting_ = true;
  encoding_ = name;
}

std::string_view TextDecoder::decode(std::string_view bytes, std::string_view ahead) {
  if (!converting_) {
    std::string joined;
    if (!pending_.empty()) {
      joined = pending_ + std::string(bytes);
      pending_.clear();
      bytes = joined;
    }
    const size_t valid = valid_prefix(bytes);
    if (valid == bytes.size()) {
      note_passed(bytes);
      // The screen's own decoder would wait too; but a guess made later needs the whole character.
      size_t whole = bytes.size();
      for (size_t back = 1; back <= 3 && back <= bytes.size(); back++) {
        const auto byte = static_cast<uint8_t>(bytes[bytes.size() - back]);
        if ((byte & 0xC0) == 0x80) continue;
        if (byte >= 0xC0 && base::utf8_lead(byte).following >= back) whole = bytes.size() - back;
        break;
      }
      pending_ = bytes.substr(whole);
      if (joined.empty()) return bytes.substr(0, whole);
      out_ = bytes.substr(0, whole);
      return out_;
    }
    guess(ahead.size() > bytes.size() ? ahead : bytes);
    out_ = bytes.substr(0, valid);
    if (!converting_) {
      out_ = bytes;
      return out_;
    }
    pending_ = bytes.substr(valid);
  } else {
    out_.clear();
    pending_ += bytes;
  }
  // Converts what is pending; a character that is not finished stays.
  char* in = pending_.data();
  size_t in_left = pending_.size();
  char buffer[4096];
  while (in_left > 0) {
    char* to = buffer;
    size_t to_left = sizeof buffer;
    const size_t done = ::iconv(converter_, &in, &in_left, &to, &to_left);
    const int error = done == static_cast<size_t>(-1) ? errno : 0;
    out_.append(buffer, sizeof buffer - to_left);
    if (error == EINVAL) break;  // unfinished
    if (error == EILSEQ) {
      base::append_utf8(out_, base::kReplacementCharacter);
      in++;
      in_left--;
    }
  }
  pending_.erase(0, pending_.size() - in_left);
  return out_;
}

std::string_view TextDecoder::finish() {
  out_.clear();
  if (!pending_.empty()) base::append_utf8(out_, base::kReplacementCharacter);
  pending_.clear();
  return out_;
}

}  // namespace ttyward::terminal
