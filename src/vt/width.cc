#include "vt/width.h"

#include <utf8proc.h>

namespace ttyward::vt {

#include "width_table.inc"  // generated at build time

bool GraphemeState::breaks_between(char32_t previous, char32_t next) {
  return utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(previous),
                                          static_cast<utf8proc_int32_t>(next), &state_);
}

bool can_be_emoji(char32_t code_point) {
  if (code_point == '#' || code_point == '*' || (code_point >= '0' && code_point <= '9')) return true;
  const utf8proc_property_t* property = utf8proc_get_property(static_cast<utf8proc_int32_t>(code_point));
  return property->boundclass == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC;
}

}  // namespace ttyward::vt
