#include "hold/server.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "hold/run_state_message.h"
#include "io/socket_address.h"
#include "journal/folder.h"
#include "journal/format.h"

namespace ttyward::hold {

namespace {

constexpr size_t kMostClients = 64;             // one more is accepted and closed at once
constexpr size_t kLargestBacklog = 256 * 1024;  // of answers a client has not read
constexpr size_t kMostRungs = 16;

std::string_view bytes_of(const journal::ExitRecord& record) {
  return {reinterpret_cast<const char*>(&record), sizeof record};
}

std::string socket_file(const std::string& name) {
  return name + ".sock";
}

bool same_user(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

}  // namespace

base::Result<std::unique_ptr<Server>> Server::listen(io::Poller& poller, const std::string& folder,
                                                     const std::string& name) {
  if (!journal::valid_id(name))
    return base::fail(base::ErrorCode::InvalidArgument, "not an id: '" + name + "'");
  auto dir = journal::open_private_folder(folder, journal::IfMissing::Create);
  if (!dir) return tl::unexpected(dir.error());
  return listen_as(poller, std::move(*dir), socket_file(name), folder);
}

base::Result<std::unique_ptr<Server>> Server::prepare(io::Poller& poller, const std::string& folder) {
  auto dir = journal::open_private_folder(folder, journal::IfMissing::Create);
  if (!dir) return tl::unexpected(dir.error());
  const std::string file = std::string(kPreparedSocket) + std::to_string(::getpid());
  ::unlinkat(dir->get(), file.c_str(), 0);  // of a process that had our number and was killed
  return listen_as(poller, std::move(*dir), file, folder);
}

base::Result<void> Server::take_name(const std::string& name) {
  if (!journal::valid_id(name))
    return base::fail(base::ErrorCode::InvalidArgument, "not an id: '" + name + "'");
  std::string file = socket_file(name);
  if (::renameat2(folder_.get(), file_.c_str(), folder_.get(), file.c_str(), RENAME_NOREPLACE) != 0)
    return base::fail_errno(errno, "cannot make the socket " + file);
  file_ = std::move(file);
  return {};
}

void remove_prepared_sockets(const std::string& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().filename().native().starts_with(kPreparedSocket))
      std::filesystem::remove(entry.path(), ignored);
  }
}

base::Result<std::unique_ptr<Server>> Server::listen_as(io::Poller& poller, base::UniqueFd dir,
                                                        const std::string& file, const std::string& folder) {
  base::UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener) return base::fail_errno(errno, "cannot make a socket");
  const sockaddr_un address = io::socket_address(dir.get(), file);
  // By umask and not by chmod: there is no moment at which others could connect.
  const mode_t before = ::umask(0177);
  const int bound = ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int error = errno;
  ::umask(before);
  if (bound != 0) return base::fail_errno(error, "cannot bind " + folder + "/" + file);
  if (::listen(listener.get(), 16) != 0)
    return base::fail_errno(errno, "cannot listen on " + folder + "/" + file);
  const int number = listener.get();
  std::unique_ptr<Server> server(new Server(poller, std::move(dir), std::move(listener), file));
  if (auto added = poller.add(number, EPOLLIN, *server); !added) return tl::unexpected(added.error());
  return server;
}

Server::~Server() {
  poller_.remove(listener_.get());
  for (const auto& [fd, client] : clients_) poller_.remove(fd);
  ::unlinkat(folder_.get(), file_.c_str(), 0);
}

void Server::serve(Holder& holder) {
  holder_ = &holder;
  holder.set_observer(this);
}

bool Server::has_unsent() const {
  for (const auto& [fd, client] : clients_) {
    if (!client.out.empty()) return true;
  }
  return false;
}

void Server::on_ready(int fd, uint32_t events) {
  if (fd == listener_.get()) return accept_all();
  const auto found = clients_.find(fd);
  if (found == clients_.end()) return;
  bool good = true;
  if ((events & EPOLLOUT) != 0) good = flush(found->second);
  if (good && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) good = receive(found->second);
  if (!good) close(fd);
}

void Server::accept_all() {
  for (;;) {
    base::UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) return;  // EAGAIN; or EMFILE, until another client disconnects
    if (!same_user(fd.get()) || clients_.size() >= kMostClients) continue;
    const int number = fd.get();
    if (!poller_.add(number, EPOLLIN, *this)) continue;
    clients_[number].fd = std::move(fd);
  }
}

void Server::close(int fd) {
  poller_.remove(fd);
  clients_.erase(fd);
  tell_how_far_read();
}

