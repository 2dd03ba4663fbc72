// One line of text to a JSON object, within the limits of the protocol.
#pragma once

#include <string>
#include <string_view>

#include <boost/json/object.hpp>
#include <tl/expected.hpp>

namespace ttyward::wire {

// The error is a sentence for whoever sent the text.
tl::expected<boost::json::object, std::string> parse_object(std::string_view line);

}  // namespace ttyward::wire
