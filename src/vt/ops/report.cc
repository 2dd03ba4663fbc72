// Questions programs ask, the answers, and resets.
//
// Answers never contain anything the program wrote: a title or clipboard that
// comes back as if typed would let whoever printed it type commands.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/hex.h"
#include "vt/screen.h"
#include "vt/sgr_text.h"

namespace ttyward::vt {
namespace {

// Cell size in pixels that pixel questions are answered with; nothing is really drawn.
constexpr int kCellWidth = 10;
constexpr int kCellHeight = 20;

std::string hex_encode(std::string_view text) {
  std::string out;
  for (const char c : text) out += fmt::format("{:02X}", static_cast<unsigned char>(c));
  return out;
}

std::optional<std::string> hex_decode(std::string_view hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  std::string out;
  for (size_t i = 0; i < hex.size(); i += 2) {
    const int byte = base::hex_byte(hex, i);
    if (byte < 0) return std::nullopt;
    out += static_cast<char>(byte);
  }
  return out;
}

struct Capability {
  std::string_view name;
  std::string_view value;  // empty: a flag that is simply true
};
constexpr Capability kCapabilities[] = {
    {"TN", "xterm-256color"},
    {"name", "xterm-256color"},
    {"Co", "256"},
    {"colors", "256"},
    {"RGB", "8/8/8"},
    {"Tc", ""},
    {"Su", ""},
    {"Smulx", "\033[4:%p1%dm"},
    {"Setulc", "\033[58:2::%p1%{65536}%/%d:%p1%{256}%/%{255}%&%d:%p1%{255}%&%d%;m"},
    {"Ss", "\033[%p1%d q"},
    {"Se", "\033[2 q"},
    {"Sync", "\033[?2026%?%p1%{1}%-%tl%eh%;"},
    {"XT", ""},
};

}  // namespace

void Screen::DA1_PrimaryAttributes(P p) {
  if (p[0] != 0) return;
  // VT420 with 132 columns, selective erase, horizontal scrolling, colour and rectangular editing.
  reply(options_.conformance ? "\033[?64;1;2;6;9;15;16;17;18;21;22;28c" : "\033[?64;1;6;21;22;28c");
}

void Screen::DECID_Identify(P) {
  DA1_PrimaryAttributes(Params());
}

void Screen::DA2_SecondaryAttributes(P p) {
  if (p[0] == 0) reply(options_.conformance ? "\033[>41;379;0c" : "\033[>41;10;0c");
}

void Screen::DA3_TertiaryAttributes(P p) {
  if (p[0] == 0) reply("\033P!|00000000\033\\");
}

void Screen::XTVERSION_Version(P p) {
  if (p[0] == 0) reply("\033P>|ttyward(" TTYWARD_VERSION ")\033\\");
}

void Screen::DSR_DeviceStatus(P p) {
  if (p[0] == 5) reply("\033[0n");
  if (p[0] != 6) return;
  const bool origin = modes_.has(Mode::Origin);
  reply(fmt::format("\033[{};{}R", cursor_.row - (origin ? top_ : 0) + 1,
                    cursor_.col - (origin ? left_ : 0) + 1));
}

void Screen::DECDSR_PrivateDeviceStatus(P p) {
  const bool origin = modes_.has(Mode::Origin);
  switch (p[0]) {
    case 6:
      // DECXCPR: a VT420 names the page, too, of which there is one.
      reply(fmt::format("\033[?{};{}{}R", cursor_.row - (origin ? top_ : 0) + 1,
                        cursor_.col - (origin ? left_ : 0) + 1, conformance_level_ >= 64 ? ";1" : ""));
      break;
    case 15:
      reply("\033[?13n");
      break;  // no printer
    case 25:
      reply("\033[?20n");
      break;  // user-defined keys are unlocked
    case 26:
      reply("\033[?27;1;0;0n");
      break;  // North American keyboard
    case 53:
    case 55:
      reply("\033[?50n");
      break;  // no locator
    case 56:
      reply("\033[?57;0n");
      break;
    case 62:
      reply("\033[0*{");
      break;  // no space for macros
    case 63:
      reply(fmt::format("\033P{}!~0000\033\\", p[1]));
      break;
    case 75:
      reply("\033[?70n");
      break;  // data integrity: ready
    case 85:
      reply("\033[?83n");
      break;  // one session
    case 996:
      reply("\033[?997;1n");
      break;  // a dark colour scheme
    default:
      break;
  }
}

// 0: not known, 1: set, 2: reset, 4: never set.
int Screen::mode_report(uint16_t number, bool dec) const {
  if (const ModeRow* row = find_mode(number, dec)) return modes_.has(row->mode) ? 1 : 2;
  return is_permanently_reset(number, dec) ? 4 : 0;
}

// A VT220 (DECSCL 62) does not know the question.
void Screen::DECRQM_RequestMode(P p) {
  if (conformance_level_ >= 63) reply(fmt::format("\033[{};{}$y", p[0], mode_report(p[0], false)));
}

void Screen::DECRQM_RequestPrivateMode(P p) {
  if (conformance_level_ >= 63) reply(fmt::format("\033[?{};{}$y", p[0], mode_report(p[0], true)));
}

void Screen::DECREQTPARM_TerminalParameters(P p) {
  if (p[0] <= 1) reply(fmt::format("\033[{};1;1;128;128;1;0x", p[0] + 2));
}

// Columns per page: 80 or 132. Lines per screen: a VT420 has some sizes, xterm takes any of these.
void Screen::DECSCPP_ColumnsPerPage(P p) {
  const int cols = p.get(0, 80);
  if (cols == 80 || cols == 132) request_size(cols, grid_->rows());
}

void Screen::DECSNLS_LinesPerScreen(P p) {
  constexpr int kMost = 255;
  const int rows = p.get(0, grid_->rows());
  if (rows >= 1 && rows <= kMost) request_size(grid_->cols(), rows);
}

void Screen::request_size(int cols, int rows) {
  if (options_.conformance) {
    resize(cols, rows);
  } else {
    report(ResizeRequested{cols, rows, ResizeRequested::By::Window});
  }
}

void Screen::report_size() {
  const int rows = grid_->rows();
  const int cols = grid_->cols();
  reply(fmt::format("\033[48;{};{};{};{}t", rows, cols, rows * kCellHeight, cols * kCellWidth));
}

void Screen::XTWINOPS_Window(P p) {
  const int rows = grid_->rows();
  const int cols = grid_->cols();
  switch (p[0]) {
    case 8:
      request_size(p.get(2, cols), p.get(1, rows));
      break;
    case 14:
      reply(fmt::format("\033[4;{};{}t", rows * kCellHeight, cols * kCellWidth));
      break;
    case 16:
      reply(fmt::format("\033[6;{};{}t", kCellHeight, kCellWidth));
      break;
    case 18:
      reply(fmt::format("\033[8;{};{}t", rows, cols));
      break;
    case 19:
      reply(fmt::format("\033[9;{};{}t", rows, cols));
      break;
    case 22:
      if (title_stack_.size() == kMaxTitleStack) title_stack_.erase(title_stack_.begin());
      title_stack_.emplace_back(title_, icon_title_);
      break;
    case 23:
      if (title_stack_.empty()) break;
      if (p[1] != 1) {
        title_ = title_stack_.back().first;
        report(TitleChanged{title_});
      }
      if (p[1] != 2) icon_title_ = title_stack_.back().second;
      title_stack_.pop_back();
      break;
    default:
      if (p[0] >= 24) request_size(cols, p[0]);  // DECSLPP
      break;
  }
}

void Screen::dcs_dispatch(const Sequence& s, std::string_view data) {
  if (s.key() == Sequence::key(0, '$', 0, 'q')) report_status_string(data);
  if (s.key() == Sequence::key(0, '+', 0, 'q')) report_terminfo(data);
}

// DECRQSS
void Screen::report_status_string(std::string_view what) {
  const auto valid = [&](const std::string& value) {
    reply("\033P1$r" + value + std::string(what) + "\033\\");
  };
  if (what == "m") return valid(sgr_text(pen_, ColorForm::Colons));
  if (what == "r") return valid(fmt::format("{};{}", top_ + 1, bottom_ + 1));
  if (what == "s") return valid(fmt::format("{};{}", left_ + 1, right_ + 1));
  if (what == "t") return valid(fmt::format("{}", grid_->rows()));
  if (what == "$|") return valid(fmt::format("{}", grid_->cols()));
  if (what == "*|") return valid(fmt::format("{}", grid_->rows()));
  if (what == "*x") return valid(fmt::format("{}", attribute_extent_));
  if (what == "$}" || what == "$~") return valid("0");  // there is no status line
  if (what == "\"p") return valid(fmt::format("{};1", conformance_level_));
  if (what == "\"q") return valid(pen_.has(Style::kProtected) ? "1" : "0");
  if (what == " q") {
    const int blink = modes_.has(Mode::CursorBlink) ? 0 : 1;
    return valid(fmt::format("{}", static_cast<int>(cursor_shape_) * 2 + 1 + blink));
  }
  reply("\033P0$r\033\\");
}

// XTGETTCAP: names in hexadecimal, each answered on its own.
void Screen::report_terminfo(std::string_view names) {
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(';'));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    const std::optional<std::string> decoded = hex_decode(name);
    const Capability* found = nullptr;
    for (const Capability& capability : kCapabilities) {
      if (decoded && capability.name == *decoded) found = &capability;
    }
    if (found == nullptr) {
      // Hexadecimal digits can do no harm when they come back; anything else is not repeated.
      reply(fmt::format("\033P0+r{}\033\\", decoded && name.size() <= 64 ? name : ""));
      continue;
    }
    std::string answer = "\033P1+r" + hex_encode(found->name);
    if (!found->value.empty()) answer += "=" + hex_encode(found->value);
    reply(answer + "\033\\");
  }
}

