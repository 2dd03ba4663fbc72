#include "relay/link.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <utility>

#include "base/file_io.h"
#include "base/hex.h"
#include "base/ids.h"
#include "base/private_folder.h"
#include "base/sha256.h"
#include "base/unix_time.h"
#include "io/local_socket.h"
#include "relay/own_file.h"

namespace ttyward::relay {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{200};
constexpr milliseconds kLongestPause{10'000};
constexpr milliseconds kLifeEvery{1'000};
constexpr size_t kMostClientBacklog = 8 << 20;
constexpr int kListenBacklog = 64;
constexpr size_t kMostNote = 64 * 1024;

std::string failed_payload(base::ErrorCode code, const std::string& message) {
  return Encoder().number(static_cast<uint8_t>(code)).number(int32_t{0}).string(message).take();
}

}  // namespace

base::Result<std::unique_ptr<Link>> Link::create(io::Loop& loop, LinkOptions options) {
  std::unique_ptr<Link> link(new Link(loop, std::move(options)));
  if (auto prepared = link->prepare(); !prepared) return tl::unexpected(prepared.error());
  return link;
}

Link::Link(io::Loop& loop, LinkOptions options)
    : loop_(loop), options_(std::move(options)), random_(static_cast<unsigned>(::getpid())) {}

base::Result<void> Link::prepare() {
  auto state = base::open_private_folder(options_.state, base::IfMissing::Create);
  if (!state) return tl::unexpected(state.error());
  auto lock = base::open_private_file_at(state->get(), "lock", O_RDWR | O_CREAT, options_.state);
  if (!lock) return tl::unexpected(lock.error());
  if (::flock(lock->get(), LOCK_EX | LOCK_NB) != 0)
    return base::fail(base::ErrorCode::AlreadyExists,
                      "there is a link to " + options_.place.text() + " already");
  lock_ = std::move(*lock);
  const std::string name = options_.place.text() + "\n";
  static_cast<void>(base::write_at(lock_.get(), name.data(), name.size(), 0, options_.state));
  auto run = base::open_private_folder(options_.run, base::IfMissing::Create);
  if (!run) return tl::unexpected(run.error());
  run_ = std::move(*run);
  auto launches = listen(launch_socket(options_.place));
  if (!launches) return tl::unexpected(launches.error());
  launches_ = std::move(*launches);
  auto asks = listen(ask_socket(options_.place));
  if (!asks) return tl::unexpected(asks.error());
  asks_ = std::move(*asks);
  find_terminals();
  if (!mirrors_.empty()) connect();
  consider_idle();
  return {};
}

base::Result<base::UniqueFd> Link::listen(const std::string& file) {
  ::unlinkat(run_.get(), file.c_str(), 0);  // we have the lock: nobody listens there
  auto listener = io::listen_in(run_.get(), file, options_.run + "/" + file, kListenBacklog);
  if (!listener) return listener;
  if (auto added = loop_.poller().add(listener->get(), EPOLLIN, *this); !added)
    return tl::unexpected(added.error());
  return listener;
}

Link::~Link() {
  mirrors_.clear();
  for (io::Loop::TimerId* timer : {&again_, &life_, &idle_}) loop_.cancel(*timer);
  stream_.reset();
  for (const auto& [fd, client] : clients_) loop_.poller().remove(fd);
  for (const Launching& each : launching_) loop_.poller().remove(each.control.get());
  for (auto* listener : {&asks_, &launches_}) {
    if (*listener) loop_.poller().remove(listener->get());
  }
  if (asks_) ::unlinkat(run_.get(), ask_socket(options_.place).c_str(), 0);
  if (launches_) ::unlinkat(run_.get(), launch_socket(options_.place).c_str(), 0);
}

// --- what is noted of each terminal, for a link that comes after us

void Link::note(const Mirror::Birth& birth, const std::string& journals, uint64_t total_quota) {
  Encoder out;
  out.string(journals).number(total_quota).string(birth.sockets);
  out.number(static_cast<uint8_t>(birth.journal.provider)).string(birth.fallback_reason);
  out.string(birth.boot_id).number(birth.first_process).string(welcome_ ? welcome_->folder : "");
  const std::string text = out.take();
  const std::string path = options_.state + "/" + birth.id;
  const base::UniqueFd file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file) static_cast<void>(base::write_at(file.get(), text.data(), text.size(), 0, path));
}

void Link::find_terminals() {
  DIR* listing = ::opendir(options_.state.c_str());
  if (listing == nullptr) return;
  std::vector<std::string> ids;
  while (const dirent* entry = ::readdir(listing)) {
    if (journal::valid_id(entry->d_name) && std::string_view(entry->d_name) != "lock")
      ids.emplace_back(entry->d_name);
  }
  ::closedir(listing);
  for (const std::string& id : ids) {
    const std::string path = options_.state + "/" + id;
    const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    std::string text(kMostNote, '\0');
    const auto got = file ? base::read_at(file.get(), text.data(), text.size(), 0, path)
                          : base::Result<size_t>(base::fail_errno(errno, path));
    text.resize(got.value_or(0));
    Decoder in(text);
    const std::string journals = in.string();
    const auto total_quota = in.number<uint64_t>();
    Mirror::Birth birth;
    birth.id = id;
    birth.sockets = in.string();
    birth.journal.id = id;
    birth.journal.provider = static_cast<base::Provider>(in.number<uint8_t>());
    birth.fallback_reason = in.string();
    birth.boot_id = in.string();
    birth.first_process = in.number<uint64_t>();
    const std::string folder = in.string();
    const auto journal_folder = in.complete() ? folder_of(journals, total_quota) : nullptr;
    if (journal_folder == nullptr) {
      ::unlink(path.c_str());
      continue;
    }
    const uint16_t channel = next_channel();
    auto mirror = Mirror::create(*this, journal_folder, std::move(birth), channel, Mirror::Copy::Again);
    if (!mirror) {
      ::unlink(path.c_str());  // closed, or removed
      continue;
    }
    if (!welcome_) {
      welcome_.emplace();  // so that the same folder is looked at
      welcome_->folder = folder;
    }
    ever_linked_ = true;
    lost_since_ms_ = static_cast<uint64_t>(base::unix_ms());
    problem_ = ConnectProblem{ConnectProblem::Kind::Unreachable, "the link was restarted"};
    mirrors_.emplace(channel, std::move(*mirror));
  }
}

std::shared_ptr<journal::Folder> Link::folder_of(const std::string& path, uint64_t total_quota) {
  auto& folder = folders_[path];
  if (folder == nullptr) {
    if (auto opened = journal::Folder::open(path, total_quota)) folder = std::move(*opened);
  }
  return folder;
}

uint16_t Link::next_channel() {
  do {
    if (++last_channel_ == 0) last_channel_ = 1;
  } while (mirrors_.contains(last_channel_) ||
           std::any_of(launching_.begin(), launching_.end(),
                       [&](const Launching& each) { return each.channel == last_channel_; }));
  return last_channel_;
}

// --- clients here

void Link::on_ready(int fd, uint32_t events) {
  if (fd == asks_.get() || fd == launches_.get()) return accept(fd);
  if (const auto found = clients_.find(fd); found != clients_.end()) {
    // A connection that is broken is closed when it is read.
    if ((events & EPOLLOUT) != 0) static_cast<void>(found->second.out.flush(fd, loop_.poller(), *this));
    if ((events & ~uint32_t{EPOLLOUT}) != 0) read_client(fd);
    return;
  }
  take_launch(fd);
}

void Link::accept(int listener) {
  for (;;) {
    base::UniqueFd fd(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) return;
    if (!io::same_user(fd.get()) || !loop_.poller().add(fd.get(), EPOLLIN, *this)) continue;
    if (listener == asks_.get()) {
      const int number = fd.get();
      clients_[number].fd = std::move(fd);
    } else {
      launching_.emplace_back().control = std::move(fd);
    }
    loop_.cancel(idle_);
  }
}

void Link::read_client(int fd) {
  Client& client = clients_.at(fd);
  std::array<char, 64 * 1024> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  for (;;) {
    const ssize_t got = ::recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) break;
    if (got <= 0) return close_client(fd);
    client.in.push({buffer.data(), static_cast<size_t>(got)});
    if (static_cast<size_t>(got) < buffer.size()) break;
  }
  while (auto frame = client.in.next()) {
    if (!handle(fd, client, *frame)) return close_client(fd);
    if (!clients_.contains(fd)) return;
  }
  if (client.in.broken()) close_client(fd);
}

