// ttyward fleet ls, approvals, key.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "fleet/bus.h"
#include "fleet/host_calls.h"
#include "fleet/job_words.h"
#include "fleet/names.h"
#include "fleet/nkey.h"
#include "fleet/person_key.h"
#include "fleet/proof.h"
#include "fleet/say.h"
#include "fleet/verbs.h"

namespace ttyward::fleet {
namespace {

constexpr size_t kMostHosts = 10'000;
constexpr size_t kMostJobs = 50;

struct FleetList {
  std::vector<HostBeat> hosts;
  std::vector<JobRecord> jobs;
  uint64_t queued = 0;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("hosts", self.hosts, "that live");
    v.field("jobs", self.jobs, "with --jobs: the last ones that hosts took", wire::kLeftOut);
    v.field("queued", self.queued, "jobs that wait, or have begun and may run again");
  }
};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

struct QuestionList {
  std::vector<Question> questions;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("questions", self.questions, "oldest first");
  }
};

base::Result<std::vector<Question>> questions(Bus& bus, bool all) {
  const auto texts = bus.last_of_each(kQuestionStream, "tw1.ask.>", 100'000);
  if (!texts) return tl::unexpected(texts.error());
  std::vector<Question> found;
  for (const std::string& text : *texts) {
    auto question = read_as<Question>(text);
    if (question && (all || question->approval.state == "open")) found.push_back(std::move(*question));
  }
  return found;
}

int answer(Bus& bus, const Invocation& asked) {
  auto key = person_key(asked);
  if (!key) return complain(key.error().message, kExitUsage);
  if (!*key)
    return complain(
        "only a person answers: name your key with --person-key FILE, or the file of `ttyward person "
        "token` in TTYWARD_PERSON_TOKEN_FILE",
        126);
  const auto all = questions(bus, true);
  if (!all) return complain(all.error().message);
  const auto found = std::find_if(all->begin(), all->end(),
                                  [&](const Question& each) { return each.approval.id == asked.target; });
  if (found == all->end()) return complain("there is no question " + asked.target, kExitUsage);
  AnswerMessage message;
  message.decision = asked.decision;
  message.reason = asked.reason;
  message.shown = shown_hash(found->approval);
  message.proof = prove((*key)->by, (*key)->key, answer_text(found->host, asked.target, message));
  const auto came = bus.request(answer_subject(found->host, asked.target), text_of(message),
                                std::chrono::milliseconds(10'000));
  if (!came) return complain(came.error().message);
  const auto outcome = read_as<AnswerOutcome>(*came);
  if (!outcome) return complain(outcome.error().message);
  if (asked.json) print(text_of(*outcome) + "\n");
  if (!outcome->answered) return asked.json ? 1 : complain("host " + found->host + ": " + outcome->error, 1);
  if (!asked.json) print(fmt::format("{} on {}\n", outcome->approval->state, found->host));
  return 0;
}

}  // namespace

int list_fleet(const Invocation& asked) {
  auto bus = Bus::connect(asked.access, "ttyward fleet ls", Bus::Patience::FailAtOnce);
  if (!bus) return complain(bus.error().message);
  const auto hosts = (*bus)->entries(kHostBucket, kMostHosts);
  if (!hosts) return complain(hosts.error().message);
  FleetList list;
  for (const Entry& entry : *hosts) {
    if (auto beat = read_as<HostBeat>(entry.value)) list.hosts.push_back(std::move(*beat));
  }
  std::sort(list.hosts.begin(), list.hosts.end(),
            [](const HostBeat& a, const HostBeat& b) { return a.host < b.host; });
  list.queued = (*bus)->queued().value_or(0);
  if (asked.all) {
    const auto jobs = (*bus)->entries(kJobBucket, kMostJobs);
    if (!jobs) return complain(jobs.error().message);
    for (const Entry& entry : *jobs) {
      if (auto record = read_as<JobRecord>(entry.value)) list.jobs.push_back(std::move(*record));
    }
  }
  if (asked.json) {
    print(text_of(list) + "\n");
    return 0;
  }
  print(fmt::format("{:<20} {:>7} {:>6} {:<10} {}\n", "HOST", "BUSY", "LOAD", "VERSION", "LABELS"));
  for (const HostBeat& host : list.hosts) {
    print(fmt::format("{:<20} {:>7} {:>5}% {:<10} {}\n", host.host,
                      fmt::format("{}/{}", host.busy, host.slots), host.load_percent, host.version,
                      joined(host.labels)));
  }
  print(fmt::format("{} in the queue\n", list.queued));
  for (const JobRecord& job : list.jobs)
    print(fmt::format("{}  {:<16} {:<12} {}\n", job.id, how_it_ended(job), job.host, shown(job.command)));
  return 0;
}

int approvals(const Invocation& asked) {
  auto bus = Bus::connect(asked.access, "ttyward fleet approvals", Bus::Patience::FailAtOnce);
  if (!bus) return complain(bus.error().message);
  if (!asked.decision.empty()) return answer(**bus, asked);
  auto found = questions(**bus, asked.all);
  if (!found) return complain(found.error().message);
  if (asked.json) {
    print(text_of(QuestionList{*found}) + "\n");
    return 0;
  }
  for (const Question& each : *found) {
    const wire::Approval& approval = each.approval;
    print(fmt::format("{}  {}  {}\n  {}\n  in {}\n", approval.id, each.host, approval.state,
                      shown(approval.shown), shown(approval.cwd)));
  }
  if (found->empty()) notice(asked.all ? "nobody has asked anything" : "no question is open");
  return 0;
}

int make_key(const Invocation& asked) {
  const auto made = make_nkey_file(asked.file);
  if (!made) return complain(made.error().message);
  print(asked.json ? fmt::format("{{\"public\":\"{}\"}}\n", *made) : *made + "\n");
  return 0;
}

}  // namespace ttyward::fleet
