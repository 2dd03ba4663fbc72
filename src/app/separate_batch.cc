#include <algorithm>
#include <utility>

#include "app/batch.h"
#include "app/objects.h"
#include "base/ids.h"
#include "base/sha256.h"

namespace ttyward::app {

namespace {

// The same for the same batch and number: a batch that is sent again, because its daemon died, finds the
// commands that it began.
std::string command_id_in(const std::string& batch, size_t index) {
  if (batch.empty()) return base::random_id('c');
  constexpr std::string_view kCharacters = "abcdefghijklmnopqrstuvwxyz234567";
  constexpr size_t kLength = 12;
  const auto digest = base::sha256(batch + "-" + std::to_string(index + 1));
  std::string id = "c";
  for (size_t i = 0; i < kLength; i++) id += kCharacters[static_cast<size_t>(digest[i]) % kCharacters.size()];
  return id;
}

}  // namespace

class Commands::SeparateBatch::Run final : public AnswerChannel<wire::CommandResult> {
 public:
  Run(SeparateBatch& batch, size_t index) : batch_(&batch), index_(index) {}

  bool open() const override { return batch_ != nullptr; }
  void part(const wire::StreamPart&) override {}
  void on_cancel(std::function<void()> callback) override {
    if (open()) cancelled_ = std::move(callback);
  }
  void ok(const wire::CommandResult& answer) override {
    if (SeparateBatch* batch = close()) batch->finished(index_, answer);
  }
  void fail(const wire::CallError& error) override {
    SeparateBatch* batch = close();
    if (batch == nullptr) return;
    terminal::CommandResult result;
    result.command = batch->request_.commands[index_];
    result.state = terminal::CommandState::FailedToStart;
    result.reason = error.message;
    batch->finished(index_, result_object(result));
  }
  // Nobody is answered any more.
  void abandon() { static_cast<void>(close()); }
  // The same, and the command is told.
  void cancel() {
    batch_ = nullptr;
    if (const auto cancelled = std::exchange(cancelled_, nullptr)) cancelled();
  }

 private:
  SeparateBatch* close() {
    cancelled_ = nullptr;
    return std::exchange(batch_, nullptr);
  }

  SeparateBatch* batch_;  // null once it is answered
  const size_t index_;
  std::function<void()> cancelled_;
};

void Commands::SeparateBatch::start(Commands& commands, const Caller& caller,
                                    const wire::BatchRequest& request,
                                    const Reply<wire::BatchResult>& reply) {
  const auto batch = std::make_shared<SeparateBatch>(commands, caller, request, reply);
  OpenCalls& calls = commands.core_.calls;
  batch->key_ = calls.add(reply, [raw = batch.get()] { raw->take_back(); });
  batch->advance();
  // It may have ended already; then this is the last reference to it.
  if (OpenCall* call = calls.find(batch->key_)) call->parts.push_back(batch);
}

Commands::SeparateBatch::SeparateBatch(Commands& commands, Caller caller, wire::BatchRequest request,
                                       const Reply<wire::BatchResult>& reply)
    : commands_(commands),
      caller_(std::move(caller)),
      request_(std::move(request)),
      reply_(reply),
      results_(request_.commands.size()) {}

Commands::SeparateBatch::~SeparateBatch() {
  for (const auto& run : runs_) run->abandon();
}

void Commands::SeparateBatch::finished(size_t index, wire::CommandResult result) {
  if (result.state == "running" || result.state == "pending_approval") {
    out_of_time_ = true;  // it goes on; the time to wait is over for all
  } else {
    failed_ = failed_ || (result.state != "skipped" && !result.ended_well());
  }
  results_[index] = std::move(result);
  running_--;
  advance();
}

std::chrono::milliseconds Commands::SeparateBatch::left() const {
  return request_.yield_after -
         std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun_);
}

wire::RunRequest Commands::SeparateBatch::run_request(size_t index) const {
  wire::RunRequest run;
  run.command = request_.commands[index];
  run.command_id = command_id_in(request_.batch_id, index);
  run.cwd = request_.cwd;
  run.env = request_.env;
  run.task = request_.task;
  run.view = request_.view;
  run.sandbox = request_.sandbox;
  run.timeout = request_.timeout;
  run.idle_timeout = request_.idle_timeout;
  if (request_.yield_after.count() > 0) run.yield_after = std::max(std::chrono::milliseconds(1), left());
  return run;
}

void Commands::SeparateBatch::advance() {
  if (advancing_) return;  // a command that is refused is over while it is being started
  advancing_ = true;
  const auto parallel = static_cast<size_t>(request_.parallel);
  while (next_ < request_.commands.size() && running_ < parallel && !(failed_ && !request_.keep_going)) {
    out_of_time_ = out_of_time_ || (request_.yield_after.count() > 0 && left().count() <= 0);
    if (out_of_time_) break;
    running_++;
    const size_t index = next_++;
    runs_.push_back(std::make_shared<Run>(*this, index));
    commands_.run(caller_, run_request(index), Reply<wire::CommandResult>(runs_.back()));
  }
  advancing_ = false;
  if (running_ == 0) end();
}

void Commands::SeparateBatch::end() {
  wire::BatchResult answer;
  for (std::optional<wire::CommandResult>& result : results_) {
    if (result) answer.results.push_back(std::move(*result));
  }
  answer.not_run.assign(request_.commands.begin() + static_cast<std::ptrdiff_t>(next_),
                        request_.commands.end());
  if (!answer.not_run.empty()) answer.stopped_by = out_of_time_ ? "time" : "failure";
  reply_.ok(answer);
  commands_.core_.calls.end(key_);
}

// The commands that run go on, as those of `run` do.
void Commands::SeparateBatch::take_back() {
  for (const auto& run : runs_) run->cancel();
}

}  // namespace ttyward::app
