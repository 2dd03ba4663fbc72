// What a jq (or yq) filter reaches besides its input.
//
// Splits the filter into tokens; the code inside strings, "\(…)", counts. Total: every text has an answer.
#pragma once

#include <string_view>

namespace ttyward::policy::special {

struct JqFilter {
  bool understood = true;
  bool reads_environment = false;  // env, $ENV, strenv
  bool loads_files = false;        // import, include, load, input from elsewhere

  bool operator==(const JqFilter&) const = default;
};

JqFilter read_jq_filter(std::string_view text);

}  // namespace ttyward::policy::special
