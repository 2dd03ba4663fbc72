// The files in a shell's private folder, by which it and we tell each other things.
//
//   next nonce   what the marks of the next command end with; blank once it was taken, so
//                that no program of the command finds it
//   typed        there while something was typed to a running command: what the command
//                leaves unread must not become the shell's next line
//   start files  what the shell reads while it starts; removed when it has started
//
// In another place they are written there, in order with what is typed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "relay/far_place.h"

namespace ttyward::engine {

class ShellFiles {
 public:
  explicit ShellFiles(std::string folder, std::vector<std::string> start_files = {},
                      const relay::FarPlace* far = nullptr)
      : folder_(std::move(folder)), start_files_(std::move(start_files)), far_(far) {}

  const std::string& folder() const { return folder_; }
  // Opens what the shell was given, or makes it.
  base::Result<void> open();
  bool is_open() const { return nonce_file_.valid() || open_there_; }

  void hand_over(const std::string& nonce);
  void blank(size_t nonce_bytes);

  void note_typed();
  // True: something had been noted.
  bool forget_typed();

  // To be removed when the shell has started, or has taken its hooks.
  void add_start_file(std::string path) { start_files_.push_back(std::move(path)); }
  void remove_start_files();
  void remove_all();

 private:
  std::string typed_path() const;
  void remove(const std::string& path) const;

  const std::string folder_;
  std::vector<std::string> start_files_;
  const relay::FarPlace* far_;  // null: on this machine
  base::UniqueFd nonce_file_;
  bool open_there_ = false;
  bool typed_ = false;
};

}  // namespace ttyward::engine