void Server::tell_how_far_read() {
  if (holder_ == nullptr) return;
  std::optional<uint64_t> least;
  for (const auto& [fd, client] : clients_) {
    if (client.read_to) least = least ? std::min(*least, *client.read_to) : *client.read_to;
  }
  holder_->follow(least);
}

bool Server::receive(Client& client) {
  std::array<char, 16 * 1024> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  // One read a turn: a client that floods has to queue behind the others.
  const ssize_t got = ::recv(client.fd.get(), buffer.data(), buffer.size(), 0);
  if (got == 0) return false;
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  client.in.push({buffer.data(), static_cast<size_t>(got)});
  while (auto frame = client.in.next()) {
    if (!handle(client, *frame)) return false;
  }
  return !client.in.broken();
}

bool Server::greet(Client& client, const Frame& frame) {
  Decoder in(frame.payload);
  const auto magic = in.number<uint32_t>();
  const auto version = in.number<uint32_t>();
  if (frame.type != MessageType::Hello || magic != kHelloMagic || !in.complete()) return false;
  if (version != kProtocolVersion) {
    const std::string text = "this holder speaks version " + std::to_string(kProtocolVersion);
    const auto code = static_cast<uint32_t>(base::ErrorCode::Unsupported);
    send(client,
         encode(MessageType::Failed, frame.tag, Encoder().number(code).number(0).string(text).take()));
    return false;
  }
  client.greeted = true;
  return send(client, encode(MessageType::Welcome, frame.tag, status()));
}

bool Server::handle(Client& client, const Frame& frame) {
  if (holder_ == nullptr) return false;
  if (!client.greeted) return greet(client, frame);
  switch (frame.type) {
    case MessageType::GetStatus:
      return frame.payload.empty() && send(client, encode(MessageType::Status, frame.tag, status()));
    case MessageType::GetProcesses:
      return frame.payload.empty() && send(client, encode(MessageType::Processes, frame.tag, processes()));
    case MessageType::GetRunState: {
      Decoder in(frame.payload);
      const auto screen = in.number<uint32_t>() != 0 ? pty::AlternateScreen::On : pty::AlternateScreen::Off;
      if (!in.complete()) return false;
      return send(client,
                  encode(MessageType::RunState, frame.tag, encode_run_state(holder_->run_state(screen))));
    }
    case MessageType::Watch: {
      Decoder in(frame.payload);
      client.watch = Client::Watch{in.number<uint64_t>(), frame.tag};
      if (!in.complete()) return false;
      client.read_to = client.watch->offset;
      tell_how_far_read();
      return answer_watch(client, holder_->journal().end());
    }
    default:
      break;
  }
  bool well_formed = true;
  const base::Result<void> result = perform(frame, well_formed);
  if (!well_formed) return false;
  if (result) return send(client, encode(MessageType::Done, frame.tag));
  const base::Error& error = result.error();
  const std::string payload = Encoder()
                                  .number(static_cast<uint32_t>(error.code))
                                  .number(static_cast<int32_t>(error.sys_errno))
                                  .string(error.message)
                                  .take();
  return send(client, encode(MessageType::Failed, frame.tag, payload));
}

base::Result<void> Server::perform(const Frame& frame, bool& well_formed) {
  Decoder in(frame.payload);
  const auto now = Holder::Clock::now();
  switch (frame.type) {
    case MessageType::Input:
      return holder_->send_input(
          {reinterpret_cast<const std::byte*>(frame.payload.data()), frame.payload.size()});
    case MessageType::CloseInput:
      well_formed = in.complete();
      return well_formed ? holder_->close_input() : base::Result<void>{};
    case MessageType::Interrupt:
      well_formed = in.complete();
      return well_formed ? holder_->interrupt() : base::Result<void>{};
    case MessageType::Resize: {
      pty::WindowSize size;
      size.columns = in.number<uint16_t>();
      size.rows = in.number<uint16_t>();
      size.width_px = in.number<uint16_t>();
      size.height_px = in.number<uint16_t>();
      well_formed = in.complete();
      return well_formed ? holder_->resize(size) : base::Result<void>{};
    }
    case MessageType::Signal: {
      const auto number = in.number<uint32_t>();
      const auto target = in.number<uint32_t>();
      well_formed = in.complete() && target <= static_cast<uint32_t>(Holder::Target::Everything);
      if (!well_formed) return {};
      return holder_->signal(number > 1000 ? -1 : static_cast<int>(number),
                             static_cast<Holder::Target>(target));
    }
    case MessageType::Terminate: {
      const auto count = in.number<uint32_t>();
      std::vector<pty::KillRung> rungs;
      for (uint32_t i = 0; i < count && in.ok() && count <= kMostRungs; ++i) {
        const auto number = in.number<uint32_t>();
        const auto grace = in.number<uint32_t>();
        well_formed = well_formed && number >= 1 && number <= static_cast<uint32_t>(SIGRTMAX);
        rungs.push_back({static_cast<int>(number), std::chrono::milliseconds(grace)});
      }
      well_formed = well_formed && in.complete() && count <= kMostRungs;
      if (well_formed) holder_->terminate(std::move(rungs), journal::EndReason::Requested, now);
      return {};
    }
    case MessageType::Grant: {
      const auto bytes = in.number<uint64_t>();
      well_formed = in.complete();
      if (well_formed) holder_->grant(bytes);
      return {};
    }
    default:
      well_formed = false;
      return {};
  }
}

