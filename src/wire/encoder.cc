#include "wire/encoder.h"

#include "base/base64.h"
#include "base/rfc3339.h"

namespace ttyward::wire {

void Encoder::name(std::string_view name) {
  if (!std::exchange(first_, false)) out_ += ',';
  out_ += '"';
  out_ += name;  // ours: nothing in it needs escaping
  out_ += "\":";
}

void Encoder::null(std::string_view name) {
  if (nulls_ == Nulls::LeaveOut) return;
  this->name(name);
  out_ += "null";
}

void Encoder::put(const Time& value) {
  quoted(base::rfc3339(value.ms));
}

void Encoder::put(const Bytes& value) {
  quoted(base::to_base64(value.bytes));
}

void Encoder::put(const Variables& value) {
  out_ += '{';
  bool first = true;
  for (const std::string_view entry : value.entries) {
    const size_t at = std::min(entry.find('='), entry.size());
    if (!std::exchange(first, false)) out_ += ',';
    quoted(entry.substr(0, at));
    out_ += ':';
    quoted(entry.substr(std::min(at + 1, entry.size())));
  }
  out_ += '}';
}

void Encoder::put(const NumberOrName& value) {
  std::visit([this](const auto& each) { write(each); }, value);
}

}  // namespace ttyward::wire
