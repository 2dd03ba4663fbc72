// OSC 8: hyperlinks. https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda
#include "vt/osc/fields.h"
#include "vt/screen.h"

namespace ttyward::vt {

void Screen::osc_hyperlink(std::string_view data) {
  const size_t split = data.find(';');
  if (split == std::string_view::npos) return;
  std::string_view id;
  for (const std::string_view param : split_fields(data.substr(0, split), ':')) {
    if (param.starts_with("id=")) id = param.substr(3);
  }
  const std::string uri = printable(data.substr(split + 1), LinkTable::kMaxUriBytes + 1);
  if (!uri.empty() && links_.is_full()) collect_links();
  pen_.link = links_.intern(printable(id, LinkTable::kMaxIdBytes + 1), uri);
  pen_changed();
}

}  // namespace ttyward::vt
