// The launch request and its reply, to and from bytes.
#include "hold/codec.h"
#include "hold/launch.h"
#include "hold/plan_message.h"

namespace ttyward::hold {

namespace {

constexpr uint32_t kLaunchVersion = 4;
constexpr uint32_t kMostLimits = 64;
constexpr std::string_view kPrepare = "prepare";  // its length is no version of a launch request

template <typename Enum>
bool in_range(uint8_t value, Enum last) {
  return value <= static_cast<uint8_t>(last);
}

}  // namespace

std::string HolderFolders::encode_prepare() const {
  Encoder out;
  out.string(kPrepare).number(kLaunchVersion).string(journals).number(total_quota).string(sockets);
  return out.take();
}

std::optional<HolderFolders> HolderFolders::decode_prepare(std::string_view bytes) {
  Decoder in(bytes);
  HolderFolders folders;
  if (in.string() != kPrepare || in.number<uint32_t>() != kLaunchVersion) return std::nullopt;
  folders.journals = in.string();
  folders.total_quota = in.number<uint64_t>();
  folders.sockets = in.string();
  if (!in.complete()) return std::nullopt;
  return folders;
}

std::string LaunchRequest::encode() const {
  const pty::SpawnSpec& spawn = hold.spawn;
  Encoder out;
  out.number(kLaunchVersion).string(journals).number(total_quota).string(sockets);
  out.strings(spawn.argv).strings(spawn.argv_prefix).string(spawn.cwd).strings(spawn.environment);
  out.number(static_cast<uint8_t>(spawn.provider));
  out.number(spawn.size.columns).number(spawn.size.rows);
  out.number(spawn.size.width_px).number(spawn.size.height_px);
  out.number(static_cast<uint8_t>(spawn.stdin_kind));
  out.number(static_cast<uint8_t>(spawn.session));
  out.number(static_cast<uint8_t>(spawn.umask.has_value())).number(uint32_t{spawn.umask.value_or(0)});
  out.number(static_cast<uint32_t>(spawn.limits.size()));
  for (const pty::ExecLimit& limit : spawn.limits) {
    out.number(static_cast<uint32_t>(limit.resource));
    out.number(static_cast<uint64_t>(limit.value.rlim_cur))
        .number(static_cast<uint64_t>(limit.value.rlim_max));
  }
  out.number(static_cast<uint8_t>(hold.no_pty));
  out.string(hold.journal.id).number(hold.journal.quota);
  out.number(static_cast<uint8_t>(hold.journal.overflow)).number(hold.journal.flags);
  out.number(static_cast<uint64_t>(hold.drain_time.count()));
  out.number(static_cast<uint8_t>(hold.survivors));
  encode_plan(out, spawn.sandbox);
  return out.take();
}

std::optional<LaunchRequest> LaunchRequest::decode(std::string_view bytes) {
  Decoder in(bytes);
  LaunchRequest request;
  if (in.number<uint32_t>() != kLaunchVersion) return std::nullopt;
  request.journals = in.string();
  request.total_quota = in.number<uint64_t>();
  request.sockets = in.string();
  pty::SpawnSpec& spawn = request.hold.spawn;
  spawn.argv = in.strings();
  spawn.argv_prefix = in.strings();
  spawn.cwd = in.string();
  spawn.environment = in.strings();
  const auto provider = in.number<uint8_t>();
  spawn.size.columns = in.number<uint16_t>();
  spawn.size.rows = in.number<uint16_t>();
  spawn.size.width_px = in.number<uint16_t>();
  spawn.size.height_px = in.number<uint16_t>();
  const auto stdin_kind = in.number<uint8_t>();
  const auto session = in.number<uint8_t>();
  const bool has_umask = in.number<uint8_t>() != 0;
  const auto umask = in.number<uint32_t>();
  if (has_umask) spawn.umask = umask;
  const auto limits = in.number<uint32_t>();
  if (limits > kMostLimits) return std::nullopt;
  for (uint32_t i = 0; i < limits; ++i) {
    pty::ExecLimit limit;
    limit.resource = static_cast<int>(in.number<uint32_t>());
    limit.value.rlim_cur = in.number<uint64_t>();
    limit.value.rlim_max = in.number<uint64_t>();
    spawn.limits.push_back(limit);
  }
  const auto no_pty = in.number<uint8_t>();
  request.hold.journal.id = in.string();
  request.hold.journal.quota = in.number<uint64_t>();
  const auto overflow = in.number<uint8_t>();
  request.hold.journal.flags = in.number<uint32_t>();
  request.hold.drain_time = std::chrono::milliseconds(in.number<uint64_t>() & 0xffffffffU);
  const auto survivors = in.number<uint8_t>();
  if (!decode_plan(in, spawn.sandbox)) return std::nullopt;
  const bool known = in_range(provider, pty::Provider::Pipe) &&
                     in_range(stdin_kind, pty::StdinKind::Descriptor) &&
                     in_range(session, pty::Session::Ours) && in_range(no_pty, NoPty::UsePipes) &&
                     in_range(survivors, Survivors::Kill) && overflow >= 1 &&
                     overflow <= static_cast<uint8_t>(journal::Overflow::Kill);
  if (!in.complete() || !known) return std::nullopt;
  spawn.provider = static_cast<pty::Provider>(provider);
  spawn.stdin_kind = static_cast<pty::StdinKind>(stdin_kind);
  spawn.session = static_cast<pty::Session>(session);
  request.hold.no_pty = static_cast<NoPty>(no_pty);
  request.hold.journal.overflow = static_cast<journal::Overflow>(overflow);
  request.hold.survivors = static_cast<Survivors>(survivors);
  return request;
}

std::string LaunchReply::encode() const {
  Encoder out;
  out.number(kLaunchVersion).number(static_cast<uint8_t>(error.has_value()));
  if (error) {
    out.number(static_cast<uint8_t>(error->failure)).number(static_cast<uint8_t>(error->error.code));
    out.number(static_cast<int32_t>(error->error.sys_errno)).string(error->error.message);
  } else {
    out.number(static_cast<int32_t>(holder)).number(static_cast<int32_t>(child));
    out.number(static_cast<uint8_t>(provider)).string(fallback_reason);
  }
  return out.take();
}

std::optional<LaunchReply> LaunchReply::decode(std::string_view bytes) {
  Decoder in(bytes);
  LaunchReply reply;
  if (in.number<uint32_t>() != kLaunchVersion) return std::nullopt;
  if (in.number<uint8_t>() != 0) {
    pty::SpawnError error;
    const auto failure = in.number<uint8_t>();
    const auto code = in.number<uint8_t>();
    if (!in_range(failure, pty::SpawnFailure::Setup) || !in_range(code, base::ErrorCode::Io))
      return std::nullopt;
    error.failure = static_cast<pty::SpawnFailure>(failure);
    error.error.code = static_cast<base::ErrorCode>(code);
    error.error.sys_errno = in.number<int32_t>();
    error.error.message = in.string();
    reply.error = std::move(error);
  } else {
    reply.holder = in.number<int32_t>();
    reply.child = in.number<int32_t>();
    const auto provider = in.number<uint8_t>();
    if (!in_range(provider, pty::Provider::Pipe)) return std::nullopt;
    reply.provider = static_cast<pty::Provider>(provider);
    reply.fallback_reason = in.string();
  }
  if (!in.complete()) return std::nullopt;
  return reply;
}

}  // namespace ttyward::hold
