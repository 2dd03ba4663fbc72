// The id of a JSON-RPC request. Two ids are the same if their values are: whoever answers or cancels a
// request may write the value differently, because its JSON library does.
#pragma once

#include <string>

namespace ttyward::acp {

class MessageId {
 public:
  // `json` is the id as it stands in the message.
  explicit MessageId(std::string json);

  // As its sender wrote it.
  const std::string& text() const { return text_; }

  bool operator==(const MessageId& other) const { return value_ == other.value_; }
  bool operator<(const MessageId& other) const { return value_ < other.value_; }

 private:
  std::string text_;
  std::string value_;
};

}  // namespace ttyward::acp
