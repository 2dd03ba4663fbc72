#include "app/terminal_access.h"

namespace ttyward::app {

std::optional<wire::CallError> refusal(const Core& core, const Caller& caller,
                                       const engine::Terminal& terminal, Use use) {
  if (core.may(caller, terminal, use)) return std::nullopt;
  return wire::CallError{wire::Code::PermissionDenied, no_access(terminal, use)};
}

std::optional<wire::CallError> held(const Caller& caller, const engine::Terminal& terminal) {
  if (!terminal.lease() || caller.role == Role::Person) return std::nullopt;
  return wire::CallError{wire::Code::Busy, terminal.lease()->by + " has the keyboard of terminal " +
                                               terminal.id() +
                                               "; try again when it is given back, or use another terminal"};
}

Outcome<FoundTerminal> find_terminal(const Core& core, const Caller& caller, Use use,
                                     const std::string& terminal, const std::string& command) {
  if (terminal.empty() && command.empty())
    return tl::unexpected(wire::CallError{wire::Code::InvalidArgument, "'terminal' or 'command' is missing"});
  FoundTerminal found;
  if (!command.empty()) {
    const auto named = core.engine->find_command(command);
    if (!named) return tl::unexpected(wire::call_error(named.error()));
    found = {named->terminal, named->command};
  } else {
    const bool active = terminal == kActiveTerminal;
    if (active && core.active_terminal.empty()) {
      return tl::unexpected(wire::CallError{
          wire::Code::NotFound, "no person has attached to a terminal yet: name one by its id (ttyward ls)"});
    }
    const auto named = core.engine->find(active ? core.active_terminal : terminal);
    if (!named) return tl::unexpected(wire::call_error(named.error()));
    found.terminal = *named;
  }
  if (auto why = refusal(core, caller, *found.terminal, use)) return tl::unexpected(std::move(*why));
  return found;
}

Outcome<FoundTerminal> find_free_terminal(const Core& core, const Caller& caller, const std::string& terminal,
                                          const std::string& command) {
  auto found = find_terminal(core, caller, Use::Act, terminal, command);
  if (!found) return found;
  if (auto why = held(caller, *found->terminal)) return tl::unexpected(std::move(*why));
  return found;
}

wire::CallError not_yours(const std::string& command_id) {
  return {wire::Code::PermissionDenied, "command " + command_id + " belongs to another agent"};
}

}  // namespace ttyward::app
