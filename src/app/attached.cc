// People at the screen of a terminal, and the one who has its keyboard.
#include <utility>

#include "app/objects.h"
#include "app/screen_object.h"
#include "app/watching.h"
#include "base/unix_time.h"

namespace ttyward::app {

using engine::Terminal;

Outcome<Watching::Attachment*> Watching::find_attachment(const Caller& caller, uint64_t key) {
  const auto found = attachments_.find(key);
  if (found == attachments_.end() || found->second->connection != caller.connection)
    return refuse(wire::Code::NotFound, "you are no longer attached to this terminal; attach again");
  return found->second.get();
}

void Watching::take_keyboard(Terminal& terminal) {
  for (const auto& [key, other] : attachments_) {
    if (other->terminal != terminal.id() || !other->writable) continue;
    other->writable = false;
    sink_.event(other->connection, key, wire::AttachKeyboard{false});
  }
}

Outcome<wire::Attached> Watching::attach(const Caller& caller, const wire::AttachRequest& request) {
  const bool read_only = request.read_only || caller.role != Role::Person;
  const auto found = find_terminal(core_, caller, Use::Read, request.terminal);
  if (!found) return tl::unexpected(found.error());
  Terminal& terminal = *found->terminal;
  if (!terminal.live()) {
    return refuse(wire::Code::Unavailable,
                  "terminal " + terminal.id() + " has ended; `ttyward read` shows its output");
  }
  if (!read_only && terminal.lease() && terminal.lease()->connection != caller.connection) {
    if (!request.take) {
      return refuse(wire::Code::Busy, terminal.lease()->by + " has the keyboard of terminal " +
                                          terminal.id() + "; watch with --read-only, or take it with --take");
    }
    take_keyboard(terminal);
  }
  const uint64_t key = ++last_key_;
  auto made = std::make_unique<Attachment>();
  made->connection = caller.connection;
  made->terminal = terminal.id();
  made->writable = !read_only;
  if (!read_only) {
    terminal.set_lease(Terminal::Lease{caller.connection, caller.client, base::unix_ms()});
    pty::WindowSize wanted = terminal.spec().size;
    if (request.size)
      wanted = {static_cast<uint16_t>(request.size->cols), static_cast<uint16_t>(request.size->rows), 0, 0};
    if (!(wanted == terminal.spec().size)) terminal.resize(wanted, [](const auto&) {});
  }
  made->viewer = std::make_unique<engine::Viewer>(core_.loop, terminal, [this, key] { send_changes(key); });
  Attachment& attachment = *made;
  attachments_.emplace(key, std::move(made));
  wire::Attached answer;
  answer.subscription = key;
  answer.screen = screen_object(attachment.viewer->take_all());
  answer.writable = attachment.writable;
  answer.terminal = terminal_object(*core_.engine, terminal);
  return answer;
}

void Watching::send_changes(uint64_t key) {
  const auto found = attachments_.find(key);
  if (found == attachments_.end()) return;
  Attachment& attachment = *found->second;
  if (attachment.viewer->closed()) return end_attachment(key, "the terminal has ended");
  if (attachment.paused) return;
  if (sink_.must_pause(attachment.connection)) {
    attachment.paused = true;
    sink_.on_drained(attachment.connection, [this, alive = core_.alive, key] {
      if (!*alive) return;
      const auto again = attachments_.find(key);
      if (again == attachments_.end()) return;
      again->second->paused = false;
      send_changes(key);
    });
    return;
  }
  const auto delta = attachment.viewer->take();
  if (delta) sink_.event(attachment.connection, key, wire::AttachScreen{screen_object(*delta)});
}

void Watching::end_attachment(uint64_t key, const std::string& reason) {
  const auto found = attachments_.find(key);
  if (found == attachments_.end()) return;
  std::shared_ptr<Attachment> gone = std::move(found->second);
  attachments_.erase(found);
  if (gone->writable) {
    const auto terminal = core_.engine->find(gone->terminal);
    if (terminal && (*terminal)->lease() && (*terminal)->lease()->connection == gone->connection)
      (*terminal)->set_lease(std::nullopt);
  }
  if (!reason.empty()) {
    if (const auto last = gone->viewer->take())
      sink_.event(gone->connection, key, wire::AttachScreen{screen_object(*last)});
    sink_.event(gone->connection, key, wire::AttachClosed{reason});
  }
  core_.loop.post([gone] {});  // its viewer may be the one who told us
}

void Watching::attach_input(const Caller& caller, const wire::AttachInputRequest& request,
                            const Reply<wire::Nothing>& reply) {
  const auto found = find_attachment(caller, request.subscription);
  if (!found) return reply.fail(found.error());
  if (!(*found)->writable) {
    return reply.fail(wire::Code::PermissionDenied,
                      "you only watch this terminal; somebody else has the keyboard");
  }
  const auto terminal = core_.engine->find((*found)->terminal);
  if (!terminal) return reply.fail(terminal.error());
  (*terminal)->input(request.base64.bytes, engine::Owner::User, [reply](const base::Result<void>& sent) {
    sent ? reply.ok({}) : reply.fail(sent.error());
  });
}

Outcome<wire::Nothing> Watching::attach_resize(const Caller& caller,
                                               const wire::AttachResizeRequest& request) {
  const auto found = find_attachment(caller, request.subscription);
  if (!found) return tl::unexpected(found.error());
  const auto terminal = core_.engine->find((*found)->terminal);
  if (terminal && (*found)->writable) {
    (*terminal)->resize({static_cast<uint16_t>(request.cols), static_cast<uint16_t>(request.rows), 0, 0},
                        [](const auto&) {});
  }
  return wire::Nothing{};
}

Outcome<wire::Nothing> Watching::detach(const Caller& caller, const wire::DetachRequest& request) {
  const auto found = find_attachment(caller, request.subscription);
  if (!found) return tl::unexpected(found.error());
  end_attachment(request.subscription, "");
  return wire::Nothing{};
}

}  // namespace ttyward::app