void Link::take_files_first() {
  std::vector<int> fds;
  for (const auto& [fd, client] : clients_) fds.push_back(fd);
  for (const int fd : fds) {
    if (clients_.contains(fd)) read_client(fd);
  }
}

bool Link::handle(int fd, Client& client, const Frame& frame) {
  if (frame.channel != 0) return false;
  if (frame.type == kGetState) {
    const bool wait = Decoder(frame.payload).number<uint8_t>() != 0;
    if (wait && !linked()) {
      client.waiting.push_back(frame.tag);
      wanted();
    } else {
      send_client(fd, encode(kState, 0, frame.tag, state_message()));
    }
    return true;
  }
  switch (frame.type) {
    case Type::Ask:
    case Type::WriteFile:
    case Type::MakeFolder:
      if (!linked()) {
        send_client(
            fd, encode(Type::Failed, 0, frame.tag, failed_payload(base::ErrorCode::Unavailable, link().why)));
        return true;
      }
      if (++last_tag_ == 0) last_tag_ = 1;
      asked_.emplace(last_tag_, Asked{fd, frame.tag, 0});
      send(frame.type, 0, last_tag_, frame.payload);
      return true;
    case Type::RemoveTree:
    case Type::EndHolder:
      if (linked()) send(frame.type, 0, 0, frame.payload);
      return true;
    default:
      return false;
  }
}

