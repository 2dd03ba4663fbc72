#include "relay/stream.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "base/ids.h"
#include "pty/spawn.h"

extern char** environ;

namespace ttyward::relay {
namespace {

constexpr size_t kMostError = 8 * 1024;
// The child has closed its output: it is about to end.
constexpr int kLooks = 100;
constexpr useconds_t kLookEvery = 2000;

std::string our_system() {
  utsname system{};
  ::uname(&system);
  return std::string(system.sysname) + " " + system.machine;
}

}  // namespace

Stream::Stream(io::Loop& loop, const PlaceName& place, const Program& program, std::string nonce,
               Owner& owner)
    : loop_(loop),
      place_(place),
      program_(program),
      owner_(owner),
      nonce_(std::move(nonce)),
      search_(std::string(kStageMarker) + " " + nonce_ + "\n") {}

tl::expected<std::unique_ptr<Stream>, ConnectProblem> Stream::open(io::Loop& loop, const PlaceName& place,
                                                                   const Program& program,
                                                                   const std::string& known_folder,
                                                                   Owner& owner) {
  BootstrapFacts facts;
  facts.nonce = base::random_nonce();
  facts.hash = program.hash;
  facts.bytes = program.bytes.size();
  facts.system = our_system();
  facts.folder = known_folder;
  pty::SpawnSpec spec;
  spec.argv = stream_argv(place, bootstrap_script(facts));
  spec.provider = pty::Provider::Pipe;
  spec.stdin_kind = pty::StdinKind::Pipe;
  for (char** each = environ; *each != nullptr; each++) spec.environment.emplace_back(*each);
  auto spawned = pty::spawn(spec);
  if (!spawned) {
    return tl::unexpected(ConnectProblem{
        ConnectProblem::Kind::NoProgram,
        "cannot start " + spec.argv.front() + ": " + spawned.error().error.message + "; install it here"});
  }
  std::unique_ptr<Stream> stream(new Stream(loop, place, program, facts.nonce, owner));
  stream->child_ = std::move(spawned->child);
  stream->in_ = std::move(spawned->stdin_fd);
  stream->out_ = std::move(spawned->stdout_fd);
  stream->error_ = std::move(spawned->stderr_fd);
  static_cast<void>(loop.poller().add(stream->out_.get(), EPOLLIN, *stream));
  static_cast<void>(loop.poller().add(stream->error_.get(), EPOLLIN, *stream));
  static_cast<void>(loop.poller().add(stream->in_.get(), 0, *stream));
  return stream;
}

Stream::~Stream() {
  *alive_ = false;
  for (const base::UniqueFd* each : {&in_, &out_, &error_}) {
    if (*each) loop_.poller().remove(each->get());
  }
  in_.reset();
  out_.reset();
  if (!child_) return;
  static_cast<void>(child_->signal(SIGKILL));
  for (int i = 0; i < kLooks; i++) {
    const auto exit = child_->try_reap();
    if (!exit || *exit) break;
    ::usleep(kLookEvery / 2);
  }
}

void Stream::on_ready(int fd, uint32_t) {
  if (fd == out_.get()) {
    read_output();
  } else if (fd == error_.get()) {
    read_error();
  } else {
    flush();
  }
}

void Stream::read_error() {
  std::array<char, 4096> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const ssize_t got = ::read(error_.get(), buffer.data(), buffer.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    loop_.poller().remove(error_.get());
    error_.reset();
    return;
  }
  error_text_.append(buffer.data(), static_cast<size_t>(got));
  if (error_text_.size() > kMostError) error_text_.erase(0, error_text_.size() - kMostError);
}

void Stream::read_output() {
  std::array<char, 64 * 1024> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const ssize_t got = ::read(out_.get(), buffer.data(), buffer.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return ended();
  heard_ = Clock::now();
  const std::string_view bytes(buffer.data(), static_cast<size_t>(got));
  switch (stage_) {
    case Stage::Noise:
      if (search_.push(bytes)) {
        stage_ = Stage::Script;
        lines_ = search_.take_rest();
        return read_script();
      }
      if (search_.too_much()) {
        owner_.stream_lost({ConnectProblem::Kind::Refused,
                            "the shell on " + place_.text() +
                                " prints without end before it runs anything: look at its start files"});
      }
      return;
    case Stage::Script:
      lines_.append(bytes);
      return read_script();
    case Stage::Frames:
      frames_.push(bytes);
      return read_frames();
  }
}

void Stream::read_script() {
  const std::shared_ptr<bool> alive = alive_;
  while (*alive && stage_ == Stage::Script) {
    const size_t end = lines_.find('\n');
    if (end == std::string::npos) return;
    const std::string line = lines_.substr(0, end);
    lines_.erase(0, end + 1);
    script_line(line);
  }
}

void Stream::script_line(const std::string& line) {
  if (line == "need") return send(program_.bytes);
  if (line.starts_with("fail ")) return owner_.stream_lost(problem_of_script(place_, line.substr(5)));
  if (line != std::string(kStreamMarker) + " " + nonce_) return;
  stage_ = Stage::Frames;
  send(encode(Type::Hello, 0, 1, Encoder().number(kMagic).number(kVersion).string(nonce_).take()));
  frames_.push(std::exchange(lines_, {}));
  read_frames();
}

void Stream::read_frames() {
  const std::shared_ptr<bool> alive = alive_;
  while (auto frame = frames_.next()) {
    owner_.take(*frame);
    if (!*alive) return;
  }
  if (frames_.broken())
    owner_.stream_lost(
        {ConnectProblem::Kind::Unreachable, "the stream from " + place_.text() + " is damaged"});
}

void Stream::send(std::string_view bytes) {
  to_send_.append(bytes);
  flush();
}

void Stream::flush() {
  size_t done = 0;
  while (done < to_send_.size()) {
    const ssize_t sent = ::write(in_.get(), to_send_.data() + done, to_send_.size() - done);
    if (sent > 0) {
      done += static_cast<size_t>(sent);
    } else if (sent == 0 || errno != EINTR) {
      break;  // full; or broken, and then its output ends, too
    }
  }
  to_send_.erase(0, done);
  const bool wanted = !to_send_.empty();
  if (wanted == std::exchange(writing_, wanted)) return;
  loop_.poller().change(in_.get(), wanted ? uint32_t{EPOLLOUT} : 0, *this);
}

void Stream::ended() {
  for (int i = 0; i < kLooks / 2 && error_; i++) {
    read_error();
    if (error_) ::usleep(kLookEvery);
  }
  int code = 255;
  for (int i = 0; i < kLooks; i++) {
    const auto exit = child_->try_reap();
    if (!exit) break;
    if (*exit) {
      code = (*exit)->status.shell_code();
      break;
    }
    ::usleep(kLookEvery);
  }
  owner_.stream_lost(problem_of(place_, code, error_text_, stage_ == Stage::Noise ? search_.noise() : ""));
}

}  // namespace ttyward::relay
