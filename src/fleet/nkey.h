// NKeys: Ed25519 keys in the text form that NATS uses.
#pragma once

#include <string>

#include "base/result.h"

namespace ttyward::fleet {

// Of a file that contains a user's seed ("SU…").
base::Result<std::string> public_nkey_of_file(const std::string& file);
// Writes a new user's seed to a file that must not exist, and returns the public key ("U…").
base::Result<std::string> make_nkey_file(const std::string& file);

}  // namespace ttyward::fleet
