#include "pty/program_kind.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>

namespace ttyward::pty {
namespace {

constexpr std::array<std::string_view, 8> kPagers = {"less", "more", "most", "pager",
                                                     "pg",   "moar", "ov",   "view-pager"};
constexpr std::array<std::string_view, 26> kEditors = {
    "vi",    "vim",  "view",   "vimdiff", "rvim",  "nvim", "vim.basic", "vim.tiny", "vim.nox",
    "nano",  "pico", "rnano",  "emacs",   "micro", "hx",   "helix",     "kak",      "joe",
    "jmacs", "jed",  "mcedit", "ne",      "tilde", "mg",   "zile",      "elvis"};
constexpr std::array<std::string_view, 25> kLineEditors = {
    "bash",   "zsh",     "fish", "ksh", "mksh", "tcsh",   "ash",     "dash", "rbash",
    "python", "ipython", "node", "irb", "psql", "mysql",  "sqlite3", "gdb",  "lua",
    "ghci",   "ftp",     "sftp", "bc",  "R",    "octave", "php"};
constexpr std::array<std::string_view, 18> kRelays = {
    "ssh",   "mosh-client", "sudo",   "su",     "doas",    "script", "tmux",     "screen", "zellij",
    "dtach", "abduco",      "docker", "podman", "kubectl", "expect", "unbuffer", "socat",  "telnet"};

// "python3.11" is "python", "tmux: client" is "tmux"; a version says nothing here.
std::string_view stem(std::string_view name) {
  name = name.substr(0, name.find(':'));
  if (name == "sqlite3") return name;
  const size_t last = name.find_last_not_of("0123456789.");
  return last == std::string_view::npos ? name : name.substr(0, last + 1);
}

bool lists(std::span<const std::string_view> list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end() ||
         std::find(list.begin(), list.end(), stem(name)) != list.end();
}

std::string base_name(std::string_view path) {
  path = path.substr(path.rfind('/') + 1);           // npos + 1 is 0
  if (path.starts_with('-')) path.remove_prefix(1);  // a login shell
  return std::string(path);
}

}  // namespace

ProgramKind program_kind(const std::vector<std::string>& names) {
  const auto any = [&](std::span<const std::string_view> list) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return lists(list, name); });
  };
  if (any(kPagers)) return ProgramKind::Pager;
  if (any(kEditors)) return ProgramKind::Editor;
  if (any(kLineEditors)) return ProgramKind::LineEditor;
  if (any(kRelays)) return ProgramKind::Relay;
  return ProgramKind::Other;
}

std::vector<std::string> program_names(const ProcessStat& process) {
  std::vector<std::string> names = {process.comm};
  const auto add = [&](std::string name) {
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  };
  char target[4096];
  const std::string link = "/proc/" + std::to_string(process.pid) + "/exe";
  if (const ssize_t n = ::readlink(link.c_str(), target, sizeof target); n > 0)
    add(base_name({target, static_cast<size_t>(n)}));
  const auto arguments = read_arguments(process.pid);
  if (!arguments.empty()) add(base_name(arguments[0]));
  const bool multi_call = std::find(names.begin(), names.end(), "busybox") != names.end();
  if (multi_call && arguments.size() > 1 && base_name(arguments[0]) == "busybox") {
    names.front() = arguments[1];
    add("busybox");
  }
  return names;
}

}  // namespace ttyward::pty
