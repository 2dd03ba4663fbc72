// Recordings on the command line: made from what the daemon has kept, or read from an asciicast.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "base/result.h"
#include "cli/target.h"
#include "client/session.h"
#include "record/recording.h"

namespace ttyward::cli {

// What `word` names: a terminal or a command. Markers say where commands begin and what people decided.
tl::expected<record::Recording, client::CallFailure> fetch_recording(client::Session& daemon,
                                                                     const std::string& word);
// Of the newest command that the caller may read.
tl::expected<record::Recording, client::CallFailure> fetch_last_recording(client::Session& daemon);

// Whether `word` means a file rather than a terminal: it has a slash, or ends with .cast.
bool names_cast(std::string_view word);
base::Result<record::Recording> read_cast(const std::string& file);

// A recording that is to be shown, from wherever `word` says; empty: the last one. `use` returns the exit
// code.
int with_recording(const char* verb, const std::string& word,
                   const std::function<int(record::Recording)>& use);

}  // namespace ttyward::cli
