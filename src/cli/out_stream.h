// Our standard output, written without ever blocking the command.
//
// Bytes queue here and go out as the reader takes them. The owner looks at
// `waiting` to decide whether to go on reading the command's journal: the journal
// keeps what nobody has read yet, so a slow reader costs neither memory nor bytes.
#pragma once

#include <string>
#include <string_view>

namespace ttyward::cli {

class OutStream {
 public:
  // Beyond this no more should be queued; the reader is slow.
  static constexpr size_t kEnough = 1 << 20;

  void write(std::string_view bytes) { queue_ += bytes; }
  // Writes what can be written now. False once the reader is gone.
  bool flush();
  size_t waiting() const { return queue_.size() - done_; }
  bool is_gone() const { return gone_; }

 private:
  bool write_some();

  std::string queue_;
  size_t done_ = 0;
  bool gone_ = false;
};

}  // namespace ttyward::cli
