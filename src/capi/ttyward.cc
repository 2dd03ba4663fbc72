#include "capi/ttyward.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string>

#include "command/run.h"
#include "policy/evaluate.h"
#include "policy/file_view.h"
#include "policy/rules.h"
#include "policy/verdict_json.h"
#include "vt/screen.h"
#include "vt/serialize/serialize.h"

using namespace ttyward;

struct ttyward_result {
  terminal::CommandResult result;
};

namespace {

constexpr int kLargestSide = 10'000;

// Nothing that is thrown leaves the library: the caller has no way to catch it.
template <class Make>
auto guarded(Make make) -> decltype(make()) {
  try {
    return make();
  } catch (const std::exception&) {
    return nullptr;
  }
}

char* copied(const std::string& text) {
  char* const out = static_cast<char*>(std::malloc(text.size() + 1));
  if (out != nullptr) std::memcpy(out, text.c_str(), text.size() + 1);
  return out;
}

}  // namespace

extern "C" {

int ttyward_abi(void) {
  return TTYWARD_ABI;
}

const char* ttyward_version(void) {
  return TTYWARD_VERSION;
}

ttyward_result* ttyward_run(const char* command, const ttyward_run_options* options) {
  if (command == nullptr || (options != nullptr && options->size < sizeof(ttyward_run_options)))
    return nullptr;
  return guarded([&]() -> ttyward_result* {
    RunChoices choices;
    if (options != nullptr) {
      if (options->cwd != nullptr) choices.cwd = options->cwd;
      for (const char* const* each = options->environment; each != nullptr && *each != nullptr; ++each)
        choices.environment.emplace_back(*each);
      choices.timeout = std::chrono::milliseconds(options->timeout_ms);
      if (options->input_patience_ms != 0)
        choices.input_patience = std::chrono::milliseconds(options->input_patience_ms);
    }
    auto out = std::make_unique<ttyward_result>();
    out->result = run(command, choices);
    return out.release();
  });
}

void ttyward_result_free(ttyward_result* result) {
  delete result;
}

const char* ttyward_result_state(const ttyward_result* result) {
  return terminal::command_state_name(result->result.state);
}

int ttyward_result_exit_code(const ttyward_result* result, int* code) {
  if (!result->result.exit_code) return 0;
  if (code != nullptr) *code = *result->result.exit_code;
  return 1;
}

const char* ttyward_result_signal(const ttyward_result* result) {
  return result->result.signal.c_str();
}

const char* ttyward_result_output(const ttyward_result* result, size_t* length) {
  if (length != nullptr) *length = result->result.output.text.size();
  return result->result.output.text.c_str();
}

const char* ttyward_result_reason(const ttyward_result* result) {
  return result->result.reason.c_str();
}

int ttyward_result_shell_code(const ttyward_result* result) {
  return result->result.shell_code();
}

int64_t ttyward_result_duration_ms(const ttyward_result* result) {
  return result->result.duration_ms;
}

char* ttyward_render(const char* bytes, size_t length, int columns, int rows, const char* format) {
  if ((bytes == nullptr && length != 0) || format == nullptr) return nullptr;
  if (columns < 1 || columns > kLargestSide || rows < 1 || rows > kLargestSide) return nullptr;
  return guarded([&]() -> char* {
    const auto wanted = vt::format_named(format);
    if (!wanted) return nullptr;
    vt::ScreenOptions options;
    options.cols = columns;
    options.rows = rows;
    options.lf_is_crlf = true;
    vt::Screen screen(options);
    if (length != 0) screen.feed({bytes, length});
    return copied(vt::screen_as(screen, *wanted, vt::WithHistory::Yes));
  });
}

char* ttyward_check(const char* command, const char* cwd) {
  if (command == nullptr || cwd == nullptr) return nullptr;
  return guarded([&]() -> char* {
    const policy::RealFiles files;
    policy::Place place;
    place.workspace = place.cwd = cwd;
    const char* const home = std::getenv("HOME");
    place.home = home == nullptr ? "" : home;
    place.files = &files;
    return copied(policy::to_json(policy::check(command, place, policy::RuleSet(), policy::Settings())));
  });
}

void ttyward_free(char* text) {
  std::free(text);
}

}  // extern "C"
