#include "hold/server.h"

#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <system_error>
#include <utility>

#include "hold/run_state_message.h"
#include "journal/folder.h"
#include "journal/format.h"

namespace ttyward::hold {

namespace {

constexpr size_t kMostRungs = 16;

std::string_view bytes_of(const journal::ExitRecord& record) {
  return {reinterpret_cast<const char*>(&record), sizeof record};
}

std::string socket_file(const std::string& name) {
  return name + ".sock";
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
  return clients_->rename(socket_file(name));
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
  std::unique_ptr<Server> server(new Server());
  auto clients = Clients::listen(poller, std::move(dir), file, folder, *server);
  if (!clients) return tl::unexpected(clients.error());
  server->clients_ = std::move(*clients);
  return server;
}

void Server::serve(Holder& holder) {
  holder_ = &holder;
  holder.set_observer(this);
}

void Server::read_up_to(std::optional<uint64_t> least) {
  if (holder_ != nullptr) holder_->follow(least);
}

bool Server::handle(Clients::Client& client, const Frame& frame) {
  switch (frame.type) {
    case MessageType::GetProcesses:
      return frame.payload.empty() &&
             clients_->send(client, encode(MessageType::Processes, frame.tag, processes()));
    case MessageType::GetRunState: {
      Decoder in(frame.payload);
      const auto screen = in.number<uint32_t>() != 0 ? pty::AlternateScreen::On : pty::AlternateScreen::Off;
      if (!in.complete()) return false;
      return clients_->send(
          client, encode(MessageType::RunState, frame.tag, encode_run_state(holder_->run_state(screen))));
    }
    default:
      break;
  }
  bool well_formed = true;
  const base::Result<void> result = perform(frame, well_formed);
  if (!well_formed) return false;
  if (result) return clients_->send(client, encode(MessageType::Done, frame.tag));
  return clients_->send(client, encode(MessageType::Failed, frame.tag, failure_payload(result.error())));
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

void Server::on_output(uint64_t) {
  clients_->output_came();
}

void Server::on_paused() {
  clients_->tell_all(encode(MessageType::Paused, 0));
}

void Server::on_exit(const journal::ExitRecord& record) {
  clients_->tell_all(encode(MessageType::Exited, 0, bytes_of(record)));
}

void Server::on_closed(journal::OutputEnd end) {
  clients_->tell_all(encode(MessageType::Closed, 0, Encoder().number(static_cast<uint32_t>(end)).take()));
}

}  // namespace ttyward::hold
