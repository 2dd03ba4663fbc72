// Telling a person who looks elsewhere that something waits for them: the terminal's bell, and a
// notification of the desktop ([notify] in the configuration).
//
// The desktop is told by notify-send where that program and a session bus are there; otherwise the
// terminal is asked to do it (OSC 9, or OSC 777 for those that have only that). Nothing here waits.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.h"
#include "pty/child.h"

namespace ttyward::cli {

class Notifier {
 public:
  using Variable = std::function<std::string(const char* name)>;
  // `variable` tells of our environment.
  Notifier(config::NotifySettings settings, Variable variable);
  explicit Notifier(config::NotifySettings settings);

  // Returns what the terminal is to be sent: control sequences only.
  std::string tell(const std::string& title, const std::string& text);

 private:
  bool tell_desktop(const std::string& title, const std::string& text);

  config::NotifySettings settings_;
  Variable variable_;
  std::vector<pty::Child> told_;  // programs that may not have ended yet
};

// The sequence that asks a terminal for a notification. Text is made harmless and short.
std::string notification_sequence(const Notifier::Variable& variable, std::string_view title,
                                  std::string_view text);

}  // namespace ttyward::cli
