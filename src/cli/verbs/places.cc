// ttyward places: where commands can run besides this machine, and whether that works.
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "cli/colour.h"
#include "cli/far_run.h"
#include "cli/table.h"
#include "cli/verbs/verbs.h"
#include "command/run.h"
#include "pty/executable.h"

namespace ttyward::cli {
namespace places_verb {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kReachPatience{60'000};
constexpr milliseconds kListPatience{10'000};

struct Known {
  std::string from;  // why it is listed
  std::string state;
  uint32_t terminals = 0;
  std::string why;
};

const char* state_word(relay::LinkState::Kind kind) {
  using Kind = relay::LinkState::Kind;
  switch (kind) {
    case Kind::Idle:
      return "idle";
    case Kind::Connecting:
      return "connecting";
    case Kind::Linked:
      return "linked";
    case Kind::Lost:
      return "link_lost";
    case Kind::Failed:
      return "failed";
  }
  return "";
}

// Hosts that ssh knows by a name of their own.
void add_ssh_hosts(std::map<std::string, Known>& known) {
  const char* const home = std::getenv("HOME");
  if (home == nullptr) return;
  std::ifstream file(std::string(home) + "/.ssh/config");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
    if (word != "host") continue;
    while (words >> word) {
      if (const auto name = relay::PlaceName::parse("ssh:" + word))
        known[name->text()].from = "~/.ssh/config";
    }
  }
}

// Containers that run now.
void add_containers(std::map<std::string, Known>& known, const char* program) {
  const char* const path = std::getenv("PATH");
  if (path == nullptr || pty::find_executable(AT_FDCWD, program, path).sys_errno != 0) return;
  const auto listed =
      run(std::string(program) + " ps --format '{{.Names}}' 2>/dev/null", {.timeout = kListPatience});
  if (listed.exit_code != 0) return;
  std::istringstream lines(listed.output.text);
  for (std::string line; std::getline(lines, line);) {
    if (const auto name = relay::PlaceName::parse(std::string(program) + ":" + line))
      known[name->text()].from = "it runs";
  }
}

// Places that have a link's process now; nothing is started for this.
void add_links(std::map<std::string, Known>& known, const relay::LinkFolders& folders) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folders.state, ignored)) {
    std::ifstream file(entry.path() / "lock");
    std::string text;
    std::getline(file, text);
    const auto name = relay::PlaceName::parse(text);
    if (!name) continue;
    Known& place = known[name->text()];
    place.from = "used before";
    if (!std::filesystem::exists(folders.run + "/" + relay::ask_socket(*name), ignored)) continue;
    auto poller = io::Poller::create();
    if (!poller) continue;
    auto state = relay::ask_state(*poller, folders, *name, milliseconds(2000));
    if (!state) continue;
    place.from = "there is a link";
    place.state = state_word(state->kind);
    place.terminals = state->terminals;
    place.why = state->why;
  }
}

int list(const Globals& globals) {
  const auto folders = link_folders();
  if (!folders) return complain("places", folders.error().message, kExitFailure);
  std::map<std::string, Known> known;
  add_ssh_hosts(known);
  add_containers(known, "podman");
  add_containers(known, "docker");
  add_links(known, *folders);
  if (globals.json) {
    json::array out;
    for (const auto& [name, place] : known) {
      json::object row{{"place", name}, {"known_from", place.from}};
      if (!place.state.empty()) row["state"] = place.state;
      if (!place.state.empty()) row["terminals"] = place.terminals;
      if (!place.why.empty()) row["reason"] = place.why;
      out.push_back(std::move(row));
    }
    std::printf("%s\n", json::serialize(json::object{{"places", std::move(out)}}).c_str());
    return 0;
  }
  if (known.empty()) {
    std::puts("No place is known. Try one: ttyward places ssh:HOST, or podman:NAME");
    return 0;
  }
  Table table({{"PLACE"}, {"LINK"}, {"TERMINALS"}, {"KNOWN FROM", true}});
  for (const auto& [name, place] : known) {
    table.add({name, place.state.empty() ? "-" : place.state,
               place.state.empty() ? "-" : std::to_string(place.terminals),
               place.why.empty() ? place.from : place.why});
  }
  for (const std::string& line : table.lines(0, Paint::for_stdout())) std::printf("%s\n", line.c_str());
  return 0;
}

