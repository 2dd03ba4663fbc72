// Which calls may be sent again when nobody knows whether the daemon saw them, by what their types say
// (wire/types/describe.h).
#pragma once

#include <string_view>

#include <boost/json/object.hpp>

namespace ttyward::wire {

bool repeatable(std::string_view call, const boost::json::object& args);
// Adds what makes a call repeatable that is not by itself.
void make_repeatable(std::string_view call, boost::json::object& args);

}  // namespace ttyward::wire
