#include "hold/plan_message.h"

namespace ttyward::hold {
namespace {

using sandbox::Entry;

constexpr uint32_t kMostEntries = 4096;

void encode_entry(Encoder& out, const Entry& entry) {
  out.string(entry.path)
      .number(static_cast<uint8_t>(entry.access))
      .number(static_cast<uint8_t>(entry.optional));
  out.string(entry.upper).string(entry.work);
}

bool decode_entry(Decoder& in, Entry& entry) {
  entry.path = in.string();
  const auto access = in.number<uint8_t>();
  entry.optional = in.number<uint8_t>() != 0;
  entry.upper = in.string();
  entry.work = in.string();
  if (access > static_cast<uint8_t>(Entry::Access::Overlay)) return false;
  entry.access = static_cast<Entry::Access>(access);
  return in.ok() && entry.path.starts_with("/");
}

}  // namespace

void encode_plan(Encoder& out, const std::optional<sandbox::Plan>& plan) {
  out.number(static_cast<uint8_t>(plan.has_value()));
  if (!plan) return;
  out.string(plan->profile).number(static_cast<uint8_t>(plan->walls)).string(plan->workspace);
  out.number(static_cast<uint32_t>(plan->entries.size()));
  for (const Entry& entry : plan->entries) encode_entry(out, entry);
  out.string(plan->home).string(plan->home_link).strings(plan->hidden).strings(plan->read_only);
  out.number(static_cast<uint8_t>(plan->network)).string(plan->proxy_socket).strings(plan->hosts);
  const sandbox::Limits& limits = plan->limits;
  for (const uint64_t value : {limits.processes, limits.memory, limits.file_size, limits.open_files,
                               limits.cpu_seconds, limits.scratch})
    out.number(value);
  out.number(static_cast<uint8_t>(plan->groups.memory)).number(static_cast<uint8_t>(plan->groups.processes));
  out.number(static_cast<uint8_t>(plan->run_as.has_value()));
  const sandbox::Identity who = plan->run_as.value_or(sandbox::Identity{});
  out.number(static_cast<uint32_t>(who.user)).number(static_cast<uint32_t>(who.group));
  out.number(static_cast<uint8_t>(who.stand_in));
  out.string(plan->image).string(plan->engine).strings(plan->engine_options).strings(plan->notes);
}

bool decode_plan(Decoder& in, std::optional<sandbox::Plan>& plan) {
  if (in.number<uint8_t>() == 0) return in.ok();
  sandbox::Plan& made = plan.emplace();
  made.profile = in.string();
  const auto walls = in.number<uint8_t>();
  made.workspace = in.string();
  const auto entries = in.number<uint32_t>();
  if (entries > kMostEntries) return false;
  for (uint32_t i = 0; i < entries; ++i)
    if (!decode_entry(in, made.entries.emplace_back())) return false;
  made.home = in.string();
  made.home_link = in.string();
  made.hidden = in.strings();
  made.read_only = in.strings();
  const auto network = in.number<uint8_t>();
  made.proxy_socket = in.string();
  made.hosts = in.strings();
  sandbox::Limits& limits = made.limits;
  for (uint64_t* value : {&limits.processes, &limits.memory, &limits.file_size, &limits.open_files,
                          &limits.cpu_seconds, &limits.scratch})
    *value = in.number<uint64_t>();
  made.groups.memory = in.number<uint8_t>() != 0;
  made.groups.processes = in.number<uint8_t>() != 0;
  const bool has_user = in.number<uint8_t>() != 0;
  sandbox::Identity who;
  who.user = in.number<uint32_t>();
  who.group = in.number<uint32_t>();
  who.stand_in = in.number<uint8_t>() != 0;
  if (has_user) made.run_as = who;
  made.image = in.string();
  made.engine = in.string();
  made.engine_options = in.strings();
  made.notes = in.strings();
  if (!in.ok() || walls > static_cast<uint8_t>(sandbox::Walls::Container) ||
      network > static_cast<uint8_t>(sandbox::Network::Host))
    return false;
  made.walls = static_cast<sandbox::Walls>(walls);
  made.network = static_cast<sandbox::Network>(network);
  return true;
}

}  // namespace ttyward::hold