struct Tested {
  base::Result<relay::LinkState> state;
  milliseconds connect{0};
  double round_trip_us = 0;
};

base::Result<Tested> test_one(const std::string& text) {
  const auto name = relay::PlaceName::parse(text);
  if (!name) return tl::unexpected(name.error());
  const auto folders = link_folders();
  if (!folders) return tl::unexpected(folders.error());
  auto poller = io::Poller::create();
  if (!poller) return tl::unexpected(poller.error());
  const auto began = Clock::now();
  auto place = relay::FarPlace::open(*poller, *folders, *name);
  if (!place) return tl::unexpected(place.error());
  Tested tested{relay::reach_now(*poller, **place, kReachPatience)};
  tested.connect = std::chrono::duration_cast<milliseconds>(Clock::now() - began);
  if (!tested.state) return tested;
  double best = 1e12;
  for (int i = 0; i < 10; i++) {
    bool answered = false;
    const auto asked = Clock::now();
    (*place)->file("/", [&](const auto&) { answered = true; });
    while (!answered && Clock::now() - asked < milliseconds(5000)) poller->wait(1000);
    best = std::min(best, std::chrono::duration<double, std::micro>(Clock::now() - asked).count());
  }
  tested.round_trip_us = best;
  return tested;
}

int test(const std::vector<std::string>& places, const Globals& globals) {
  int code = 0;
  for (const std::string& text : places) {
    const auto tested = test_one(text);
    const base::Error* const error = !tested          ? &tested.error()
                                     : !tested->state ? &tested->state.error()
                                                      : nullptr;
    if (error != nullptr) {
      code = std::max(code, relay::PlaceName::parse(text) ? kExitFailure : kExitUsage);
      if (globals.json) {
        std::printf("%s\n", json::serialize(
                                json::object{{"place", text}, {"works", false}, {"reason", error->message}})
                                .c_str());
      } else {
        complain("places", error->message, 0);
      }
      continue;
    }
    const relay::WelcomeMessage& there = *tested->state->welcome;
    if (globals.json) {
      std::printf("%s\n", json::serialize(json::object{{"place", text},
                                                       {"works", true},
                                                       {"system", there.system},
                                                       {"host", there.host},
                                                       {"user", there.user},
                                                       {"home", there.home},
                                                       {"shell", there.shell},
                                                       {"bash", there.bash},
                                                       {"folder", there.folder},
                                                       {"connect_ms", tested->connect.count()},
                                                       {"round_trip_us", tested->round_trip_us}})
                              .c_str());
      continue;
    }
    std::printf("%s works: %s@%s, %s\n", text.c_str(), there.user.c_str(), there.host.c_str(),
                there.system.c_str());
    std::printf("  shell %s, home %s\n", there.shell.c_str(), there.home.c_str());
    std::printf("  program and journals in %s\n", there.folder.c_str());
    std::printf("%s", fmt::format("  connected in {} ms, round trip {:.0f} µs\n", tested->connect.count(),
                                  tested->round_trip_us)
                          .c_str());
  }
  return code;
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto places = std::make_shared<std::vector<std::string>>();
  app.add_option("PLACE", *places, "Try these: ssh:HOST, podman:NAME, docker:NAME");
  return [places, &globals] { return places->empty() ? list(globals) : test(*places, globals); };
}

}  // namespace
}  // namespace places_verb

const Verb kPlaces = {"places", "List other places where commands can run, or try one",
                      &places_verb::declare};

}  // namespace ttyward::cli
