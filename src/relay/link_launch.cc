// Launches over the link: each is answered once, also when the link is lost in the middle of it.
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "relay/link.h"

namespace ttyward::relay {
namespace {

constexpr std::chrono::milliseconds kWholeMessage{1'000};

}  // namespace

void Link::take_launch(int fd) {
  take_files_first();  // that a shell reads while it starts
  const auto found = std::find_if(launching_.begin(), launching_.end(),
                                  [fd](const Launching& each) { return each.control.get() == fd; });
  if (found == launching_.end()) return;
  Launching& launching = *found;
  const bool known = !launching.request.hold.journal.id.empty();
  auto message = known ? std::nullopt : hold::receive_message(fd, kWholeMessage, &launching.stdin_fd);
  auto request = message ? hold::LaunchRequest::decode(*message) : std::nullopt;
  if (!request) {
    // It hung up, or is not one of us. What was sent for it is settled when the answer comes.
    loop_.poller().remove(fd);
    launching.control.reset();
    if (!launching.sent) launching_.erase(found);
    return consider_idle();
  }
  launching.request = std::move(*request);
  if (linked()) return send_launch(launching);
  if (problem_ && ever_linked_ && !mirrors_.empty())
    return refuse_launch(launching, base::ErrorCode::Unavailable, problem_->message);
  wanted();
}

void Link::send_launch(Launching& launching) {
  if (launching.tag != 0 || launching.request.hold.journal.id.empty()) return;
  if (++last_tag_ == 0) last_tag_ = 1;
  launching.tag = last_tag_;
  launching.sent = true;
  send(Type::Launch, 0, launching.tag,
       Encoder().string(launching.request.encode()).number(uint8_t{launching.stdin_fd.valid()}).take());
}

void Link::launched(uint32_t tag, std::string_view payload) {
  const auto found = std::find_if(launching_.begin(), launching_.end(),
                                  [tag](const Launching& each) { return each.tag == tag; });
  if (found == launching_.end()) return;
  Decoder in(payload);
  auto reply = hold::LaunchReply::decode(in.string());
  if (!reply) {
    refuse_launch(*found, base::ErrorCode::Corrupt, "the answer of the place is not understood");
    return;
  }
  answer_launch(*found, *reply);
}

void Link::answer_launch(Launching& launching, const hold::LaunchReply& reply) {
  hold::LaunchReply answer = reply;
  // Nobody waits for it any more: what was started must not stay.
  const bool unwanted = !reply.error && !launching.control;
  auto begun = reply.error || unwanted ? base::Result<void>{} : begin_mirror(launching, reply);
  if (!begun) {
    answer.error = pty::SpawnError{pty::SpawnFailure::Setup, begun.error()};
  }
  if (unwanted || !begun)
    send(Type::EndHolder, 0, 0, Encoder().number(static_cast<uint32_t>(reply.holder)).take());
  if (launching.control) {
    loop_.poller().remove(launching.control.get());
    static_cast<void>(hold::send_message(launching.control.get(), answer.encode()));
  }
  launching_.remove_if([&](const Launching& each) { return &each == &launching; });
  consider_idle();
}

void Link::refuse_launch(Launching& launching, base::ErrorCode code, const std::string& why) {
  hold::LaunchReply reply;
  reply.error = pty::SpawnError{pty::SpawnFailure::Setup, base::Error{code, 0, why}};
  answer_launch(launching, reply);
}

base::Result<void> Link::begin_mirror(Launching& launching, const hold::LaunchReply& reply) {
  const hold::LaunchRequest& request = launching.request;
  const auto folder = folder_of(request.journals, request.total_quota);
  if (folder == nullptr)
    return base::fail(base::ErrorCode::Io, "the folder of the journals cannot be used: " + request.journals);
  Mirror::Birth birth;
  birth.id = request.hold.journal.id;
  birth.sockets = request.sockets;
  birth.journal = request.hold.journal;
  birth.journal.provider = reply.provider;
  birth.journal.size = {request.hold.spawn.size.columns, request.hold.spawn.size.rows};
  birth.holder_pid = static_cast<uint32_t>(reply.holder);
  birth.child_pid = static_cast<uint32_t>(reply.child);
  birth.fallback_reason = reply.fallback_reason;
  birth.boot_id = welcome_->boot_id;
  birth.first_process = welcome_->first_process;
  const uint16_t channel = next_channel();
  note(birth, request.journals, request.total_quota);
  auto mirror = Mirror::create(*this, folder, birth, channel, Mirror::Copy::New);
  if (!mirror) {
    ::unlink((options_.state + "/" + birth.id).c_str());
    return tl::unexpected(mirror.error());
  }
  Mirror& made = **mirror;
  mirrors_.emplace(channel, std::move(*mirror));
  made.follow();
  if (launching.stdin_fd.valid()) made.set_stdin(std::move(launching.stdin_fd));
  return {};
}

// The link was lost while it was started: it was, or it never will be.
void Link::probe_launch(Launching& launching) {
  launching.channel = next_channel();
  send(Type::Follow, launching.channel, 0,
       Encoder()
           .string(launching.request.hold.journal.id)
           .number(uint64_t{0})
           .number(uint64_t{0})
           .number(uint8_t{1})
           .take());
}

void Link::probed(std::list<Launching>::iterator launching, const Frame& frame) {
  if (frame.type == Type::Missing) {
    return refuse_launch(*launching, base::ErrorCode::Unavailable,
                         "the link was lost before it was started, so it was not started");
  }
  if (frame.type != Type::Head) return;
  const auto head = HeadMessage::decode(frame.payload);
  if (!head) return;
  send(Type::Unfollow, launching->channel, 0, {});
  hold::LaunchReply reply;
  reply.holder = static_cast<pid_t>(head->holder_pid);
  reply.child = static_cast<pid_t>(head->child_pid);
  reply.provider =
      head->provider == journal::stored(base::Provider::Pty) ? base::Provider::Pty : base::Provider::Pipe;
  reply.fallback_reason = head->fallback_reason;
  answer_launch(*launching, reply);
}

void Link::finished(Mirror& mirror) {
  ::unlink((options_.state + "/" + mirror.birth().id).c_str());
  mirrors_.erase(mirror.channel());
  consider_idle();
}

}  // namespace ttyward::relay
