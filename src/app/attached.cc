// People at the screen of a terminal, and the one who has its keyboard.
#include <algorithm>
#include <utility>

#include "app/objects.h"
#include "app/screen_object.h"
#include "app/watching.h"
#include "base/unix_time.h"
#include "engine/read.h"
#include "vt/input_encoder.h"
#include "vt/serialize/serialize.h"

namespace ttyward::app {

using engine::Terminal;

namespace {

// The last `most` characters of it.
std::string end_of(const std::string& text, size_t most) {
  size_t at = text.size();
  for (size_t count = 0; at > 0 && count < most;) {
    at--;
    if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80) count++;
  }
  return text.substr(at);
}

}  // namespace

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
    core_.loop.cancel(other->idle);
    sink_.event(other->connection, key, wire::AttachKeyboard{false});
  }
}

// A page whose computer sleeps, or whose tab is frozen, does not give the keyboard back: the daemon does.
void Watching::expect_input(uint64_t key, Attachment& attachment) {
  core_.loop.cancel(attachment.idle);
  if (!attachment.writable || attachment.give_back.count() == 0) return;
  attachment.idle = core_.loop.after(attachment.give_back, [this, alive = core_.alive, key] {
    if (!*alive) return;
    const auto found = attachments_.find(key);
    if (found == attachments_.end()) return;
    found->second->idle = 0;
    release_keyboard(*found->second);
    sink_.event(found->second->connection, key, wire::AttachKeyboard{false, "idle"});
  });
}

void Watching::release_keyboard(Attachment& attachment) {
  if (!attachment.writable) return;
  attachment.writable = false;
  const auto terminal = core_.engine->find(attachment.terminal);
  if (terminal && (*terminal)->lease() && (*terminal)->lease()->connection == attachment.connection)
    (*terminal)->set_lease(std::nullopt);
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
  if (caller.role == Role::Person) core_.active_terminal = terminal.id();
  const uint64_t key = ++last_key_;
  auto made = std::make_unique<Attachment>();
  made->connection = caller.connection;
  made->terminal = terminal.id();
  made->writable = !read_only;
  made->give_back = std::chrono::milliseconds(request.give_back_ms);
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
  expect_input(key, attachment);
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
  core_.loop.cancel(gone->idle);
  release_keyboard(*gone);
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
  expect_input(request.subscription, **found);
  std::string bytes = request.base64.bytes;
  if (request.keys) {
    auto encoded = vt::encode_keys(*request.keys, (*terminal)->output().screen().keyboard());
    if (!encoded) return reply.fail(encoded.error());
    bytes = std::move(*encoded);
  }
  (*terminal)->input(bytes, engine::Owner::User, [reply](const base::Result<void>& sent) {
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

Outcome<wire::Selected> Watching::select(const Caller& caller, const wire::SelectRequest& request) {
  constexpr size_t kMost = 16'000;  // characters; the end is kept
  if (request.clear) {
    core_.marked.reset();
    return wire::Selected{};
  }
  const auto found = find_terminal(core_, caller, Use::Read, request.terminal);
  if (!found) return tl::unexpected(found.error());
  Terminal& terminal = *found->terminal;
  std::string text;
  if (request.range) {
    const auto [from, to] = *request.range;
    if (from < 1 || to < from)
      return refuse(wire::Code::InvalidArgument,
                    "'range' is two line numbers, from 1, the smaller one first");
    auto source = engine::OutputSource::find(terminal, {});
    if (!source) return tl::unexpected(wire::call_error(source.error()));
    auto read = engine::read_range(*source, static_cast<uint64_t>(from), static_cast<uint64_t>(to),
                                   terminal::ViewLimits{});
    if (!read) return tl::unexpected(wire::call_error(read.error()));
    text = std::move(read->text);
  } else {
    text = vt::screen_as(terminal.output().screen(), *vt::format_named("text"));
    text.erase(std::min(text.size(), text.find_last_not_of('\n') + 2));
  }
  core_.marked = Marked{terminal.id(), end_of(text, kMost), caller.client, base::unix_ms()};
  return wire::Selected{
      wire::Selection{core_.marked->terminal, core_.marked->text, core_.marked->by, {core_.marked->at_ms}}};
}

void Watching::add_person(const Caller& caller, wire::EnvironmentNews& news) {
  const auto readable = [&](const std::string& id) -> Terminal* {
    const auto found = id.empty() ? base::Result<Terminal*>(nullptr) : core_.engine->find(id);
    return found && *found != nullptr && core_.may(caller, **found, Use::Read) ? *found : nullptr;
  };
  if (Terminal* active = readable(core_.active_terminal)) {
    wire::AtPerson person;
    person.terminal = active->id();
    person.attached = std::any_of(attachments_.begin(), attachments_.end(),
                                  [&](const auto& each) { return each.second->terminal == active->id(); });
    if (!active->spec().temporary()) person.shell = shell::shell_kind_name(active->shell().kind);
    if (const engine::Command* last = active->last()) person.last_command = last->facts.command;
    news.text += (news.text.empty() ? "" : "\n") + std::string("# Where a person ") +
                 (person.attached ? "is" : "was last") + "\nTerminal " + person.terminal +
                 (active->spec().name.empty() ? "" : " \"" + active->spec().name + "\"") + "\n" +
                 (person.last_command.empty() ? "" : "Last command: " + person.last_command + "\n");
    news.person = std::move(person);
  }
  if (core_.marked && readable(core_.marked->terminal) != nullptr) {
    const Marked& marked = *core_.marked;
    news.selection = wire::Selection{marked.terminal, marked.text, marked.by, {marked.at_ms}};
    news.text += (news.text.empty() ? "" : "\n") + std::string("# What a person marked in terminal ") +
                 marked.terminal + "\n" + marked.text + (marked.text.ends_with('\n') ? "" : "\n");
  }
}

}  // namespace ttyward::app
