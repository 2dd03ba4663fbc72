// What tools say every time: banners, advice, where the log is. As data.
#include <re2/re2.h>
#include <re2/set.h>

#include "digest/known/known.h"

namespace ttyward::digest {
namespace {

constexpr const char* kBoilerplate[] = {
    // npm, yarn, pnpm
    R"(^npm (ERR!|error|warn|notice)( \d+)?\s*$)",
    R"(^npm (ERR!|error) A complete log of this run can be found in)",
    R"(^npm (ERR!|error) +(\d+ +)?(Note that you can also install from a|tarball, folder, http url, or git url))",
    R"(^npm notice( (New|Run|To update|Changelog|Update)\b.*)?$)",
    R"(^npm warn Unknown (user|env|project|builtin|global|cli) config )",
    R"(run `npm (fund|audit)( fix( --force)?)?`)",
    R"(^(To address (all )?issues|Some issues need review))",
    R"(looking for funding$)",
    // maven, gradle
    R"(^\[(ERROR|INFO|WARNING)\]\s*$)",
    R"(^\[(ERROR|INFO)\] (To see the full stack trace|Re-run Maven|For more information about the errors|After correcting the problems))",
    R"(^\[ERROR\] \[Help \d+\] http)",
    R"(^\[INFO\] (Finished at|Scanning for projects|---|Building jar|Using .* encoding|Copying \d+ resource|Nothing to compile))",
    R"(^\* Get more help at|^> Run with --(stacktrace|info|debug|scan)|^Deprecated Gradle features|^You can use '--warning-mode)",
    // python, pip
    R"(^\[?notice\]? (A new release of pip|To update, run)|^\s*note: This (error originates from a subprocess|is an issue with the package)|^\s*\[end of output\]$|^\W+See above for output\.$)",
    R"(^platform \w+ -- Python|^rootdir: |^configfile: |^plugins: |^cachedir: |^=+ test session starts =+$|^=+ short test summary info =+$|^-- Docs: https://docs\.pytest)",
    R"(^(E )?  Omitting \d+ identical items, use -vv|^Traceback \(most recent call last\):$)",
    // rust
    R"(^note: run with `RUST_BACKTRACE=|^For more information about this error, try `rustc --explain|^For more information about an error, try|^Some errors have detailed explanations: )",
    R"(^ *= note: `#\[(warn|deny)\()",
    // compilers and sanitizers
    R"(^==\d+== (Copyright|Using Valgrind|Memcheck, a memory error detector|Use --track-origins|For lists of detected and suppressed|Rerun with|For counts of detected))",
    R"(^Use -header-filter=|^Suppressed \d+ warnings \()",
    R"(^For more information:$|^  https://www\.shellcheck\.net/wiki/)",
    R"(^See also ".*\.log"\.$)",
    // git, docker, kubernetes, terraform
    R"(^hint: )",
    R"(^Use 'docker scan'|^View build details: |^WARNING: current commit information was not captured)",
    R"(^Note: You didn't use the -out option|^you run "terraform apply" now)",
    R"(^Terraform used the selected providers|^following symbols:$|^Terraform will perform the following)",
    // apt, make, curl
    R"(^Reading (package lists|state information)|^Building dependency tree|^N: Ignoring file )",
    R"(^make(\[\d+\])?: (Entering|Leaving) directory )",
    R"(^  % Total    % Received % Xferd|^ +Dload  Upload +Total)",
    R"(^Try '.* --help' for more information|^Try `.* --help' for more)",
    R"(^Node\.js v\d+)",
};

const RE2::Set& boilerplate_set() {
  static const RE2::Set* const kSet = [] {
    auto* set = new RE2::Set(RE2::Options(), RE2::UNANCHORED);
    for (const char* pattern : kBoilerplate) set->Add(pattern, nullptr);
    set->Compile();
    return set;
  }();
  return *kSet;
}

}  // namespace

void know_boilerplate(Page& page) {
  std::vector<size_t> members;
  for (size_t i = 0; i < page.lines.size(); ++i) {
    const Line& line = page.lines[i];
    if (line.blank || line.shielded || line.settled || line.fold >= 0 || line.text.size() > 400) continue;
    if (boilerplate_set().Match(line.text, nullptr)) members.push_back(i);
  }
  hide_lines(page, members, "of advice");
}

}  // namespace ttyward::digest
