// How fast a terminal's bytes become its screen and the output of the command that printed them.
//
// Usage: bench_feed [--megabytes N]
// A journal with so many megabytes (64) of each kind of text is read, once as a command's output and once as
// what nobody's command printed: the difference is what the command's own output costs. Prints one JSON
// object for each: MB/s, and which part of the bytes went through an emulator, for the terminal and for the
// command. See bench/README.md.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include <boost/json/parse.hpp>

#include "engine/replay.h"
#include "journal/writer.h"
#include "shell/mark_nonce.h"

namespace ttyward {
namespace {

using Clock = std::chrono::steady_clock;
constexpr char kSecret[] = "5eed";

std::string mark(const std::string& body, uint64_t command) {
  return "\x1b]633;" + body + ";" + shell::mark_nonce(kSecret, command) + "\a";
}

std::string line_of(std::string_view kind, int n) {
  const std::string number = std::to_string(n);
  if (kind == "plain") return "src/part" + number + ".cc: compiled in " + number + " ms, no warnings\r\n";
  if (kind == "colours")
    return "\x1b[1msrc/part" + number + ".cc:\x1b[m \x1b[01;31m\x1b[Kerror:\x1b[m\x1b[K no member " + number +
           "\r\n";
  if (kind == "colours_utf8")
    return "  \x1b[32m\xe2\x9c\x93\x1b[39m part " + number + " \xe2\x80\x94 \x1b[2mdone in " + number +
           " ms\x1b[22m\r\n";
  return "\r\x1b[2K\x1b[1A\x1b[2Kstep " + number + " of many\r\n[" + number + "] working\r\n";  // "redraw"
}

std::string spec(const std::string& id) {
  return R"({"k":"spec","version":1,"id":")" + id +
         R"(","owner":"agent","cwd":"/","argv":["/bin/bash"],"cols":80,"rows":24,"provider":"pty",)"
         R"("created_at":5,"secret":"5eed","expected":"rich"})";
}

bool measure(const std::string& folder, std::string_view kind, bool as_command, size_t bytes) {
  auto journals = journal::Folder::open(folder);
  if (!journals) return false;
  const std::string id = std::string("t") + (as_command ? "c" : "n") + std::string(kind);
  journal::WriterOptions options;
  options.id = id;
  options.quota = UINT64_MAX / 2;
  auto writer = journal::Writer::create(*journals, options);
  if (!writer) return false;
  std::string text = mark("A", 0) + "$ " + mark("B", 0);
  if (as_command) text += "make\r\n" + mark("E;make", 1) + mark("C", 1);
  const size_t begin = text.size();
  for (int n = 0; text.size() < bytes; n++) text += line_of(kind, n);
  const size_t printed = text.size() - begin;
  if (as_command) text += mark("D;0", 1) + mark("A", 1) + "$ " + mark("B", 1);
  const auto all = std::as_bytes(std::span(text.data(), text.size()));
  if (writer->append(all, journal::Stream::Terminal) != text.size()) return false;

  engine::ReplayInput input{
      {boost::json::parse(spec(id)).as_object()}, journal::Reader::open(folder, id), text.size(), {}, 0, {}};
  const auto start = Clock::now();
  auto replayed = engine::replay(std::move(input));
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (!replayed) return false;
  const engine::TerminalModel& model = *replayed->model;
  const auto part = [&](const terminal::Output& output) {
    return static_cast<double>(output.emulated_bytes()) / static_cast<double>(printed);
  };
  const auto& commands = model.book().commands();
  const bool known = !commands.empty() && commands.back()->output != nullptr;
  if (known != as_command) return false;
  std::printf(
      "{\"bench\":\"feed\",\"text\":\"%.*s\",\"command\":%s,\"mb_per_s\":%.0f,"
      "\"emulated_terminal\":%.2f,\"emulated_command\":%.2f}\n",
      static_cast<int>(kind.size()), kind.data(), as_command ? "true" : "false",
      static_cast<double>(printed) / 1e6 / seconds, part(model.feed().output()),
      known ? part(*commands.back()->output) : 0.0);
  return true;
}

}  // namespace
}  // namespace ttyward

int main(int argc, char** argv) {
  size_t megabytes = 64;
  if (argc == 3 && std::strcmp(argv[1], "--megabytes") == 0) megabytes = std::strtoul(argv[2], nullptr, 10);
  std::string folder = std::filesystem::temp_directory_path() / "ttyward-bench-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return 1;
  bool all = true;
  for (const char* kind : {"plain", "colours", "colours_utf8", "redraw"})
    for (const bool as_command : {false, true})
      all = all && ttyward::measure(folder, kind, as_command, megabytes << 20);
  std::filesystem::remove_all(folder);
  return all ? 0 : 1;
}
