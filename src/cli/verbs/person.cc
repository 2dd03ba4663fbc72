// ttyward person: whether the daemon takes us for a person, and a token for where it cannot know.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "base/folders.h"
#include "base/private_folder.h"
#include "base/secret_file.h"
#include "cli/daemon_call.h"
#include "cli/daemon_verb.h"
#include "cli/verbs/verbs.h"
#include "client/inside_terminal.h"
#include "wire/types/terminal_calls.h"

namespace ttyward::cli {
namespace person_verb {
namespace {

// Without a daemon there is nobody to ask, and the next one takes the file as it finds it.
int make_without_daemon(const base::Folders& folders, bool fresh) {
  if (client::is_inside_a_terminal(folders))
    return complain("person", "make the token outside ttyward's terminals", kExitFailure);
  if (auto folder = base::open_private_folder(folders.state, base::IfMissing::Create); !folder)
    return complain("person", folder.error().message, kExitFailure);
  const std::string path = folders.person_token();
  if (fresh) ::unlink(path.c_str());
  if (::access(path.c_str(), F_OK) != 0) {
    if (auto written = base::write_secret_file(path, base::random_secret()); !written)
      return complain("person", written.error().message, kExitFailure);
  }
  fmt::print("{}\n", path);
  return 0;
}

int make_token(bool fresh, const Globals& globals) {
  if (is_agent())
    return complain("person", "an agent cannot make a token, and TTYWARD_ROLE is agent", kExitFailure);
  client::Options options = client_options("person");
  options.start_daemon = false;
  auto connection = client::Connection::open(options);
  if (!connection && connection.error().code == base::ErrorCode::NotFound)
    return make_without_daemon(options.folders, fresh);
  if (!connection) return complain("person", connection.error().message, kExitFailure);
  auto answer = connection->call(wire::PersonTokenRequest{fresh});
  if (!answer) return complain("person", answer.error().message, exit_code_of(answer.error()));
  return globals.json ? print_answer("person", *answer) : print_text("person", answer->file + "\n");
}

int check(const Globals& globals) {
  auto connection = client::Connection::open(client_options("person"));
  if (!connection) return complain("person", connection.error().message, kExitFailure);
  const wire::Welcome& welcome = connection->welcome();
  const bool person = welcome.role == "person";
  if (globals.json) {
    print_json("person", {{"role", welcome.role}, {"why", welcome.why}});
  } else {
    print_text("person", person
                             ? "a person\n"
                             : welcome.role + (welcome.why.empty() ? "\n" : ", since " + welcome.why + "\n"));
  }
  return person ? 0 : 1;
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto fresh = std::make_shared<bool>(false);
  const CLI::App* checking =
      app.add_subcommand("check", "Show whether you count as a person here, and if not, why");
  CLI::App* token = app.add_subcommand(
      "token",
      "Print the path of the token file, for TTYWARD_PERSON_TOKEN_FILE; it is created if it does not exist");
  token->add_flag("--new", *fresh, "Replace the token; the old one is no longer valid");
  app.require_subcommand(1);
  return [fresh, checking, &globals] {
    return checking->parsed() ? check(globals) : make_token(*fresh, globals);
  };
}

}  // namespace
}  // namespace person_verb

const Verb kPerson = {"person", "Show whether you count as a person, or make a token that proves it",
                      &person_verb::declare};

}  // namespace ttyward::cli