void Screen::DECSCL_ConformanceLevel(P p) {
  if (p[0] < 61 || p[0] > 65) return;
  reset_soft();
  conformance_level_ = std::min<int>(p[0], kHighestLevel);
}

void Screen::DECSTR_SoftReset(P) {
  reset_soft();
}

void Screen::reset_soft() {
  modes_.assign(Mode::CursorVisible, true);
  modes_.assign(Mode::Origin, false);
  modes_.assign(Mode::AutoWrap, true);
  modes_.assign(Mode::Insert, false);
  modes_.assign(Mode::KeyboardLock, false);
  modes_.assign(Mode::ApplicationCursorKeys, false);
  modes_.assign(Mode::ApplicationKeypad, false);
  modes_.assign(Mode::ReverseWrap, false);
  modes_.assign(Mode::ExtendedReverseWrap, false);
  modes_.assign(Mode::LeftRightMargins, false);
  reset_margins();
  pen_ = Style{};
  pen_changed();
  protection_ = Protection::Off;
  charset_ = {};
  side().saved = {};
  side().kitty.clear();
  modify_keys_ = {};
  update_plain();
}

void Screen::RIS_Reset(P) {
  reset_hard();
}

void Screen::reset_hard() {
  switch_screen(false);
  frozen_.reset();
  alternate_.reset();
  reset_soft();
  modes_ = ModeSet::initial();
  saved_modes_ = ModeSet::initial();
  main_.saved = {};
  main_.kitty.clear();
  attribute_extent_ = 0;
  conformance_level_ = kHighestLevel;
  cursor_shape_ = CursorShape::Block;
  tabs_.reset();
  title_.clear();
  icon_title_.clear();
  title_stack_.clear();
  style_stack_.clear();
  palette_ = {};
  progress_ = {};
  last_char_ = 0;
  move_to(0, 0);
  for (int r = 0; r < grid_->rows(); r++) grid_->clear(grid_->row(r), 0);
  scrollback_.clear();
  all_changed_ = seq_;
  touch_rows(0, grid_->rows() - 1);
}

}  // namespace ttyward::vt
