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
  } else if (std::exchange(end_waits_, false)) {
    news.settled = true;
  } else {
    return;
  }
  std::exchange(waiter_, nullptr)(std::move(news));
}

void Started::answered(CallReply reply) {
  call = 0;
  open_ = false;
  reply_ = std::move(reply);
  tell();
}

void Started::asked(const json::object& question) {
  if (text_or(question, "command_id") != command_id_) return;
  approval = question;
  open_ = true;
  question_waits_ = true;
  end_waits_ = false;
  tell();
}

void Started::settled(const json::object& question) {
  if (!open_ || text_or(question, "id") != text_or(approval, "id")) return;
  open_ = false;
  question_waits_ = false;
  end_waits_ = true;
  if (const auto then = std::exchange(on_settled_, nullptr)) then();
  tell();
}

}  // namespace ttyward::mcp::tools
