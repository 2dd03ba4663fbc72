#include "mcp/tools/progress.h"

#include <algorithm>

#include "mcp/tools/visible_text.h"

namespace ttyward::mcp::tools {
namespace {

constexpr std::chrono::seconds kTick{1};
constexpr std::chrono::seconds kSilence{5};  // without news, a word is said after this
constexpr size_t kShownLine = 160;
constexpr double kStep = 0.001;  // where the percentage stands still

std::string last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  const size_t end = text.rfind('\n');
  return visible_line(end == std::string_view::npos ? text : text.substr(end + 1), kShownLine);
}

}  // namespace

std::shared_ptr<Progress> Progress::start(const RequestPtr& request) {
  auto progress = std::make_shared<Progress>(request);
  if (request->wants_progress()) progress->tick();
  return progress;
}

void Progress::part(const json::object& part) {
  if (const auto output = text_at(part, "output")) {
    const std::string line = last_line(*output);
    if (!line.empty()) line_ = line;
    fresh_ = true;
  }
  if (const json::object* progress = object_at(part, "progress")) {
    if (const auto percent = integer_at(*progress, "percent"))
      percent_ = static_cast<double>(std::clamp<int64_t>(*percent, 0, 100));
    if (const auto text = text_at(*progress, "text"); text && !text->empty())
      line_ = visible_line(*text, kShownLine);
    fresh_ = true;
  }
  if (text_or(part, "state") == "awaiting_input") {
    line_ = "waits for input";
    fresh_ = true;
  }
}

void Progress::tick() {
  const auto now = io::Loop::Clock::now();
  if (request_->done() || request_->cancelled()) return;
  if (now > begun_ && (fresh_ || now - told_ >= kSilence)) {
    if (!by_percent_) by_percent_ = percent_.has_value();
    const double seconds = std::chrono::duration<double>(now - begun_).count();
    last_ = *by_percent_ ? std::max(last_ + kStep, percent_.value_or(0)) : seconds;
    request_->progress(last_, *by_percent_ ? std::optional<double>(100) : std::nullopt, line_);
    fresh_ = false;
    told_ = now;
  }
  request_->loop->after(kTick, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->tick();
  });
}

}  // namespace ttyward::mcp::tools
