#include "engine/log_records.h"

#include <boost/json/array.hpp>

namespace ttyward::engine {
namespace {

boost::json::array background_record(const std::vector<terminal::BackgroundProcess>& processes) {
  boost::json::array list;
  for (const auto& process : processes)
    list.push_back(boost::json::object{{"pid", process.pid}, {"command", process.command}});
  return list;
}

}  // namespace

boost::json::object prompt_record(const TerminalModel& model) {
  const ShellSession& shell = model.shell();
  return {{"at", model.read_to()},
          {"marks", shell.tracker().nonces_used()},
          {"depth", shell.tracker().depth()},
          {"shell", shell::shell_kind_name(shell.identity().kind)},
          {"integration", shell::quality_name(shell.quality())},
          {"cwd", shell.cwd()}};
}

boost::json::object submit_record(const Command& command, const TerminalModel& model, uint64_t input) {
  return {{"k", "submit"},
          {"c", command.facts.command_id},
          {"n", *command.submission},
          {"by", owner_name(command.by)},
          {"text", command.facts.command},
          {"description", command.facts.description},
          {"delivered", command.delivered},
          {"line", command.line},
          {"file", command.file},
          {"cwd", command.facts.cwd},
          {"sentinel", command.sentinel_nonce},
          {"quiet", command.quiet},
          {"verdict", command.facts.verdict_json},
          {"started_at", command.facts.started_at_ms},
          {"timeout_ms", command.life.options().timeout.count()},
          {"idle_timeout_ms", command.life.options().idle_timeout.count()},
          {"at", model.read_to()},
          {"marks", model.shell().tracker().nonces_used()},
          {"input", input},
          {"prompt", prompt_record(model)}};
}

boost::json::object finish_record(const Command& command, uint64_t at, uint64_t nonces) {
  const terminal::CommandResult& facts = command.facts;
  return {{"k", "finish"},
          {"c", facts.command_id},
          {"at", at},
          {"state", terminal::command_state_name(facts.state)},
          {"exit_code", facts.exit_code ? boost::json::value(*facts.exit_code) : nullptr},
          {"signal", facts.signal},
          {"known_by", facts.known_by},
          {"pipeline", boost::json::array(facts.pipeline.begin(), facts.pipeline.end())},
          {"reason", facts.reason},
          {"cwd_after", facts.cwd_after},
          {"duration_ms", facts.duration_ms},
          {"marks", nonces},
          {"begin", command.range().begin},
          {"end", command.range().end},
          {"lost", facts.lost_bytes},
          {"newlines_before", command.newlines_before.value_or(0)},
          {"lines", facts.total_lines},
          {"background", background_record(facts.background)}};
}

}  // namespace ttyward::engine
