#include "acp/plain_text.h"

#include <algorithm>
#include <string>

#include "base/utf8.h"

namespace ttyward::acp {
namespace {

// A longer line is handed out as it comes: nobody draws over it.
constexpr size_t kLongestLine = 64 << 10;
constexpr size_t kSlack = 64 << 10;  // what is dropped is removed in pieces of this size

std::string utf8(std::u32string_view points) {
  std::string out;
  for (const char32_t point : points) base::append_utf8(out, point);
  return out;
}

}  // namespace

struct PlainText::Sink {
  PlainText& to;

  void print_ascii(const uint8_t* text, size_t n) {
    for (size_t i = 0; i < n; i++) to.put(text[i]);
  }
  void print_text(const char32_t* text, size_t n) {
    for (size_t i = 0; i < n; i++) to.put(text[i]);
  }
  void execute(uint8_t control) {
    if (control == '\n') {
      to.end_line();
    } else if (control == '\r') {
      to.column_ = 0;
    } else if (control == '\b') {
      to.column_ -= std::min<size_t>(to.column_, 1);
    } else if (control == '\t') {
      to.put('\t');
    }
  }
  void esc_dispatch(const vt::Sequence&) {}
  void csi_dispatch(const vt::Sequence& sequence) {
    if (sequence.prefix != 0 || sequence.intermediates[0] != 0) return;
    // What programs that draw over a line use; everything else moves about a screen, which text has not.
    const auto count = static_cast<size_t>(sequence.params.get(0, 1));
    if (sequence.final == 'K') {
      const int which = sequence.params[0];
      if (which == 2) to.line_.assign(to.column_, U' ');
      if (which == 0) to.line_.resize(std::min(to.line_.size(), to.column_));
    } else if (sequence.final == 'G') {
      to.column_ = std::min(count - 1, kLongestLine);
    } else if (sequence.final == 'D') {
      to.column_ -= std::min(to.column_, count);
    } else if (sequence.final == 'C') {
      to.column_ = std::min(to.column_ + count, kLongestLine);
    }
  }
  void osc_dispatch(std::string_view, vt::Terminator, uint64_t, uint64_t) {}
  void dcs_dispatch(const vt::Sequence&, std::string_view) {}
};

void PlainText::feed(std::string_view bytes) {
  Sink sink{*this};
  parser_.feed(bytes, sink);
}

void PlainText::put(char32_t point) {
  if (column_ > line_.size()) line_.resize(column_, U' ');
  if (column_ < line_.size()) {
    line_[column_] = point;
  } else {
    line_.push_back(point);
  }
  column_++;
  if (line_.size() < kLongestLine) return;
  settle();
  line_.clear();
  handed_.clear();
  column_ = 0;
}

void PlainText::settle() {
  const std::string now = utf8(line_);
  if (now == handed_) return;
  if (now.starts_with(handed_)) {
    hand_out(std::string_view(now).substr(handed_.size()));
  } else {
    hand_out("\n");
    lines_++;
    hand_out(now);
  }
  handed_ = now;
}

void PlainText::end_line() {
  settle();
  hand_out("\n");
  lines_++;
  line_.clear();
  handed_.clear();
  column_ = 0;
}

void PlainText::skip() {
  parser_ = vt::Parser();
  line_.clear();
  handed_.clear();
  column_ = 0;
  text_.clear();
  begin_ = 0;
  truncated_ = true;
}

void PlainText::hand_out(std::string_view text) {
  text_ += text;
  trim();
}

void PlainText::trim() {
  if (text_.size() - begin_ <= limit_) return;
  truncated_ = true;
  begin_ = text_.size() - limit_;
  while (begin_ < text_.size() && (static_cast<unsigned char>(text_[begin_]) & 0xC0) == 0x80) begin_++;
  if (begin_ < kSlack + limit_ / 4) return;
  text_.erase(0, begin_);
  begin_ = 0;
}

void PlainText::shrink(size_t limit) {
  limit_ = std::min(limit_, limit);
  trim();
  text_.erase(0, begin_);
  text_.shrink_to_fit();
  begin_ = 0;
}

std::string PlainText::take() {
  std::string out(text());
  text_.clear();
  begin_ = 0;
  return out;
}

std::string_view PlainText::text() const {
  return std::string_view(text_).substr(begin_);
}

}  // namespace ttyward::acp
