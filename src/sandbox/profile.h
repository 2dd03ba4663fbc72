// Profiles, and the Plan that one makes of a folder and the user's settings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/plan.h"

namespace ttyward::sandbox {

struct Profile {
  enum class Kind : uint8_t {
    ReadOnly,      // nothing of the machine can be changed; no network
    Workspace,     // the workspace can be changed; no network
    WorkspaceNet,  // the same with network: the hosts that are listed, or all if none is
    None,          // not confined
  };
  Kind kind = Kind::None;
  Walls walls = Walls::Namespaces;
  std::string image;  // Walls::Container

  bool operator==(const Profile&) const = default;
  bool confines() const { return kind != Kind::None; }
};

// read-only, workspace, workspace+net, none; and the weaker read-only-landlock, workspace-landlock,
// workspace+net-landlock; container:IMAGE, where podman or docker runs the command in an image.
std::optional<Profile> profile_named(std::string_view name);
std::string profile_name(const Profile& profile);
// All names, with commas between them, for messages.
std::string profile_names();
// Whether `a` allows nothing that `b` does not.
bool is_as_strict(const Profile& a, const Profile& b);
// The stricter of both. Where they differ in kind and walls, it has the stricter of each.
Profile stricter(const Profile& a, const Profile& b);

// What the user's configuration adds to every profile but none.
struct Settings {
  std::vector<std::string> readable;     // folders and files; "~/" is the home folder
  std::vector<std::string> writable;     // in the workspace profiles
  std::vector<std::string> hidden;       // within what is visible
  std::vector<std::string> unprotected;  // control files of the workspace that may be changed
  std::vector<std::string> hosts;        // workspace+net: only these, through the proxy; empty: all
  Limits limits;                         // 0: the default
  bool unlimited_memory = false;

  bool operator==(const Settings&) const = default;
};

struct PlanRequest {
  Profile profile;
  std::string directory;  // where the command starts; absolute
  std::string workspace;  // empty: the repository of the directory, or the directory itself
  std::string home;
  std::string path;                      // the command's PATH: the programs there are shown
  std::vector<std::string> variables;    // NAME=value: tools and caches that some of them name are shown
  std::vector<std::string> own_folders;  // ttyward's own: never visible
  std::vector<Entry> also;               // what this start needs beside the profile
  std::string engine;                    // of containers; empty: podman, or docker where there is no podman
  std::vector<std::string> engine_options;
  Settings settings;
};

// Looks at the file system. An Error says what is wrong with the workspace.
base::Result<Plan> make_plan(const PlanRequest& request);

// The workspace of a command that starts in `directory`, links resolved; or why there can be none.
base::Result<std::string> find_workspace(const std::string& directory, const std::string& home);
// Whether it is, or lies in, one of ttyward's own folders.
bool is_in_own_folder(const std::string& folder, const std::vector<std::string>& own);

// The folder a command in `directory` may change: the nearest folder above it with a repository, or itself.
std::string workspace_of(const std::string& directory, const std::string& home);

// A note of a Plan: the kernel cannot give the workspace to a stand-in (stand_in.h).
inline constexpr char kRunsAsRoot[] =
    "the workspace belongs to root, so the command runs as root without capabilities";

// The names in a workspace that decide what programs of its user do: agents', editors' and our own
// configuration.
const std::vector<std::string>& control_files();

// Removes the empty folders that a sandbox left in a workspace because its holder was killed
// (placeholders.h). `directory` is where its command started.
void remove_left_placeholders(const std::string& workspace, const std::string& directory);

// Without variables that hold secrets or name sockets of the machine, by name or by content. `variables` are
// NAME=value.
std::vector<std::string> without_secrets(std::vector<std::string> variables);

}  // namespace ttyward::sandbox
