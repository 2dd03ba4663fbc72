// Names in a folder that nobody in a sandbox may create, although they do not exist.
//
// A mount needs something to be mounted on. So an empty folder stands at such a name while a sandbox uses it,
// and is removed afterwards. It is a folder even where programs expect a file: version control ignores empty
// folders. Each sandbox holds a shared lock on it; the last one removes it. One that was left behind
// because a machine crashed is recognised by its mode, and removed by the next sandbox.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace ttyward::sandbox {

class Placeholders {
 public:
  Placeholders() = default;
  Placeholders(Placeholders&&) = default;
  Placeholders& operator=(Placeholders&&) = default;
  ~Placeholders() { remove(); }

  // Makes sure that something is at `path`, whose parent exists. An Error with ErrorCode::Unsupported: it is
  // a symbolic link, which cannot be protected; NotFound: it has no parent.
  base::Result<void> ensure(const std::string& path);
  void remove();
  // The folders that stand for something that does not exist.
  const std::vector<std::string>& paths() const { return paths_; }
  // Removes one whose holder was killed, if there is one at `path` and no sandbox uses it.
  static void remove_left_behind(const std::string& path);

 private:
  struct Item {
    base::UniqueFd parent;
    std::string name;
    base::UniqueFd lock;
    bool ours = false;
  };
  base::Result<bool> try_once(const std::string& path);
  static void remove_one(const Item& item);

  std::vector<Item> items_;
  std::vector<std::string> paths_;
};

}  // namespace ttyward::sandbox
