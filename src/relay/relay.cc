#include "relay/relay.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <utility>

#include "base/hex.h"
#include "base/path.h"
#include "base/sha256.h"
#include "place/local.h"
#include "pty/proc.h"
#include "relay/feeder.h"
#include "relay/own_file.h"
#include "relay/questions.h"

extern char** environ;

namespace ttyward::relay {
namespace {

// Output waits in the journals while so much is on its way out: what is small and urgent stays quick.
constexpr size_t kOutAhead = 128 * 1024;
constexpr size_t kMostPasswd = 4 << 20;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// The user's line of /etc/passwd. Not getpwuid(): a static program cannot load what that needs.
struct PasswdEntry {
  std::string name;
  std::string home;
  std::string shell;
};

PasswdEntry passwd_entry(uid_t uid) {
  PasswdEntry entry;
  const auto text = pty::read_proc_file("/etc/passwd", kMostPasswd);
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    std::vector<std::string> fields(1);
    for (const char c : line) {
      if (c == ':') {
        fields.emplace_back();
      } else {
        fields.back() += c;
      }
    }
    if (fields.size() < 7 || fields[2] != std::to_string(uid)) continue;
    return {fields[0], fields[5], fields[6]};
  }
  return entry;
}

std::string first_line(const std::string& path) {
  const auto text = pty::read_proc_file(path);
  return text ? text->substr(0, text->find('\n')) : "";
}

uint64_t unix_now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

bool executable(const std::string& path) {
  return !path.empty() && ::access(path.c_str(), X_OK) == 0;
}

std::string find_program(const std::string& name) {
  const std::string search = variable("PATH").empty() ? "/usr/local/bin:/usr/bin:/bin" : variable("PATH");
  std::string found;
  place::local().program(name, search + ":/usr/bin:/bin", [&](const std::string& path) { found = path; });
  return found;
}

std::string encode_error(const base::Error& error) {
  return Encoder()
      .number(static_cast<uint8_t>(error.code))
      .number(int32_t{error.sys_errno})
      .string(error.message)
      .take();
}

}  // namespace

base::Result<std::unique_ptr<Relay>> Relay::create(io::Loop& loop, base::UniqueFd in, base::UniqueFd out,
                                                   RelayOptions options) {
  for (const int fd : {in.get(), out.get()}) {
    const int flags = ::fcntl(fd, F_GETFL);
    if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0)
      return base::fail_errno(errno, "cannot use the stream");
  }
  const std::string journals = options.folder + "/journals";
  std::unique_ptr<Relay> relay(new Relay(loop, std::move(in), std::move(out), std::move(options)));
  sweep_programs(relay->options_.folder + "/bin");
  auto folder = journal::Folder::open(journals);
  if (!folder) return tl::unexpected(folder.error());
  relay->journals_ = std::move(*folder);
  for (const char* name : {"/holders", "/shells"}) {
    if (auto made = base::open_private_folder(relay->options_.folder + name, base::IfMissing::Create);
        !made) {
      return tl::unexpected(made.error());
    }
  }
  if (auto added = loop.poller().add(relay->in_.get(), EPOLLIN, *relay); !added)
    return tl::unexpected(added.error());
  if (auto added = loop.poller().add(relay->out_fd_.get(), 0, *relay); !added)
    return tl::unexpected(added.error());
  relay->out_ = std::string(kStreamMarker) + " " + relay->options_.nonce + "\n";
  relay->flush();
  relay->watch_silence();
  if (auto forks = hold::ForkServer::start(relay->options_.program)) relay->forks_ = std::move(*forks);
  return relay;
}

Relay::Relay(io::Loop& loop, base::UniqueFd in, base::UniqueFd out, RelayOptions options)
    : loop_(loop),
      in_(std::move(in)),
      out_fd_(std::move(out)),
      options_(std::move(options)),
      sockets_(options_.folder + "/holders"),
      heard_(io::Loop::Clock::now()) {}