void Link::send_client(int fd, std::string_view bytes) {
  const auto found = clients_.find(fd);
  if (found == clients_.end()) return;
  io::Outgoing& out = found->second.out;
  out.push(bytes);
  if (out.size() > kMostClientBacklog) return close_client(fd);
  static_cast<void>(out.flush(fd, loop_.poller(), *this));
}

void Link::close_client(int fd) {
  loop_.poller().remove(fd);
  clients_.erase(fd);
  std::erase_if(asked_, [fd](const auto& entry) { return entry.second.client == fd; });
  consider_idle();
}

std::string Link::state_message() const {
  LinkState state;
  using Kind = LinkState::Kind;
  state.kind = linked()                            ? Kind::Linked
               : !problem_                         ? (stream_ ? Kind::Connecting : Kind::Idle)
               : ever_linked_ && !mirrors_.empty() ? Kind::Lost
               : stream_                           ? Kind::Connecting
                                                   : Kind::Failed;
  if (problem_ && !linked()) {
    state.why = problem_->message;
    state.problem = problem_->kind;
    state.since_unix_ms = lost_since_ms_;
  }
  state.terminals = static_cast<uint32_t>(mirrors_.size());
  if (welcome_ && !welcome_->system.empty()) state.welcome = welcome_;
  return state.encode();
}

// To all; and to those who waited for an answer.
void Link::tell_state() {
  const std::string message = state_message();
  std::vector<std::pair<int, std::string>> out;
  for (auto& [fd, client] : clients_) {
    std::string text = encode(kState, 0, 0, message);
    for (const uint32_t tag : std::exchange(client.waiting, {})) text += encode(kState, 0, tag, message);
    out.emplace_back(fd, std::move(text));
  }
  for (const auto& [fd, text] : out) send_client(fd, text);
}

hold::LinkMessage Link::link() const {
  hold::LinkMessage message;
  message.linked = linked();
  if (message.linked) return message;
  message.why = problem_ ? problem_->message : "the link to " + options_.place.text() + " is being made";
  message.since_unix_ms = lost_since_ms_;
  return message;
}

// --- the link

void Link::wanted() {
  if (stream_) return;
  loop_.cancel(again_);
  connect();
}

void Link::connect() {
  again_ = 0;
  attempts_++;
  if (program_.bytes.empty()) {
    auto own = read_own_program();
    if (!own) return stream_lost({ConnectProblem::Kind::NoProgram, own.error().message});
    program_.bytes = std::move(*own);
    program_.hash = base::to_hex(base::sha256(program_.bytes));
  }
  auto stream = Stream::open(loop_, options_.place, program_, welcome_ ? welcome_->folder : "", *this);
  if (!stream) return stream_lost(std::move(stream.error()));
  stream_ = std::move(*stream);
  pinged_ = stream_->began();
  watch_life();
}

void Link::take(const Frame& frame) {
  if (frame.channel != 0) {
    const auto probe = std::find_if(launching_.begin(), launching_.end(),
                                    [&](const Launching& each) { return each.channel == frame.channel; });
    if (probe != launching_.end()) return probed(probe, frame);
    const auto found = mirrors_.find(frame.channel);
    if (found != mirrors_.end()) found->second->take(frame);
    return;
  }
  switch (frame.type) {
    case Type::Welcome: {
      const auto welcome = WelcomeMessage::decode(frame.payload);
      if (!welcome) {
        return stream_lost({ConnectProblem::Kind::Refused,
                            "the relay on " + options_.place.text() + " is from another version of ttyward"});
      }
      return greeted(*welcome);
    }
    case Type::Refused:
      return stream_lost({ConnectProblem::Kind::Refused, Decoder(frame.payload).string()});
    case Type::Launched:
      return launched(frame.tag, frame.payload);
    case Type::Answer:
    case Type::Done:
    case Type::Failed: {
      auto asked = asked_.extract(frame.tag);
      if (!asked.empty())
        send_client(asked.mapped().client, encode(frame.type, 0, asked.mapped().tag, frame.payload));
      return;
    }
    default:
      return;
  }
}

