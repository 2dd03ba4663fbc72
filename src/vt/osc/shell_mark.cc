// OSC 133 (FinalTerm semantic prompts) and OSC 633 (VS Code): where a command begins and ends.
//
// https://gitlab.freedesktop.org/Per_Bothner/specifications/blob/master/proposals/semantic-prompts.md
// https://code.visualstudio.com/docs/terminal/shell-integration
//
// The screen only says what was marked and where; whether to believe it is up to
// whoever knows the nonce.
#include "vt/osc/fields.h"
#include "vt/screen.h"

namespace ttyward::vt {

void Screen::osc_shell_mark(ShellMark::Protocol protocol, std::string_view data, uint64_t begin,
                            uint64_t end) {
  const auto fields = split_fields(data, ';');
  ShellMark mark;
  mark.protocol = protocol;
  mark.kind = printable(fields[0], 32);
  if (mark.kind.empty()) return;
  const bool is_133 = protocol == ShellMark::Protocol::Osc133;
  const bool fresh_line = is_133 && (mark.kind == "A" || mark.kind == "L" || mark.kind == "N");
  if (fresh_line && cursor_.col != left_) {
    carriage_return();
    index();
  }
  for (size_t i = 1; i < fields.size(); i++) {
    std::string field = is_133 ? std::string(fields[i]) : unescape_633(fields[i]);
    const size_t equals = field.find('=');
    if (equals != std::string::npos && (is_133 || mark.kind == "P")) {
      mark.options.emplace_back(field.substr(0, equals), field.substr(equals + 1));
    }
    mark.fields.push_back(std::move(field));
  }
  if (mark.kind == "D" && fields.size() > 1) mark.exit_code = parse_number(fields[1]);
  mark.alternate = !on_main();
  mark.row = top_row_ + static_cast<StableRow>(cursor_.row);
  mark.col = cursor_.col;
  mark.begin = begin;
  mark.end = end;
  if (on_main()) {
    Row& row = here();
    if (mark.kind == "A" || mark.kind == "P") row.set(is_133 || mark.kind == "A" ? Row::kPromptStart : 0);
    if (mark.kind == "B") row.set(Row::kInputStart);
    if (mark.kind == "C") row.set(Row::kOutputStart);
    if (mark.kind == "D") row.set(Row::kCommandEnd);
  }
  report(std::move(mark));
}

}  // namespace ttyward::vt
