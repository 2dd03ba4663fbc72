// Two things that need no terminal, no daemon and no files.
//   render_and_check render         bytes from standard input, as a person would see them on a screen
//   render_and_check check COMMAND  what policy says to a command line
#include <unistd.h>

#include <cstdio>
#include <string>

#include <ttyward/policy/evaluate.h>
#include <ttyward/policy/file_view.h>
#include <ttyward/vt/screen.h>
#include <ttyward/vt/serialize/serialize.h>

using namespace ttyward;

namespace {

int render() {
  vt::ScreenOptions options;
  options.lf_is_crlf = true;  // a file has line feeds; a terminal would have added the carriage returns
  vt::Screen screen(options);
  char buffer[4096];
  ssize_t n = 0;
  while ((n = ::read(STDIN_FILENO, buffer, sizeof buffer)) > 0) {
    screen.feed({buffer, static_cast<size_t>(n)});
  }
  std::fputs(vt::screen_as(screen, vt::Format::Text, vt::WithHistory::Yes).c_str(), stdout);
  return 0;
}

int check(const char* command) {
  const policy::RealFiles files;
  policy::Place place;
  place.workspace = place.cwd = "/tmp";
  place.home = "/root";
  place.files = &files;
  const policy::Verdict verdict = policy::check(command, place, policy::RuleSet(), policy::Settings());
  std::printf("%s, risk %s\n", std::string(policy::name_of(verdict.decision)).c_str(),
              std::string(policy::name_of(verdict.risk)).c_str());
  for (const policy::Reason& reason : verdict.reasons) std::printf("  %s\n", reason.text.c_str());
  return verdict.decision == policy::Decision::Allow ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  if (verb == "render" && argc == 2) return render();
  if (verb == "check" && argc == 3) return check(argv[2]);
  std::fprintf(stderr, "usage: %s render | check COMMAND\n", argv[0]);
  return 2;
}
