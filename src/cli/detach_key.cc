#include "cli/detach_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "vt/input_encoder.h"

namespace ttyward::cli {

base::Result<DetachKey> DetachKey::named(const std::string& keys) {
  DetachKey out;
  out.name_ = keys;
  std::istringstream words(keys);
  for (std::string word; words >> word;) {
    auto key = vt::parse_key(word);
    if (!key) return tl::unexpected(key.error());
    vt::KeyboardState plain;
    vt::KeyboardState kitty;
    kitty.kitty_flags = vt::KittyFlags::kDisambiguate;
    vt::KeyboardState other;
    other.modify_other_keys = 2;
    std::vector<std::string> forms;
    for (const vt::KeyboardState& state : {plain, kitty, other}) {
      std::string bytes = vt::encode_key(*key, state);
      if (!bytes.empty() && std::find(forms.begin(), forms.end(), bytes) == forms.end())
        forms.push_back(std::move(bytes));
    }
    out.keys_.push_back(std::move(forms));
  }
  if (out.keys_.empty()) {
    return base::fail(base::ErrorCode::InvalidArgument,
                      fmt::format("'{}' is not a key: write one as for send --keys, such as C-]", keys));
  }
  return out;
}

size_t DetachKey::matches(std::string_view bytes) const {
  for (const std::string& form : keys_[seen_]) {
    if (bytes.substr(0, form.size()) == form) return form.size();
  }
  return 0;
}

DetachKey::Typed DetachKey::feed(std::string_view bytes) {
  Typed typed;
  while (!bytes.empty()) {
    if (const size_t length = matches(bytes); length > 0) {
      held_ += bytes.substr(0, length);
      bytes.remove_prefix(length);
      if (++seen_ < keys_.size()) continue;
      seen_ = 0;
      held_.clear();
      typed.detach = true;
      typed.rest = bytes;
      return typed;
    }
    const bool may_begin_anew = seen_ > 0;
    typed.for_program += std::exchange(held_, {});
    seen_ = 0;
    if (may_begin_anew) continue;
    typed.for_program += bytes.front();
    bytes.remove_prefix(1);
  }
  return typed;
}

}  // namespace ttyward::cli
