// Reading JSON without exceptions, under the names that nearly every file here uses.
#pragma once

#include "rpc/json.h"

namespace ttyward::mcp {

namespace json = boost::json;

using rpc::array_at;
using rpc::flag_at;
using rpc::integer_at;
using rpc::is_null;
using rpc::member;
using rpc::object_at;
using rpc::text_at;
using rpc::text_or;
using rpc::view;

}  // namespace ttyward::mcp
