// What is known beside the terminals themselves: folders that somebody wants in every PATH, and which
// sessions use which terminal.
//
// Kept in a file for the engine after us. One that cannot be read or written costs what is in it and nothing
// else. Thread rule: one thread.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace ttyward::engine {

// A directory somebody wants in every new terminal's PATH.
struct PathContribution {
  std::string contributor;
  std::string path;
  std::string description;
  bool prepend = false;
};

class Registry {
 public:
  struct Association {
    std::string session;
    std::string quality;
  };

  explicit Registry(std::string file) : file_(std::move(file)) {}
  void load();

  // In place of what the same contributor wanted before.
  void contribute_path(PathContribution contribution);
  bool remove_path(const std::string& contributor);
  const std::vector<PathContribution>& paths() const { return paths_; }
  // To the PATH among these variables.
  void add_paths(std::vector<std::string>& environment) const;

  base::Result<void> associate(const std::string& terminal_id, const std::string& session,
                               const std::string& quality);
  std::vector<Association> sessions_of(const std::string& terminal_id) const;
  bool used_by(const std::string& terminal_id, const std::string& session) const;
  void forget_terminal(const std::string& terminal_id);

 private:
  void save() const;

  const std::string file_;
  std::vector<PathContribution> paths_;
  std::multimap<std::string, Association> associations_;  // by terminal id
};

}  // namespace ttyward::engine
