#include "mcp/tools/started.h"

#include <utility>

namespace ttyward::mcp::tools {

void Started::wake(std::function<void(News)> waiter) {
  waiter_ = std::move(waiter);
  tell();
}

Callback<Started::News> Started::next() {
  return Callback<News>([this](std::function<void(News)> done) { wake(std::move(done)); });
}

void Started::tell() {
  if (!waiter_) return;
  News news;
  if (reply_) {
    news.reply = std::exchange(reply_, std::nullopt);
  } else if (std::exchange(question_waits_, false)) {
    news.question = approval;
  } else {
    return;
  }
  std::exchange(waiter_, nullptr)(std::move(news));
}

void Started::answered(CallReply reply) {
  call = 0;
  reply_ = std::move(reply);
  tell();
}

bool Started::asked(const json::object& question) {
  const bool ours = approval.empty() && text_or(question, "command") == command_ &&
                    (cwd_.empty() || text_or(question, "cwd") == cwd_);
  if (!ours) return false;
  approval = question;
  question_waits_ = true;
  tell();
  return true;
}

}  // namespace ttyward::mcp::tools
