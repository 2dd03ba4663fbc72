// Operating system commands: which file handles which number.
#include <optional>

#include "vt/osc/fields.h"
#include "vt/screen.h"

namespace ttyward::vt {

void Screen::osc_dispatch(std::string_view data, Terminator terminator, uint64_t begin, uint64_t end) {
  last_char_ = 0;
  const std::string_view number = data.substr(0, data.find(';'));
  const std::optional<int> code = parse_number(number);
  if (!code) return;
  const std::string_view rest = data.substr(std::min(data.size(), number.size() + 1));
  switch (*code) {
    case 0:
    case 1:
    case 2:
      osc_title(*code, rest);
      break;
    case 4:
    case 5:
      osc_palette(*code, rest, terminator);
      break;
    case 7:
      osc_cwd(rest);
      break;
    case 8:
      osc_hyperlink(rest);
      break;
    case 9:
      osc_conemu(rest);
      break;
    case 10:
    case 11:
    case 12:
      osc_default_color(*code, rest, terminator);
      break;
    case 52:
      osc_clipboard(rest);
      break;
    case 99:
      osc_kitty_notify(rest);
      break;
    case 104:
      osc_reset_palette(rest);
      break;
    case 105:
      osc_reset_special(rest);
      break;
    case 110:
    case 111:
    case 112:
      osc_reset_default_color(*code);
      break;
    case 133:
      osc_shell_mark(ShellMark::Protocol::Osc133, rest, begin, end);
      break;
    case 633:
      osc_shell_mark(ShellMark::Protocol::Osc633, rest, begin, end);
      break;
    case 777:
      osc_notify(rest);
      break;
    case 1337:
      osc_iterm(rest);
      break;
    default:
      break;  // 22, 66, 3008 and whatever else: swallowed
  }
}

}  // namespace ttyward::vt
