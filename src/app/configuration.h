// The settings that hold, what people confirmed of them, and what follows for the engine and the gate.
//
// Thread rule: the loop's thread.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "base/folders.h"
#include "config/load.h"
#include "engine/settings.h"
#include "gate/confirmations.h"
#include "gate/gate.h"
#include "io/log.h"

namespace ttyward::app {

// Where we run, and how: constant while the process lives.
struct Installation {
  base::Folders folders;
  std::string hold_program;  // the path of ttyward-hold
  std::string version;
  mode_t user_umask = 022;  // of the process that started the daemon; commands get it
};

class Configuration {
 public:
  // Reads the files. At the first start it records what they loosen as confirmed, and it notes what is looser
  // than at the last start.
  Configuration(Installation installation, io::Log& log);

  // Reads the files again.
  void load();
  const config::Loaded& loaded() const { return loaded_; }
  const config::Settings& settings() const { return loaded_.settings; }
  // What is wrong with the files, in words.
  std::vector<std::string> errors() const;
  // What could not be done at the start.
  const std::vector<std::string>& warnings() const { return warnings_; }
  // What a person has to know about settings that loosen policy.
  std::vector<std::string> notices() const;

  const base::Folders& folders() const { return installation_.folders; }
  gate::Confirmations& confirmations() { return confirmations_; }
  const gate::ConfirmedConfig& confirmed() const { return confirmed_; }

  engine::Settings engine_settings() const;
  gate::GateSettings gate_settings() const;

 private:
  void raise_file_limit();
  void confirm_first_start();
  void compare_with_last_start();

  const Installation installation_;
  io::Log& log_;
  gate::Confirmations confirmations_;
  gate::ConfirmedConfig confirmed_;  // without `loaded`, which is loaded_
  config::Loaded loaded_;
  std::vector<gate::LoosenedSetting> looser_than_last_;
  std::vector<std::string> warnings_;
  rlimit user_files_{};
};

}  // namespace ttyward::app