Relay::~Relay() {
  *alive_ = false;
  terminals_.clear();
  loop_.cancel(silence_);
  for (const auto& [fd, launching] : launching_) loop_.poller().remove(fd);
  loop_.poller().remove(in_.get());
  loop_.poller().remove(out_fd_.get());
}

// The other end sends something at least every few seconds. While a relay that nobody reads follows a
// terminal, that terminal's output would have to wait.
void Relay::watch_silence() {
  silence_ = loop_.after(options_.silence / 4, [this] {
    if (io::Loop::Clock::now() - heard_ > options_.silence) return end();
    watch_silence();
  });
}

void Relay::end() {
  ended_ = true;
  loop_.stop();
}

void Relay::on_ready(int fd, uint32_t events) {
  if (ended_) return;
  if (fd == in_.get()) {
    read_frames();
  } else if (fd == out_fd_.get()) {
    if ((events & (EPOLLERR | EPOLLHUP)) != 0) return end();
    flush();
  } else {
    launched(fd);
  }
  pump_all();
}

void Relay::read_frames() {
  std::array<char, 64 * 1024> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const ssize_t got = ::read(in_.get(), buffer.data(), buffer.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) return end();
  heard_ = io::Loop::Clock::now();
  frames_.push({buffer.data(), static_cast<size_t>(got)});
  while (auto frame = frames_.next()) {
    take(*frame);
    if (ended_) return;
  }
  if (frames_.broken()) end();
}

void Relay::take(const Frame& frame) {
  if (!greeted_) return greet(frame);
  if (frame.channel == 0) return take_own(frame);
  const auto found = terminals_.find(frame.channel);
  Decoder in(frame.payload);
  switch (frame.type) {
    case Type::Follow: {
      FarTerminal::Start start;
      start.id = in.string();
      start.from = in.number<uint64_t>();
      start.window = in.number<uint64_t>();
      start.rule_out = in.number<uint8_t>() != 0;
      if (!in.complete() || !journal::valid_id(start.id)) return end();
      terminals_.erase(frame.channel);
      terminals_.emplace(frame.channel, std::unique_ptr<FarTerminal>(
                                            new FarTerminal(*this, frame.channel, std::move(start))));
      return;
    }
    case Type::Unfollow:
      if (found != terminals_.end()) terminals_.erase(found);
      return;
    case Type::Credit:
      if (found != terminals_.end()) found->second->add_credit(in.number<uint64_t>());
      return;
    case Type::Request:
      if (found != terminals_.end()) found->second->request(frame.tag, frame.payload);
      return;
    case Type::Stdin:
      if (found != terminals_.end()) found->second->stdin_bytes(frame.payload);
      return;
    default:
      return end();
  }
}

void Relay::greet(const Frame& frame) {
  Decoder in(frame.payload);
  const auto magic = in.number<uint32_t>();
  const auto version = in.number<uint32_t>();
  const std::string nonce = in.string();
  if (frame.type != Type::Hello || magic != kMagic || nonce != options_.nonce) return end();
  if (version != kVersion) {
    send(Type::Refused, 0, frame.tag,
         Encoder()
             .string("the relay there speaks version " + std::to_string(kVersion) +
                     " of the protocol, and version " + std::to_string(version) + " was asked for")
             .take());
    return end();
  }
  greeted_ = true;
  send(Type::Welcome, 0, frame.tag, welcome().encode());
}

WelcomeMessage Relay::welcome() const {
  WelcomeMessage m;
  const PasswdEntry entry = passwd_entry(::geteuid());
  utsname system{};
  ::uname(&system);
  if (const auto own = read_own_program()) m.program = base::to_hex(base::sha256(*own));
  m.system = std::string(system.sysname) + " " + system.release + " " + system.machine;
  m.host = system.nodename;
  m.user = !entry.name.empty() ? entry.name : variable("USER");
  m.uid = ::geteuid();
  m.home = !variable("HOME").empty() ? variable("HOME") : entry.home;
  m.shell = executable(entry.shell) ? entry.shell : executable(variable("SHELL")) ? variable("SHELL") : "";
  m.bash = find_program("bash");
  if (m.shell.empty()) m.shell = !m.bash.empty() ? m.bash : find_program("sh");
  m.folder = options_.folder;
  m.boot_id = first_line("/proc/sys/kernel/random/boot_id");
  if (const auto first = pty::read_stat(1)) m.first_process = first->start_time;
  m.now_unix_ns = unix_now_ns();
  for (char** each = environ; *each != nullptr; each++) m.environment.emplace_back(*each);
  return m;
}

