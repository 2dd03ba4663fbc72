#include "app/following.h"

#include <memory>
#include <utility>

#include "app/objects.h"

namespace ttyward::app {

using engine::Command;
using engine::Terminal;

namespace {

wire::StreamPart part_object(const engine::StreamPart& part) {
  wire::StreamPart made;
  if (!part.output.empty()) {
    made.output = part.output;
    made.again = wire::Again{part.lines, {}, {}};
  }
  if (part.state) {
    made.state = terminal::command_state_name(*part.state);
    made.waiting.emplace();
  }
  if (part.waiting) made.waiting.emplace(waiting_object(*part.waiting));
  if (part.binary_bytes) made.binary = wire::BinaryBytes{*part.binary_bytes};
  if (part.progress) {
    made.progress.emplace();
    if (part.progress->state != vt::Progress::State::None)
      made.progress->emplace(wire::Progress{std::nullopt, part.progress->percent});
  }
  return made;
}

wire::DialogueOutcome dialogue_object(const engine::DialogueOutcome& came) {
  wire::DialogueOutcome made;
  made.end = engine::dialogue_end_name(came.end);
  made.reason = came.reason;
  for (const auto& one : came.used)
    made.used.push_back({static_cast<int64_t>(one.reply), one.line, one.asked});
  made.used_count = came.used_count;
  return made;
}

}  // namespace

void Following::answer_with(const std::string& command_id, const std::string& reader,
                            const terminal::ViewLimits& view, const Reply<wire::CommandResult>& reply) {
  const auto found = core_.engine->find_command(command_id);
  if (!found || !found->command->over() || !change_sets_.unsettled(command_id))
    return answer_settled(command_id, reader, view, reply);
  change_sets_.when_settled(command_id, [=, this] { answer_settled(command_id, reader, view, reply); });
}

void Following::answer_settled(const std::string& command_id, const std::string& reader,
                               const terminal::ViewLimits& view, const Reply<wire::CommandResult>& reply) {
  watching_.when_viewable(command_id, view, {}, [=, this] {
    const auto found = core_.engine->find_command(command_id);
    if (!found) return reply.fail(found.error());
    if (!reply.open()) return;
    Terminal& terminal = *found->terminal;
    wire::CommandResult answer = watching_.result_for(terminal, *found->command, reader, view, false);
    if (!terminal.typed_meanwhile().empty() && found->command->by == engine::Owner::Agent) {
      answer.typed_meanwhile = terminal.typed_meanwhile();
      terminal.forget_typed_meanwhile();
    }
    const std::string& summarizer = core_.settings().output.summarizer;
    if (!summarizer.empty() && view.agent && found->command->over() && !answer.binary &&
        answer.output.size() >= Summarizer::kLeastChars)
      return summarize(summarizer, terminal, *found->command, answer, reply);
    if (!view.agent || answer.state != "running") return reply.ok(answer);
    history_.usual(answer.command, answer.cwd, [answer, reply](const std::optional<wire::UsualRun>& usual) {
      wire::CommandResult with = answer;
      with.usual = usual;
      reply.ok(with);
    });
  });
}

void Following::summarize(const std::string& line, Terminal& terminal, const Command& command,
                          const wire::CommandResult& answer, const Reply<wire::CommandResult>& reply) {
  constexpr uint64_t kMostChars = 1 << 20;
  const terminal::ViewLimits text{.lines = 0, .chars = kMostChars, .head_percent = 50};
  Summarizer::Output output{answer.command, answer.output, terminal.result(command, text).output.text};
  summarizer_.summarize(line, std::move(output), [answer, reply](const std::optional<std::string>& summary) {
    wire::CommandResult with = answer;
    if (summary) {
      with.output = *summary + "[a summary by your summarizer; the digest: read_output " + answer.command_id +
                    ", view digest]\n";
    }
    reply.ok(with);
  });
}

void Following::interrupt_abandoned(const std::string& command_id, bool by_agent) {
  const auto found = core_.engine->find_command(command_id);
  if (!found || found->command->over()) return;
  if (by_agent && found->terminal->lease()) return;  // a person has the keyboard
  found->terminal->interrupt([](const auto&) {});
}

void Following::follow(const Caller& caller, Terminal& terminal, const Command& command, const Follow& how,
                       const Reply<wire::CommandResult>& reply) {
  const std::string id = command.facts.command_id;
  const uint64_t key = core_.calls.add(
      reply, [this, id, interrupt = how.interrupt_on_cancel, agent = caller.role != Role::Person] {
        if (interrupt) interrupt_abandoned(id, agent);
      });
  const auto give_up = [&](const base::Error& error) {
    reply.fail(error);
    core_.calls.end(key);
  };
  std::shared_ptr<engine::LiveStream> stream;
  if (how.stream) {
    auto made = engine::LiveStream::start(
        core_.loop, terminal, id, [reply](const engine::StreamPart& part) { reply.part(part_object(part)); },
        how.from_line);
    if (!made) return give_up(made.error());
    stream = std::move(*made);
    // The open call owns the stream, so it ends with the call.
    core_.calls.find(key)->parts.push_back(stream);
  }
  if (!how.replies.empty()) {
    if (auto begun = start_dialogue(key, terminal, id, how, stream, reply); !begun) give_up(begun.error());
    return;
  }
  engine::WaitSpec spec;
  spec.command_id = id;
  spec.exit = true;
  spec.input = how.stop_at_input;
  spec.timeout = how.yield_after;
  auto wait = engine::Wait::start(
      core_.loop, terminal, std::move(spec),
      [this, stream, key, id, reader = caller.reader, view = how.view, reply](const engine::WaitOutcome&) {
        const auto answer = [=, this] {
          answer_with(id, reader, view, reply);
          core_.calls.end(key);
        };
        stream ? stream->finish(answer) : answer();
      });
  if (!wait) return give_up(wait.error());
  core_.calls.find(key)->wait = std::move(*wait);
}

base::Result<void> Following::start_dialogue(uint64_t key, Terminal& terminal, const std::string& command_id,
                                             const Follow& how,
                                             const std::shared_ptr<engine::LiveStream>& stream,
                                             const Reply<wire::CommandResult>& reply) {
  engine::DialogueSpec spec;
  spec.command_id = command_id;
  spec.replies = how.replies;
  spec.timeout = how.replies_timeout;
  spec.by = how.replies_by;
  auto dialogue = engine::Dialogue::start(
      core_.loop, terminal, std::move(spec),
      [this, stream, key, command_id, view = how.view, reply](const engine::DialogueOutcome& came) {
        const auto answer = [=, this] {
          core_.calls.end(key);
          watching_.when_readable({command_id},
                                  [=, this] { answer_with_dialogue(command_id, view, came, reply); });
        };
        stream ? stream->finish(answer) : answer();
      });
  if (!dialogue) return tl::unexpected(dialogue.error());
  core_.calls.find(key)->parts.push_back(std::shared_ptr<engine::Dialogue>(std::move(*dialogue)));
  return {};
}

void Following::answer_with_dialogue(const std::string& command_id, const terminal::ViewLimits& view,
                                     const engine::DialogueOutcome& came,
                                     const Reply<wire::CommandResult>& reply) {
  const auto found = core_.engine->find_command(command_id);
  if (!found) return reply.fail(found.error());
  if (!reply.open()) return;
  wire::CommandResult answer = result_object(found->terminal->result(*found->command, view));
  answer.dialogue = dialogue_object(came);
  if (answer.reason.empty()) answer.reason = came.reason;
  reply.ok(answer);
}

}  // namespace ttyward::app
