#include "policy/special/special.h"

#include <utility>

namespace ttyward::policy {

SpecialReader find_special(std::string_view name) {
  static constexpr std::pair<std::string_view, SpecialReader> kReaders[] = {
      {"any-inner", special::any_inner},
      {"awk", special::awk},
      {"base64", special::base64},
      {"cd", special::cd},
      {"change-mode", special::change_mode},
      {"command", special::command},
      {"curl", special::curl},
      {"date", special::date},
      {"dd", special::dd},
      {"declare", special::declare},
      {"echo", special::echo},
      {"env", special::env},
      {"eval", special::eval},
      {"exec", special::exec},
      {"fd", special::fd},
      {"few-arguments", special::few_arguments},
      {"find", special::find},
      {"git", special::git},
      {"git-config", special::git_config},
      {"git-diff", special::git_diff},
      {"git-list", special::git_list},
      {"git-ls-files", special::git_ls_files},
      {"git-push", special::git_push},
      {"git-reflog", special::git_reflog},
      {"interpreter", special::interpreter},
      {"jq", special::jq},
      {"kill", special::kill},
      {"killall", special::killall},
      {"lister", special::lister},
      {"move", special::move},
      {"multi-call", special::multi_call},
      {"output-argument", special::output_argument},
      {"parallel", special::parallel},
      {"pass-through", special::pass_through},
      {"poison", special::poison},
      {"printenv", special::printenv},
      {"printf", special::printf},
      {"read", special::read},
      {"remote", special::remote},
      {"rm", special::rm},
      {"rsync", special::rsync},
      {"sed", special::sed},
      {"set", special::set},
      {"shell", special::shell},
      {"source", special::source},
      {"sudo", special::sudo},
      {"tar", special::tar},
      {"test", special::test},
      {"trap", special::trap},
      {"unset", special::unset},
      {"unzip", special::unzip},
      {"top", special::top},
      {"compress", special::compress},
      {"ps", special::ps},
      {"pager", special::pager},
      {"grep", special::grep},
      {"lsof", special::lsof},
      {"ss", special::ss},
      {"diff", special::diff},
      {"ag", special::ag},
      {"getent", special::getent},
      {"man", special::man},
      {"build", special::build},
      {"disk-tool", special::disk_tool},
      {"container-run", special::container_run},
      {"xargs", special::xargs},
  };
  for (const auto& [key, reader] : kReaders) {
    if (key == name) return reader;
  }
  return nullptr;
}

}  // namespace ttyward::policy
