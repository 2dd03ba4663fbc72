// Answers to what people ask when something surprised them.
#pragma once

#include <string>
#include <string_view>

namespace ttyward::cli::doctor {

// Empty if there is no such topic.
std::string_view explanation(std::string_view topic);
// a|b|c
std::string topic_names();

}  // namespace ttyward::cli::doctor