void Relay::take_own(const Frame& frame) {
  Decoder in(frame.payload);
  switch (frame.type) {
    case Type::Ping:
      return send(Type::Pong, 0, frame.tag, {});
    case Type::Launch:
      return launch(frame);
    case Type::Ask:
      return send(Type::Answer, 0, frame.tag, answer(place::local(), frame.payload));
    case Type::WriteFile: {
      const std::string path = path_inside(in.string());
      const auto mode = in.number<uint32_t>();
      const std::string content = in.string();
      if (path.empty()) return;
      return finish(frame.tag, place::local().write_file(path, content, mode));
    }
    case Type::MakeFolder: {
      const std::string path = path_inside(in.string());
      if (path.empty()) return;
      return finish(frame.tag, place::local().make_folder(path));
    }
    case Type::RemoveTree: {
      const std::string path = path_inside(in.string());
      std::error_code ignored;
      if (!path.empty()) std::filesystem::remove_all(path, ignored);
      return;
    }
    case Type::EndHolder:
      return place::local().end_holder(static_cast<pid_t>(in.number<uint32_t>()));
    case Type::Forget:
      return forget(in.string());
    default:
      return end();
  }
}

// Files are made in our own folder only. Empty: it is elsewhere.
std::string Relay::path_inside(const std::string& path) const {
  const std::string whole = base::normalize_path(path);
  return whole.starts_with(options_.folder + "/shells/") ? whole : "";
}

void Relay::finish(uint32_t tag, const base::Result<void>& result) {
  if (result) return send(Type::Done, 0, tag, {});
  send(Type::Failed, 0, tag, encode_error(result.error()));
}

void Relay::forget(const std::string& id) {
  auto reader = journal::Reader::open_at(journals_->fd(), id, id);
  const auto status = reader ? reader->status() : tl::unexpected(reader.error());
  static_cast<void>(journals_->remove(id, status ? status->allocated : 0));
}

void Relay::launch(const Frame& frame) {
  Decoder in(frame.payload);
  auto request = hold::LaunchRequest::decode(in.string());
  const bool has_stdin = in.number<uint8_t>() != 0;
  const auto refuse = [&](base::Error error) {
    hold::LaunchReply reply;
    reply.error = pty::SpawnError{pty::SpawnFailure::Setup, std::move(error)};
    reply_launched(frame.tag, reply);
  };
  if (!request || !in.complete())
    return refuse({base::ErrorCode::InvalidArgument, 0, "the launch request is malformed"});
  request->journals = options_.folder + "/journals";
  request->sockets = sockets_;
  pty::SpawnSpec& spawn = request->hold.spawn;
  if (!spawn.umask) spawn.umask = options_.umask;
  const std::string home = welcome().home;
  if (spawn.cwd.empty()) spawn.cwd = home;
  if (spawn.cwd == "~" || spawn.cwd.starts_with("~/")) spawn.cwd.replace(0, 1, home);
  base::UniqueFd stdin_fd;  // until the holder has it
  spawn.stdin_kind = spawn.stdin_kind == pty::StdinKind::Descriptor ? pty::StdinKind::Null : spawn.stdin_kind;
  if (has_stdin) {
    auto fed = start_feeder(sockets_, request->hold.journal.id);
    if (!fed) return refuse(fed.error());
    stdin_fd = std::move(*fed);
    spawn.stdin_kind = pty::StdinKind::Descriptor;
    spawn.stdin_fd = stdin_fd.get();
  }
  auto holder = forks_ ? forks_->next() : hold::IdleHolder::start(options_.program);
  if (!holder) {
    forks_.reset();
    holder = hold::IdleHolder::start(options_.program);
  }
  if (!holder) return refuse(holder.error().error);
  if (auto asked = holder->ask(*request); !asked) return refuse(asked.error().error);
  const int fd = holder->fd();
  if (auto added = loop_.poller().add(fd, EPOLLIN, *this); !added) return refuse(added.error());
  launching_.emplace(fd, Launching{std::move(*holder), frame.tag});
}