void Link::greeted(const WelcomeMessage& welcome) {
  if (welcome.program != program_.hash) {
    return stream_lost({ConnectProblem::Kind::Refused,
                        "the program on " + options_.place.text() + " in " + welcome.folder +
                            "/bin is not the one that was sent: remove it there, then try again"});
  }
  welcome_ = welcome;
  greeted_ = true;
  problem_.reset();
  attempts_ = 0;
  ever_linked_ = true;
  std::vector<Mirror*> all;
  for (const auto& [channel, mirror] : mirrors_) all.push_back(mirror.get());
  for (Mirror* mirror : all) {
    const Mirror::Birth& birth = mirror->birth();
    if (birth.boot_id != welcome.boot_id) {
      mirror->set_reason(options_.place.text() + " was restarted while it ran");
    } else if (birth.first_process != welcome.first_process) {
      mirror->set_reason("the container " + options_.place.target + " was restarted while it ran");
    }
    mirror->follow();
  }
  for (Launching& launching : launching_) {
    if (launching.sent) {
      probe_launch(launching);
    } else {
      send_launch(launching);
    }
  }
  tell_state();
}

void Link::send(Type type, uint16_t channel, uint32_t tag, std::string_view payload) {
  if (!linked()) return;
  stream_->send(encode(type, channel, tag, payload));
}

void Link::stream_lost(ConnectProblem problem) {
  const bool was = linked();
  stream_.reset();
  greeted_ = false;
  loop_.cancel(life_);
  const bool ended = problem.kind == ConnectProblem::Kind::ContainerEnded;
  if (was || !problem_) lost_since_ms_ = static_cast<uint64_t>(base::unix_ms());
  if (was && !ended)
    problem.message = "the link to " + options_.place.text() + " was lost: " + problem.message;
  problem_ = std::move(problem);
  for (const auto& [tag, asked] : std::exchange(asked_, {})) {
    send_client(asked.client, encode(Type::Failed, 0, asked.tag,
                                     failed_payload(base::ErrorCode::Unavailable, problem_->message)));
  }
  std::vector<Mirror*> all;
  for (const auto& [channel, mirror] : mirrors_) all.push_back(mirror.get());
  for (Mirror* mirror : all) {
    if (ended) {
      mirror->lose("the container " + options_.place.target + " has ended");
    } else if (was) {
      mirror->link_changed();
    }
  }
  // What was sent may have been started: that is found out when the link is back.
  std::vector<Launching*> launches;
  for (Launching& launching : launching_) {
    launching.tag = 0;
    launching.channel = 0;
    if (!launching.request.hold.journal.id.empty() && (!launching.sent || ended))
      launches.push_back(&launching);
  }
  if (!was) {
    for (Launching* launching : launches)
      refuse_launch(*launching, base::ErrorCode::Unavailable, problem_->message);
  }
  tell_state();
  if (busy() && !ended) try_again_later();
  consider_idle();
}

// With growing pauses, and not at the same moment as the links to other places.
void Link::try_again_later() {
  milliseconds pause = kFirstPause;
  for (int i = 1; i < attempts_ && pause < kLongestPause; i++) pause *= 2;
  pause = std::min(pause, kLongestPause);
  pause += milliseconds(std::uniform_int_distribution<int64_t>(0, pause.count() / 4)(random_));
  loop_.cancel(again_);
  again_ = loop_.after(pause, [this] {
    again_ = 0;
    if (!stream_) connect();
  });
}

// Any byte is a sign of life. A place that does not even begin to answer is given up, too.
void Link::watch_life() {
  loop_.cancel(life_);
  life_ = loop_.after(std::min(kLifeEvery, options_.ping), [this] {
    life_ = 0;
    if (!stream_) return;
    const auto now = Clock::now();
    if (greeted_) {
      if (now - stream_->heard() > options_.silence) {
        return stream_lost(
            {ConnectProblem::Kind::Unreachable,
             "nothing was heard from it for " + std::to_string(options_.silence.count() / 1000) + " s"});
      }
      if (now - pinged_ >= options_.ping) {
        pinged_ = now;
        send(Type::Ping, 0, 0, {});
      }
    } else if (now - stream_->heard() > options_.start && now - stream_->began() > options_.start) {
      return stream_lost(
          {ConnectProblem::Kind::Unreachable, options_.place.text() + " did not answer within " +
                                                  std::to_string(options_.start.count() / 1000) + " s"});
    }
    watch_life();
  });
}

bool Link::busy() const {
  return !mirrors_.empty() || !launching_.empty();
}

void Link::consider_idle() {
  if (busy() || !clients_.empty()) return loop_.cancel(idle_);
  if (idle_ != 0) return;
  idle_ = loop_.after(options_.idle, [this] {
    idle_ = 0;
    if (!busy() && clients_.empty()) loop_.stop();
  });
}

}  // namespace ttyward::relay
