#include "app/summarizer.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <utility>

#include "app/captured_run.h"
#include "base/utf8.h"
#include "pty/input_file.h"

namespace ttyward::app {
namespace {

constexpr std::chrono::seconds kSummaryPatience{20};
constexpr size_t kMostAtOnce = 4;

std::optional<std::string> summary_of(const std::string& line, const Summarizer::Output& output, int stop) {
  const auto input = pty::input_file(output.command + "\n--- digest ---\n" + output.digest +
                                     "--- output ---\n" + output.text);
  if (!input) return std::nullopt;
  pty::SpawnSpec spec;
  spec.argv = {"/bin/sh", "-c", line};
  spec.provider = pty::Provider::Pipe;
  spec.stdin_kind = pty::StdinKind::Descriptor;
  spec.stdin_fd = input->get();
  for (const char* name : {"HOME", "PATH", "USER", "LANG", "LC_ALL", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"}) {
    if (const char* value = std::getenv(name)) spec.environment.push_back(std::string(name) + "=" + value);
  }
  Captured captured = captured_run(spec, kSummaryPatience, output.digest.size() + 1, stop);
  std::string& text = captured.output;
  if (!captured.ended || captured.exit_code != 0 || text.size() > output.digest.size() ||
      text.find_first_not_of(" \t\r\n") == std::string::npos || !base::is_valid_utf8(text))
    return std::nullopt;
  if (text.back() != '\n') text += '\n';
  return std::move(text);
}

}  // namespace

Summarizer::Summarizer(io::Loop& loop) : loop_(loop), stop_(::eventfd(0, EFD_CLOEXEC)) {}

Summarizer::~Summarizer() {
  *alive_ = false;
  const uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof one);
  for (std::thread& thread : threads_) thread.join();
}

void Summarizer::summarize(const std::string& line, Output output,
                           std::function<void(const std::optional<std::string>&)> then) {
  if (running_ == kMostAtOnce) return then(std::nullopt);
  if (running_ == 0) {
    for (std::thread& thread : threads_) thread.join();  // they have posted their last
    threads_.clear();
  }
  running_++;
  threads_.emplace_back([this, alive = alive_, line, output = std::move(output), then = std::move(then)] {
    auto summary = summary_of(line, output, stop_.get());
    loop_.post([this, alive, then, summary = std::move(summary)] {
      if (!*alive) return;
      running_--;
      then(summary);
    });
  });
}

}  // namespace ttyward::app
