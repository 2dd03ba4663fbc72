// Questions about the processes, files and ports of a place, and their answers, to and from bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "place/place.h"

namespace ttyward::relay {

std::string ask_process(pid_t pid, uint32_t parts);
std::string ask_descendants(pid_t root);
std::string ask_ports(std::span<const pid_t> pids);
std::string ask_left_behind(const place::LeftBehindQuery& query);
std::string ask_file(const std::string& path);
std::string ask_text(const std::string& path, size_t most);
std::string ask_program(const std::string& name, const std::string& search);

// The answer of `place`, which answers at once. Empty: that is no question.
std::string answer(const place::Place& place, std::string_view question);

std::optional<place::ProcessFacts> process_in(std::string_view answer);
std::optional<place::Place::Stats> descendants_in(std::string_view answer);
std::optional<place::Place::Ports> ports_in(std::string_view answer);
place::LeftBehind left_behind_in(std::string_view answer);
base::Result<place::FileKind> file_in(std::string_view answer);
base::Result<std::string> text_in(std::string_view answer);
std::string program_in(std::string_view answer);

}  // namespace ttyward::relay