void Relay::launched(int fd) {
  auto found = launching_.extract(fd);
  if (found.empty()) return;
  loop_.poller().remove(fd);
  auto reply = std::move(found.mapped().holder).answer(hold::Answer::IsThere);
  hold::LaunchReply told;
  if (reply) {
    told = std::move(*reply);
  } else {
    told.error = reply.error();
  }
  reply_launched(found.mapped().tag, told);
}

void Relay::reply_launched(uint32_t tag, const hold::LaunchReply& reply) {
  send(Type::Launched, 0, tag, Encoder().string(reply.encode()).take());
}

void Relay::send(Type type, uint16_t channel, uint32_t tag, std::string_view payload) {
  out_ += encode(type, channel, tag, payload);
  flush();
}

bool Relay::may_send_bytes() const {
  return out_.size() < kOutAhead;
}

void Relay::more() {
  if (std::exchange(pump_posted_, true)) return;
  loop_.post([this, alive = alive_] {
    if (!*alive) return;
    pump_posted_ = false;
    pump_all();
  });
}

// Terminals take turns, each with a chunk, so that one that floods does not delay the others.
void Relay::pump_all() {
  bool more = true;
  while (more && may_send_bytes() && !ended_) {
    more = false;
    auto at = terminals_.upper_bound(last_served_);
    for (size_t i = 0; i < terminals_.size() && may_send_bytes(); i++) {
      if (at == terminals_.end()) at = terminals_.begin();
      last_served_ = at->first;
      if (at->second->pump()) more = true;
      ++at;
    }
  }
}

void Relay::flush() {
  size_t done = 0;
  while (done < out_.size()) {
    const ssize_t n = ::write(out_fd_.get(), out_.data() + done, out_.size() - done);
    if (n > 0) {
      done += static_cast<size_t>(n);
    } else if (n < 0 && errno == EINTR) {
      continue;
    } else {
      break;  // full, or broken: the poller says which
    }
  }
  out_.erase(0, done);
  const bool wanted = !out_.empty();
  if (wanted == std::exchange(writing_, wanted)) return;
  loop_.poller().change(out_fd_.get(), wanted ? uint32_t{EPOLLOUT} : 0, *this);
}

int relay_main(int argc, char** argv) {
  RelayOptions options;
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    if (name == "--nonce") options.nonce = argv[i + 1];
    if (name == "--folder") options.folder = argv[i + 1];
    if (name == "--umask")
      options.umask = static_cast<unsigned>(std::strtoul(argv[i + 1], nullptr, 8)) & 0777;
  }
  if (options.nonce.empty() || options.folder.empty() || options.folder.front() != '/') {
    std::fputs("ttyward-hold relay: started by ttyward, not by hand\n", stderr);
    return 2;
  }
  options.folder = base::normalize_path(options.folder);
  for (const int number : {SIGPIPE, SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU})
    ::signal(number, SIG_IGN);
  ::umask(077);
  auto loop = io::Loop::create();
  if (!loop) return 1;
  base::UniqueFd in(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  base::UniqueFd out(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  // Nothing else may write into the stream.
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null >= 0) {
    ::dup2(null, STDIN_FILENO);
    ::dup2(null, STDOUT_FILENO);
  }
  auto relay = Relay::create(**loop, std::move(in), std::move(out), std::move(options));
  if (!relay) {
    std::fprintf(stderr, "ttyward-hold relay: %s\n", relay.error().message.c_str());
    return 1;
  }
  (*loop)->run();
  return 0;
}

}  // namespace ttyward::relay
