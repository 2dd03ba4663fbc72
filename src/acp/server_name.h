// What our MCP server is called in an agent's sessions.
//
// An agent names the tools of an MCP server after the server, and asks permission by those names. Permission
// for our tools is given without a question, because the daemon judges every command that comes through them.
// So no other server may have our name. A project's own settings can add one called "ttyward"; they cannot
// add one whose name they do not know. It is made once and kept in the state folder, so that what an agent
// remembers about our tools stays true.
#pragma once

#include <string>

#include "base/folders.h"
#include "base/result.h"

namespace ttyward::acp {

// "ttyward" and eight characters that were chosen at random. Letters and digits only: some agents split the
// names of tools at other characters.
base::Result<std::string> server_name(const base::Folders& folders);

}  // namespace ttyward::acp
