// ttyward fleet run, batch, show, read.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/unix_time.h"
#include "fleet/host_calls.h"
#include "fleet/job_words.h"
#include "fleet/names.h"
#include "fleet/person_key.h"
#include "fleet/proof.h"
#include "fleet/say.h"
#include "fleet/submitter.h"
#include "fleet/verbs.h"
#include "wire/types/watching_calls.h"

namespace ttyward::fleet {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds kTurn{250};
constexpr int64_t kLinesAtOnce = 2000;
constexpr int64_t kCharsAtOnce = 400'000;

volatile std::sig_atomic_t interrupted = 0;

void on_signal(int signal) {
  interrupted = signal;
}

void watch_signals() {
  struct sigaction action{};
  action.sa_handler = &on_signal;
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

std::string subject_for(const Invocation& asked) {
  if (!asked.host.empty()) return host_subject(asked.host);
  return pool_subject(asked.needs.empty() ? std::string(kAnyPool) : pool_of_label(asked.needs.front()));
}

base::Result<Job> job_of(const Invocation& asked, const std::string& command) {
  Job job;
  job.id = base::random_id('c');
  job.command = command;
  if (command.empty()) job.argv = asked.argv;
  job.cwd = asked.cwd;
  job.env = asked.env;
  job.needs = asked.needs;
  job.timeout_ms = asked.timeout_ms;
  job.idle_timeout_ms = asked.idle_timeout_ms;
  job.deadline_ms = asked.deadline_ms;
  job.idempotent = asked.idempotent;
  job.sandbox = asked.sandbox;
  job.task = asked.task;
  char user[256] = {};
  static_cast<void>(::getlogin_r(user, sizeof user));
  job.requester =
      std::string(user[0] != '\0' ? user : std::to_string(::getuid())) + "@" + name_of_this_host();
  job.submitted_at = wire::Time{base::unix_ms()};
  const auto key = person_key(asked);
  if (!key) return tl::unexpected(key.error());
  if (*key) job.proof = prove((*key)->by, (*key)->key, job_text(job));
  constexpr size_t kLongest = 60 << 10;
  if (text_of(job).size() > kLongest)
    return base::fail(base::ErrorCode::InvalidArgument,
                      "the command is longer than 60 KB: put it into a file on the host and run that");
  return job;
}

// Says so if nobody can take it now: it waits.
void warn_if_nobody(Bus& bus, const Invocation& asked) {
  const auto entries = bus.entries(kHostBucket, 10'000);
  if (!entries) return;
  for (const Entry& entry : *entries) {
    const auto beat = read_as<HostBeat>(entry.value);
    if (!beat || (!asked.host.empty() && beat->host != asked.host)) continue;
    const auto has = [&](const std::string& need) {
      return std::find(beat->labels.begin(), beat->labels.end(), need) != beat->labels.end();
    };
    if (std::all_of(asked.needs.begin(), asked.needs.end(), has)) return;
  }
  notice("no host can take this now; it waits in the queue for up to 24 h (see ttyward fleet ls)");
}

// The output of one command, from its host, line by line and each line once.
class OutputReader {
 public:
  OutputReader(Bus& bus, std::string id, int64_t from = 1, int64_t to = std::numeric_limits<int64_t>::max())
      : bus_(bus), id_(std::move(id)), first_(from), next_(from), to_(to) {}

  bool printed() const { return next_ > first_; }
  // What has come since. While it runs, the last line may still change and is left out.
  bool print_new(const std::string& host, bool over) {
    while (next_ <= to_) {
      wire::ReadRequest read;
      read.command = id_;
      read.range = {next_, std::min(to_, next_ + piece_ - 1)};
      read.view.view = "full";
      read.view.chars = kCharsAtOnce;
      const auto came = call_host(bus_, host, read);
      if (!came) {
        why_not_ = came.error().message;
        return false;
      }
      if (came->omitted && piece_ > 1) {
        piece_ = std::max<int64_t>(piece_ / 4, 1);  // these lines are long
        continue;
      }
      const auto total = static_cast<int64_t>(came->total_lines);
      auto last = static_cast<int64_t>(came->last_line);
      std::string text = came->text;
      if (!text.empty() && !text.ends_with('\n')) text += '\n';
      if (!over && last >= total) {
        last--;
        if (last >= next_) text.erase(text.rfind('\n', text.size() - 2) + 1);
      }
      if (last < next_) return true;
      print(text);
      next_ = last + 1;
      if (!over || next_ > total) return true;
    }
    return true;
  }
  const std::string& why_not() const { return why_not_; }

 private:
  Bus& bus_;
  const std::string id_;
  const int64_t first_;
  int64_t next_;
  const int64_t to_;
  int64_t piece_ = kLinesAtOnce;
  std::string why_not_;
};

void print_rest(OutputReader& output, const JobRecord& record) {
  if (!record.result) return;
  const wire::CommandResult& result = *record.result;
  if (!output.printed() && !result.omitted) {
    print(result.output);
    if (!result.output.empty() && !result.output.ends_with('\n') && !result.no_newline) print("\n");
    return;
  }
  if (output.print_new(record.host, true)) return;
  notice("the whole output is not to be had (" + output.why_not() + "); this is its end");
  print(result.output + "\n");
}

void explain(const JobRecord& record) {
  const std::string why = !record.reason.empty() ? record.reason
                          : record.result        ? record.result->reason
                                                 : std::string();
  if (record.state == "exited" && why.empty()) return;
  if (record.state == "signaled" && record.result)
    return notice("host " + record.host + ": the command was ended by " + record.result->signal);
  if (record.state != "exited")
    notice(record.id + " is " + record.state + (why.empty() ? "" : ": " + shown(why)));
}

}  // namespace

int run_job(const Invocation& asked) {
  watch_signals();
  auto job = job_of(asked, asked.commands.empty() ? "" : asked.commands.front());
  if (!job) return complain(job.error().message, kExitUsage);
  auto bus = Bus::connect(asked.access, "ttyward fleet run", Bus::Patience::FailAtOnce);
  if (!bus) return complain(bus.error().message);
  auto submitter = Submitter::open(**bus);
  if (!submitter) return complain(submitter.error().message);
  warn_if_nobody(**bus, asked);
  const std::string id = job->id;
  if (auto submitted = (*submitter)->submit(subject_for(asked), {*job}); !submitted)
    return complain("the job could not be put into the queue: " + submitted.error().message);
  if (asked.detach) {
    print(asked.json ? fmt::format("{{\"id\":\"{}\"}}\n", id) : id + "\n");
    return 0;
  }
  OutputReader output(**bus, id);
  JobRecord last;
  bool asked_person = false;
  while (interrupted == 0) {
    auto record = (*submitter)->next(kTurn);
    if (record) {
      last = std::move(*record);
      if (is_final(last.state)) break;
    }
    if (last.state == "pending_approval" && !std::exchange(asked_person, true))
      notice("host " + last.host + " asks a person first; see ttyward fleet approvals");
    if (!asked.json && (last.state == "running" || last.state == "awaiting_input"))
      static_cast<void>(output.print_new(last.host, false));
  }
  if (interrupted != 0) {
    notice("no longer waiting for " + id + ", which goes on; ttyward fleet show " + id +
           " tells what became of it");
    return 128 + interrupted;
  }
  if (asked.json) {
    print(text_of(last) + "\n");
  } else {
    print_rest(output, last);
    explain(last);
  }
  return exit_code_of(last);
}

int run_batch(const Invocation& asked) {
  watch_signals();
  std::vector<Job> jobs;
  for (const std::string& command : asked.commands) {
    auto job = job_of(asked, command);
    if (!job) return complain(job.error().message, kExitUsage);
    jobs.push_back(std::move(*job));
  }
  auto bus = Bus::connect(asked.access, "ttyward fleet batch", Bus::Patience::FailAtOnce);
  if (!bus) return complain(bus.error().message);
  auto submitter = Submitter::open(**bus);
  if (!submitter) return complain(submitter.error().message);
  warn_if_nobody(**bus, asked);
  if (auto submitted = (*submitter)->submit(subject_for(asked), jobs); !submitted)
    notice("not all could be put into the queue: " + submitted.error().message);
  size_t good = 0;
  size_t lost = 0;
  size_t over = 0;
  std::map<std::string, bool> asked_person;
  while ((*submitter)->open_jobs() > 0 && interrupted == 0) {
    const auto record = (*submitter)->next(kTurn);
    if (!record) continue;
    if (record->state == "pending_approval" && !std::exchange(asked_person[record->id], true))
      notice("host " + record->host + " asks a person about: " + shown(record->command) +
             "; see ttyward fleet approvals");
    if (!is_final(record->state)) continue;
    over++;
    good += exit_code_of(*record) == 0 ? 1 : 0;
    lost += record->state == "lost" ? 1 : 0;
    if (asked.json) {
      print(text_of(*record) + "\n");
      continue;
    }
    print(fmt::format("[{} {}] {}\n", record->host, how_it_ended(*record), shown(record->command)));
    if (record->result) print(record->result->output);
    if (record->result && !record->result->output.empty() && !record->result->output.ends_with('\n'))
      print("\n");
    explain(*record);
  }
  notice(fmt::format("{} commands: {} succeeded, {} failed, {} lost, {} not over", jobs.size(), good,
                     over - good - lost, lost, jobs.size() - over));
  if (interrupted != 0) return 128 + interrupted;
  return lost > 0 || over < jobs.size() ? kExitFailure : good == jobs.size() ? 0 : 1;
}

int show_job(const Invocation& asked) {
  auto bus = Bus::connect(asked.access, "ttyward fleet show", Bus::Patience::FailAtOnce);
  if (!bus) return complain(bus.error().message);
  const auto entry = (*bus)->get(kJobBucket, asked.target);
  if (!entry && entry.error().code == base::ErrorCode::NotFound)
    return complain("no host has taken " + asked.target + ": it waits in the queue, or never was there",
                    kExitUsage);
  if (!entry) return complain(entry.error().message);
  auto record = read_as<JobRecord>(entry->value);
  if (!record) return complain(record.error().message);
  if (!is_final(record->state)) {
    const auto beat = (*bus)->get(kHostBucket, record->host);
    if (!beat && beat.error().code == base::ErrorCode::NotFound)
      record->reason = "host " + record->host + " gives no sign of life; this is what was known last";
  }
  if (asked.json) {
    print(text_of(*record) + "\n");
    return 0;
  }
  print(fmt::format("{}  {}  on {}  {}\n", record->id, how_it_ended(*record), record->host,
                    shown(record->command)));
  if (!record->reason.empty()) print("  " + shown(record->reason) + "\n");
  if (record->result) print(record->result->output);
  return 0;
}

int read_job(const Invocation& asked) {
  auto bus = Bus::connect(asked.access, "ttyward fleet read", Bus::Patience::FailAtOnce);
  if (!bus) return complain(bus.error().message);
  const auto entry = (*bus)->get(kJobBucket, asked.target);
  const auto record = entry ? read_as<JobRecord>(entry->value) : tl::unexpected(entry.error());
  if (!record)
    return complain("there is no record of " + asked.target + ": " + record.error().message, kExitUsage);
  OutputReader output = asked.from_line > 0 ? OutputReader(**bus, record->id, asked.from_line, asked.to_line)
                                            : OutputReader(**bus, record->id);
  return output.print_new(record->host, true) ? 0 : complain(output.why_not());
}

}  // namespace ttyward::fleet
