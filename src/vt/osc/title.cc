// OSC 0, 1, 2: window and icon titles.
#include "vt/osc/fields.h"
#include "vt/screen.h"

namespace ttyward::vt {

void Screen::osc_title(int code, std::string_view text) {
  const std::string title = printable(text, kMaxTitleBytes);
  if (code != 2) icon_title_ = title;
  if (code == 1 || title == title_) return;
  title_ = title;
  report(TitleChanged{title_});
}

}  // namespace ttyward::vt
