#include "app/webhook.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/json_text.h"
#include "base/mask_secrets.h"
#include "base/rfc3339.h"
#include "policy/escaped_view.h"
#include "policy/verdict.h"
#include "pty/spawn.h"

namespace ttyward::app {
namespace {

constexpr int kSeconds = 10;                   // a POST may take; curl ends itself
constexpr std::chrono::seconds kPatience{15};  // for a curl that does not
constexpr size_t kLongestComplaint = 500;      // bytes of what curl says
constexpr size_t kShownCommand = 1000;         // characters; the whole is seen where it is answered

// Between double quotes, as curl reads its configuration.
std::string config_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;  // neither a URL nor JSON has any; here it would end the value
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string read_some(int fd) {
  char buffer[kLongestComplaint];
  const ssize_t n = ::read(fd, buffer, sizeof buffer);
  std::string text(buffer, n > 0 ? static_cast<size_t>(n) : 0);
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::string webhook_body(const gate::Approval& approval) {
  const std::string command = policy::show_command(base::mask_secrets(approval.command), kShownCommand);
  const std::string risk(policy::name_of(approval.verdict.risk));
  std::string text = fmt::format("ttyward: a command waits for your answer (risk {}): {} in {}", risk,
                                 command, policy::escape_text(approval.cwd));
  if (!approval.asked_by.empty()) text += ", asked by " + policy::escape_text(approval.asked_by);
  text += fmt::format(". Answer with: ttyward approvals allow {0}, or deny {0}", approval.id);
  base::JsonObject body;
  body.text("event", "approval_opened").text("text", text).text("content", text);
  body.text("approval", approval.id).text("command", command).text("cwd", policy::escape_text(approval.cwd));
  body.text("risk", risk).text("asked_by", policy::escape_text(approval.asked_by));
  body.text("created_at", base::rfc3339(approval.created_at_ms));
  approval.expires_at_ms != 0 ? body.text("expires_at", base::rfc3339(approval.expires_at_ms))
                              : body.null("expires_at");
  return body.str();
}

std::string curl_configuration(const std::string& url, const std::string& body) {
  return fmt::format(
      "silent\nshow-error\nfail\ngloboff\nproto = \"=http,https\"\nconnect-timeout = {0}\nmax-time = {0}\n"
      "output = \"/dev/null\"\nheader = \"Content-Type: application/json\"\nurl = {1}\ndata-binary = {2}\n",
      kSeconds, config_string(url), config_string(body));
}

Webhook::~Webhook() {
  if (!sender_) return;
  // It ends by itself soon, and whoever collects orphans collects it.
  loop_.poller().remove(sender_->pidfd());
  loop_.cancel(limit_);
}

void Webhook::send(const std::string& url, std::string body) {
  if (waiting_.size() >= kMostWaiting) return failed("too many messages are waiting; this one was dropped");
  waiting_.push_back({url, std::move(body)});
  if (!sender_) begin();
}

void Webhook::begin() {
  while (!sender_ && !waiting_.empty()) {
    const Message message = std::move(waiting_.front());
    waiting_.pop_front();
    pty::SpawnSpec spec;
    spec.argv = {"curl", "--disable", "--config", "-"};
    for (char** entry = environ; *entry != nullptr; ++entry) spec.environment.emplace_back(*entry);
    spec.provider = pty::Provider::Pipe;
    spec.stdin_kind = pty::StdinKind::Pipe;
    spec.cwd = "/";
    auto spawned = pty::spawn(spec);
    if (!spawned) {
      failed(spawned.error().failure == pty::SpawnFailure::NotFound
                 ? "curl is not installed: install it, or empty notify.webhook"
                 : spawned.error().error.message);
      continue;
    }
    // It is shorter than a pipe is deep, so it never blocks; a curl that is gone says so by its end.
    const std::string text = curl_configuration(message.url, message.body);
    const ssize_t n = ::write(spawned->stdin_fd.get(), text.data(), text.size());
    if (n != static_cast<ssize_t>(text.size()))
      log_.warning(std::string("notify.webhook: curl did not accept the message: ") + std::strerror(errno),
                   "notify");
    spawned->stdin_fd.reset();
    sender_ = std::move(spawned->child);
    errors_ = std::move(spawned->stderr_fd);
    limit_ = loop_.after(kPatience, [this] { static_cast<void>(sender_->signal(SIGKILL)); });
    if (!loop_.poller().add(sender_->pidfd(), EPOLLIN, *this)) {
      static_cast<void>(sender_->signal(SIGKILL));
      end();
    }
  }
}

void Webhook::on_ready(int, uint32_t) {
  loop_.poller().remove(sender_->pidfd());
  end();
  begin();
}

void Webhook::end() {
  loop_.cancel(limit_);
  const auto ended = sender_->try_reap();
  const std::string said = read_some(errors_.get());
  errors_.reset();
  sender_.reset();
  const bool well = ended && *ended && (*ended)->status.success();
  if (!well) return failed(said.empty() ? "curl did not say why" : said);
  problem_.clear();
}

void Webhook::failed(const std::string& why) {
  problem_ = "notify.webhook: a question could not be sent: " + why;
  log_.warning(problem_, "notify");
}

}  // namespace ttyward::app
