#include "engine/recording.h"

#include "app/watching.h"
#include "base/mask_secrets.h"

namespace ttyward::app {
namespace {

wire::RecordingMark mark_object(const engine::RecordedMark& mark) {
  using Kind = engine::RecordedMark::Kind;
  wire::RecordingMark made;
  made.offset = mark.offset;
  made.at_us = mark.at_us;
  switch (mark.kind) {
    case Kind::Time:
      break;
    case Kind::Resize:
      made.kind = wire::RecordingMarkKind::Resize;
      made.cols = mark.cols;
      made.rows = mark.rows;
      break;
    case Kind::Gap:
      made.kind = wire::RecordingMarkKind::Gap;
      made.bytes = mark.bytes;
      made.newlines = mark.newlines;
      break;
  }
  return made;
}

wire::RecordedCommand command_object(const engine::Command& command, uint64_t offset) {
  wire::RecordedCommand made;
  made.command_id = command.facts.command_id;
  made.command = base::mask_secrets(command.facts.command);
  made.offset = offset;
  made.started_at = wire::Time{command.facts.started_at_ms};
  if (command.over()) made.exit_code = command.facts.exit_code;
  return made;
}

}  // namespace

Outcome<wire::RecordingPart> Watching::recording(const Caller& caller,
                                                 const wire::RecordingRequest& request) {
  const auto found = find_terminal(core_, caller, Use::Read, request.terminal, request.command);
  if (!found) return tl::unexpected(found.error());
  const std::string command_id = found->command != nullptr ? found->command->facts.command_id : "";
  const auto source = engine::OutputSource::find(*found->terminal, command_id);
  if (!source) return tl::unexpected(wire::call_error(source.error()));
  std::optional<uint64_t> offset;
  if (request.offset) offset = static_cast<uint64_t>(*request.offset);
  auto part = engine::read_recording(*source, offset, static_cast<size_t>(request.bytes));
  if (!part) return tl::unexpected(wire::call_error(part.error()));
  wire::RecordingPart made;
  made.terminal_id = found->terminal->id();
  made.command_id = command_id;
  made.name = found->terminal->spec().name;
  made.provider = pty::provider_name(found->terminal->provider());
  made.ended = source->ended();
  made.created_at_us = part->created_at_us;
  made.begin = part->begin;
  made.end = part->end;
  made.next_offset = part->next;
  made.more = part->next < part->end;
  made.base64 = wire::Bytes{std::move(part->bytes)};
  for (const engine::RecordedMark& mark : part->marks) made.marks.push_back(mark_object(mark));
  if (request.offset) return made;
  if (found->command != nullptr) {
    made.commands.push_back(command_object(*found->command, made.begin));
    return made;
  }
  const bool temporary = found->terminal->spec().temporary();
  for (const auto& command : found->terminal->commands()) {
    if (temporary || command->started_seen)
      made.commands.push_back(command_object(*command, temporary ? 0 : command->range().begin));
  }
  return made;
}

}  // namespace ttyward::app