std::string Server::status() const {
  StatusMessage message;
  const auto& exit = holder_->exit();
  message.state = static_cast<uint32_t>(holder_->closed() ? journal::State::Closed
                                        : exit            ? journal::State::Exited
                                                          : journal::State::Running);
  message.provider = holder_->provider() == pty::Provider::Pty ? 1 : 2;
  message.holder_pid = static_cast<uint32_t>(::getpid());
  message.child_pid = static_cast<uint32_t>(holder_->child_pid());
  message.end = holder_->journal().end();
  message.dropped = holder_->journal().dropped();
  message.input_waiting = holder_->input_waiting();
  message.paused = holder_->paused() ? 1 : 0;
  message.has_exit = exit ? 1 : 0;
  if (exit) message.exit = bytes_of(*exit);
  message.journal_id = holder_->journal().id();
  message.fallback_reason = holder_->fallback_reason();
  return message.encode();
}

std::string Server::processes() const {
  Encoder out;
  size_t bytes = 0;
  for (const pty::ProcessInfo& process : holder_->processes()) {
    bytes += process.command.size() + 24;
    if (bytes > kLargestPayload) break;  // thousands of processes: the first of them
    out.number(static_cast<uint32_t>(process.id.pid))
        .number(static_cast<uint32_t>(process.parent))
        .number(process.id.start_time)
        .string(process.command);
  }
  return out.take();
}

bool Server::answer_watch(Client& client, uint64_t end) {
  if (!client.watch || end <= client.watch->offset) return true;
  const uint32_t tag = client.watch->tag;
  client.watch.reset();
  return send(client, encode(MessageType::Output, tag, Encoder().number(end).take()));
}

void Server::on_output(uint64_t end) {
  std::vector<int> bad;
  for (auto& [fd, client] : clients_) {
    if (!answer_watch(client, end)) bad.push_back(fd);
  }
  for (const int fd : bad) close(fd);
}

void Server::on_paused() {
  tell_all(encode(MessageType::Paused, 0));
}

void Server::on_exit(const journal::ExitRecord& record) {
  tell_all(encode(MessageType::Exited, 0, bytes_of(record)));
}

void Server::on_closed(journal::OutputEnd end) {
  tell_all(encode(MessageType::Closed, 0, Encoder().number(static_cast<uint32_t>(end)).take()));
}

void Server::tell_all(const std::string& message) {
  std::vector<int> bad;
  for (auto& [fd, client] : clients_) {
    if (client.greeted && !send(client, message)) bad.push_back(fd);
  }
  for (const int fd : bad) close(fd);
}

bool Server::send(Client& client, std::string_view bytes) {
  if (client.out.size() + bytes.size() > kLargestBacklog) return false;
  client.out.append(bytes);
  return flush(client);
}

bool Server::flush(Client& client) {
  while (!client.out.empty()) {
    const ssize_t sent = ::send(client.fd.get(), client.out.data(), client.out.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      client.out.erase(0, static_cast<size_t>(sent));
    } else if (sent < 0 && errno == EINTR) {
      continue;
    } else if (sent < 0 && errno == EAGAIN) {
      break;
    } else {
      return false;
    }
  }
  const bool wait = !client.out.empty();
  if (wait != client.waits_to_send)
    poller_.change(client.fd.get(), wait ? EPOLLIN | EPOLLOUT : EPOLLIN, *this);
  client.waits_to_send = wait;
  return true;
}

}  // namespace ttyward::hold
