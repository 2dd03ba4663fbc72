// What a terminal needs of the engine.
#pragma once

#include <functional>
#include <string>

#include "engine/command.h"
#include "engine/launcher.h"
#include "engine/places.h"
#include "engine/settings.h"
#include "engine/slices.h"
#include "io/loop.h"
#include "place/place.h"
#include "shell/quality.h"

namespace ttyward::engine {

class Terminal;

// Outlives every terminal.
struct TerminalHost {
  io::Loop& loop;
  Slices& slices;
  Launcher& launcher;
  const place::Place& place;  // where its terminals live
  const Settings& settings;
  int logs = -1;          // folder of terminal logs
  std::string logs_path;  // the same, by name: shells' private folders are in it
  std::string sockets;    // folder of the holders' sockets
  std::string journals;   // folder
  int journals_fd = -1;
  // A command's record is final, or changed for good.
  std::function<void(const Terminal&, const Command&)> on_record;
  std::function<void(const Terminal&, shell::Quality from, shell::Quality to, const std::string&)> on_quality;
  // A command's record goes: it is too long ago.
  std::function<void(const std::string& command_id)> on_command_forgotten;
  Places* places = nullptr;  // for terminals that live elsewhere
};

}  // namespace ttyward::engine
