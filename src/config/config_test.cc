#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "config/edit.h"
#include "config/load.h"

namespace ttyward::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Loaded from(std::string_view toml, FileLevel level = FileLevel::Person) {
  Loaded loaded;
  apply_toml(loaded, toml, "f", level);
  return loaded;
}

std::vector<std::string> problems(const Loaded& loaded) {
  std::vector<std::string> out;
  for (const Problem& problem : loaded.problems) out.push_back(problem.shown());
  return out;
}

TEST(SettingTable, every_default_is_allowed_and_survives_being_written_and_read) {
  const Settings defaults;
  std::set<std::string> names;
  for (const Setting& setting : setting_table()) {
    EXPECT_TRUE(names.insert(setting.full_name()).second) << setting.full_name();
    const Value value = setting.get(defaults);
    EXPECT_TRUE(checked(setting, value)) << setting.full_name();
    Loaded loaded =
        from(std::string("[") + setting.section + "]\n" + setting.name + " = " + to_toml(setting, value));
    EXPECT_THAT(problems(loaded), IsEmpty());
    EXPECT_EQ(setting.get(loaded.settings), value) << setting.full_name();
    EXPECT_EQ(loaded.origin(setting), (Origin{Source::File, "f:2"}));
    EXPECT_STRNE(setting.doc, "");
  }
}

TEST(SettingTable, each_row_sets_its_own_member) {
  for (const Setting& setting : setting_table()) {
    Settings settings;
    Value other = setting.get(settings);
    if (auto* flag = std::get_if<bool>(&other)) *flag = !*flag;
    if (auto* number = std::get_if<int64_t>(&other)) *number = *number == 0 ? 1 : *number - 1;
    if (auto* time = std::get_if<Milliseconds>(&other)) *time += Milliseconds(1);
    if (auto* text = std::get_if<std::string>(&other)) *text += "/x";
    if (auto* list = std::get_if<std::vector<std::string>>(&other)) list->push_back("/x");
    setting.set(settings, other);
    for (const Setting& each : setting_table()) {
      const bool same = each.get(settings) == each.get(Settings{});
      EXPECT_EQ(same, &each != &setting) << setting.full_name() << " and " << each.full_name();
    }
  }
}

TEST(SettingTable, the_document_says_the_same) {
  std::ifstream in(TTYWARD_SOURCE_DIR "/docs/configuration.md");
  const std::string document((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  EXPECT_TRUE(document == reference_markdown())
      << "it does not; write `ttyward config reference` to docs/configuration.md";
}

TEST(ConfigFile, values_of_every_kind) {
  const Loaded loaded = from(R"(
[times]
timeout = 90
idle_timeout = "1.5h"
drain = 50
yield_after = "0ms"
[limits]
journal = "1GiB"
journal_total = 5000000
overflow = "pause"
[policy]
mode = "auto-edit"
allowed_roots = ["/a", "/b"]
[shell]
integration = false
path = "/bin/zsh"
)");
  EXPECT_THAT(problems(loaded), IsEmpty());
  const Settings& s = loaded.settings;
  EXPECT_EQ(s.times.timeout, Milliseconds(90'000));
  EXPECT_EQ(s.times.idle_timeout, Milliseconds(5'400'000));
  EXPECT_EQ(s.times.drain, Milliseconds(50));
  EXPECT_EQ(s.times.yield_after, Milliseconds(0));
  EXPECT_EQ(s.limits.journal, int64_t{1} << 30);
  EXPECT_EQ(s.limits.journal_total, 5'000'000);
  EXPECT_EQ(s.limits.overflow, Overflow::Pause);
  EXPECT_EQ(s.policy.mode, PolicyMode::AutoEdit);
  EXPECT_EQ(s.policy.ask, PolicyAsk::Wait);
  EXPECT_THAT(s.policy.allowed_roots, ElementsAre("/a", "/b"));
  EXPECT_FALSE(s.shell.integration);
  EXPECT_EQ(s.shell.path, "/bin/zsh");
  EXPECT_EQ(s.output.lines, 500);
}

TEST(ConfigFile, mistakes_are_named_with_their_place_and_cost_only_themselves) {
  const Loaded loaded = from(R"([times]
timeuot = 5
timeout = "soon"
drain = 20
lines = 3
[tiems]
x = 1
[output]
lines = -1
chars = "many"
view = "tiny"
fold_repeats = "yes"
head_percent = 1.5
[policy]
allowed_roots = ["/a", "b"]
confirm_dangerous_commands = 1
[shell]
environment_add = "A=1"
environment_keep = ["A-B"]
)");
  EXPECT_THAT(
      problems(loaded),
      ElementsAre(
          "f:2:1: there is no setting times.timeuot; did you mean times.timeout?",
          R"(f:3:11: times.timeout is a time from 1ms to 365d, or 0 for no limit, as a number of seconds or such as "90s", not "soon")",
          "f:5:1: there is no setting times.lines; did you mean output.lines?",
          HasSubstr("there is no section 'tiems'; did you mean [times]?"),
          "f:9:9: output.lines is a whole number from 1 to 100000000, or 0 for no limit, not -1",
          HasSubstr("f:10:9: output.chars is a whole number"),
          R"(f:11:8: output.view is "default", "digest", "head", "tail", "full", "void", "roo" or "gemini", not "tiny")",
          R"(f:12:16: output.fold_repeats is true or false, not "yes")",
          "f:13:16: output.head_percent is a whole number from 0 to 100, not a number with a fraction",
          R"(f:15:17: policy.allowed_roots: "b" is not valid: write a full path that begins with /)",
          "f:16:30: policy.confirm_dangerous_commands is true or false, not 1",
          R"(f:18:19: shell.environment_add is a list of strings, not "A=1")",
          HasSubstr("write a variable's name")));
  EXPECT_TRUE(loaded.has_errors());
  EXPECT_EQ(loaded.settings.times.timeout, Milliseconds(60'000));
  EXPECT_EQ(loaded.settings.times.drain, Milliseconds(20));
}

TEST(ConfigFile, what_is_no_toml_leaves_the_defaults) {
  const Loaded loaded = from("[times\ntimeout = 5");
  ASSERT_EQ(loaded.problems.size(), 1U);
  EXPECT_THAT(loaded.problems[0].where, HasSubstr("f:1:"));
  EXPECT_EQ(loaded.settings.times.timeout, Milliseconds(60'000));
  EXPECT_THAT(problems(from("times = 5")), ElementsAre("f:1:1: 'times' is a section: write [times]"));
  EXPECT_THAT(problems(from("[[rule]]\nname = \"x\"")), ElementsAre(HasSubstr("there is no section 'rule'")));
}

TEST(ConfigFile, numbers_at_and_beyond_the_edge) {
  for (const char* text :
       {"99999999999999999999", "9223372036854775807", "\"9223372036854775807h\"", "\"99999999999d\"", "-5",
        "\"-5s\"", "\"5\"", "\"5.s\"", "\"s\"", "\"\"", "\"1.5ms\"", "nan", "1979-05-27"}) {
    const Loaded loaded = from(std::string("[times]\ntimeout = ") + text);
    EXPECT_EQ(loaded.problems.size(), 1U) << text;
    EXPECT_EQ(loaded.settings.times.timeout, Milliseconds(60'000)) << text;
  }
}

TEST(ProjectFile, may_tighten) {
  const Loaded loaded = from(R"(
[times]
timeout = 10
[policy]
mode = "plan"
auto_approve_safe_commands = false
allowed_roots = ["/srv/p"]
[shell]
environment_drop = ["AWS_*"]
[[rule]]
decision = "deny"
program = "rm"
)",
                             FileLevel::Project);
  EXPECT_THAT(problems(loaded), IsEmpty());
  EXPECT_EQ(loaded.settings.times.timeout, Milliseconds(10'000));
  EXPECT_EQ(loaded.settings.policy.mode, PolicyMode::Plan);
  EXPECT_FALSE(loaded.settings.policy.auto_approve_safe_commands);
  EXPECT_EQ(loaded.origin(*find_setting("policy", "mode")), (Origin{Source::Project, "f:5"}));
}

TEST(ProjectFile, may_not_loosen) {
  const std::string person = R"(
[times]
timeout = 10
[policy]
mode = "plan"
auto_approve_safe_commands = false
allowed_roots = ["/srv/a"]
[shell]
environment_drop = ["A"]
)";
  Loaded loaded = from(person);
  const Settings before = loaded.settings;
  apply_toml(loaded, R"([times]
timeout = 0
idle_timeout = 0
[policy]
mode = "yolo"
auto_approve_safe_commands = true
confirm_dangerous_commands = false
allowed_roots = ["/srv/a/b", "/srv/a/../b"]
approval_expiry = "1d"
[output]
lines = 1000
)",
             "p", FileLevel::Project);
  EXPECT_EQ(loaded.problems.size(), 8U);
  for (const Problem& problem : loaded.problems) {
    EXPECT_EQ(problem.severity, Severity::Note) << problem.shown();
    EXPECT_THAT(problem.text, HasSubstr("a project may only make it stricter"));
  }
  for (const Setting& setting : setting_table()) EXPECT_EQ(setting.get(loaded.settings), setting.get(before));
  EXPECT_FALSE(loaded.has_errors());

  apply_toml(loaded, "[policy]\nallowed_roots = []\n", "p", FileLevel::Project);
  EXPECT_THAT(loaded.settings.policy.allowed_roots, ElementsAre("/srv/a"));
  apply_toml(loaded, "[shell]\nenvironment_drop = [\"B\"]\n", "p", FileLevel::Project);
  EXPECT_THAT(loaded.settings.shell.environment_drop, ElementsAre("A", "B"));
}

TEST(ProjectFile, other_settings_are_not_its_business) {
  const Loaded loaded =
      from("[shell]\npath = \"/tmp/evil\"\nenvironment_add = [\"A=1\"]\n[daemon]\nautostart = false\n",
           FileLevel::Project);
  EXPECT_THAT(problems(loaded), ElementsAre(HasSubstr("shell.path cannot be set by a project"),
                                            HasSubstr("shell.environment_add cannot be set by a project"),
                                            HasSubstr("daemon.autostart cannot be set by a project")));
  EXPECT_TRUE(loaded.settings.shell.path.empty());
}

TEST(ConfigEnvironment, overrides_and_is_checked) {
  Loaded loaded = from("[times]\ntimeout = 5\n");
  apply_environment(
      loaded, {"TTYWARD_TIMES_TIMEOUT=2m", "TTYWARD_OUTPUT_LINES=7", "TTYWARD_SHELL_INTEGRATION=0",
               "TTYWARD_POLICY_MODE=plan", "TTYWARD_SHELL_ADD_TO_PATH=/a,/b", "TTYWARD_HOME=/x",
               "TTYWARD_TIMES_TIMEOUTS=1", "TTYWARD_OUTPUT_CHARS=lots", "TTYWARD_OUTPUT_FOLD_REPEATS=on",
               "TTYWARD_TIMES_DRAIN=30", "PATH=/bin", "TTYWARD_NONCE_X=1"});
  EXPECT_EQ(loaded.settings.times.timeout, Milliseconds(120'000));
  EXPECT_EQ(loaded.settings.times.drain, Milliseconds(30));
  EXPECT_EQ(loaded.settings.output.lines, 7);
  EXPECT_FALSE(loaded.settings.shell.integration);
  EXPECT_EQ(loaded.settings.policy.mode, PolicyMode::Plan);
  EXPECT_THAT(loaded.settings.shell.add_to_path, ElementsAre("/a", "/b"));
  EXPECT_EQ(loaded.origin(*find_setting("times", "timeout")),
            (Origin{Source::Environment, "TTYWARD_TIMES_TIMEOUT"}));
  EXPECT_THAT(problems(loaded),
              ElementsAre(HasSubstr("TTYWARD_TIMES_TIMEOUTS: there is no setting times.timeouts; did"),
                          HasSubstr("TTYWARD_OUTPUT_CHARS: output.chars is a whole number"),
                          HasSubstr("is true or false, not 'on'")));
}

TEST(Nearest, names) {
  EXPECT_EQ(nearest_name("times.timout"), "times.timeout");
  EXPECT_EQ(nearest_name("outptu"), "[output]");
  EXPECT_EQ(nearest_name("timeout"), "times.timeout");
  EXPECT_EQ(nearest_name("terminal.timeout"), "times.timeout");
  EXPECT_EQ(nearest_name("completely.different"), "");
  EXPECT_EQ(nearest_name(std::string(100'000, 'x')), "");
}

class ConfigDisk : public ::testing::Test {
 protected:
  ConfigDisk() {
    std::string pattern = ::testing::TempDir() + "/ttyward-config-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
    std::filesystem::create_directories(root_ + "/config");
    std::filesystem::create_directories(root_ + "/p/a/b");
    folders_.config = root_ + "/config";
  }
  ~ConfigDisk() override {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  void write(const std::string& name, const std::string& text, mode_t mode = 0644) {
    std::ofstream(root_ + name) << text;
    ASSERT_EQ(::chmod((root_ + name).c_str(), mode), 0);
  }

  std::string root_;
  base::Folders folders_;
};

TEST_F(ConfigDisk, all_sources_in_order) {
  write("/config/config.toml", "[times]\ntimeout = 50\nidle_timeout = 50\nyield_after = 50\n");
  write("/p/.ttyward.toml", "[times]\ntimeout = 20\n");
  const Loaded loaded = load(folders_, root_ + "/p/a/b", {"TTYWARD_TIMES_IDLE_TIMEOUT=40"});
  EXPECT_THAT(problems(loaded), IsEmpty());
  EXPECT_EQ(loaded.project_file, root_ + "/p/.ttyward.toml");
  EXPECT_EQ(loaded.settings.times.timeout, Milliseconds(20'000));
  EXPECT_EQ(loaded.settings.times.idle_timeout, Milliseconds(40'000));
  EXPECT_EQ(loaded.settings.times.yield_after, Milliseconds(50'000));
  EXPECT_EQ(loaded.origin(*find_setting("times", "timeout")).where, root_ + "/p/.ttyward.toml:2");
}

TEST_F(ConfigDisk, no_files_are_no_problem) {
  const Loaded loaded = load(folders_, root_, {});
  EXPECT_THAT(problems(loaded), IsEmpty());
  EXPECT_EQ(loaded.project_file, "");
}

TEST_F(ConfigDisk, a_file_others_may_write_to_is_not_used) {
  write("/config/config.toml", "[policy]\nmode = \"yolo\"\n", 0666);
  const Loaded loaded = load(folders_, root_, {});
  EXPECT_THAT(problems(loaded), ElementsAre(HasSubstr("chmod go-w")));
  EXPECT_EQ(loaded.settings.policy.mode, PolicyMode::Default);
}

TEST_F(ConfigDisk, what_is_no_file_or_too_large_is_said_to_be_so) {
  std::filesystem::create_directories(root_ + "/config/config.toml");
  EXPECT_THAT(problems(load(folders_, root_, {})), ElementsAre(HasSubstr("it is not a file")));
  std::filesystem::remove(root_ + "/config/config.toml");
  write("/config/config.toml", std::string(2 << 20, '#'));
  EXPECT_THAT(problems(load(folders_, root_, {})), ElementsAre(HasSubstr("larger than 1 MiB")));
  Loaded loaded;
  apply_file(loaded, root_ + "/nowhere", FileLevel::Person, IfAbsent::Problem);
  EXPECT_EQ(loaded.problems.size(), 1U);
}

std::string changed(const std::string& text, std::string_view section, std::string_view name,
                    const std::optional<Value>& value) {
  const auto made = with_setting(text, *find_setting(section, name), value, "f");
  return made ? *made : "error: " + made.error().message;
}

TEST(Edit, one_setting_changes_and_the_rest_stays) {
  const std::string text =
      "# mine\n[policy]\nmode = \"plan\"   # for now: ü\nallowed_roots = [\n  \"/a\", # one\n  \"/b\",\n] # "
      "roots\n"
      "\n[sandbox]\nhosts = []\n\n[agents.x]\ncommand = [\"x\"]\n";
  EXPECT_EQ(changed(text, "policy", "mode", Value(int64_t{1})),
            "# mine\n[policy]\nmode = \"default\"   # for now: ü\nallowed_roots = [\n  \"/a\", # one\n  "
            "\"/b\",\n] # roots\n"
            "\n[sandbox]\nhosts = []\n\n[agents.x]\ncommand = [\"x\"]\n");
  EXPECT_EQ(changed(text, "policy", "allowed_roots", Value(std::vector<std::string>{"/c"})),
            "# mine\n[policy]\nmode = \"plan\"   # for now: ü\nallowed_roots = [\"/c\"] # roots\n"
            "\n[sandbox]\nhosts = []\n\n[agents.x]\ncommand = [\"x\"]\n");
  EXPECT_EQ(changed(text, "sandbox", "profile", Value(int64_t{2})),
            "# mine\n[policy]\nmode = \"plan\"   # for now: ü\nallowed_roots = [\n  \"/a\", # one\n  "
            "\"/b\",\n] # roots\n"
            "\n[sandbox]\nprofile = \"workspace\"\nhosts = []\n\n[agents.x]\ncommand = [\"x\"]\n");
  EXPECT_EQ(changed("[policy]\nmode = \"plan\"\n", "policy", "mode", std::nullopt), "[policy]\n");
  EXPECT_EQ(changed("", "policy", "mode", Value(int64_t{0})), "[policy]\nmode = \"plan\"\n");
  EXPECT_EQ(changed("[daemon]\nautostart = true", "policy", "mode", Value(int64_t{0})),
            "[daemon]\nautostart = true\n\n[policy]\nmode = \"plan\"\n");
}

TEST(Edit, what_cannot_be_changed_by_lines_is_left_to_a_person) {
  EXPECT_THAT(changed("policy = { mode = \"plan\" }\n", "policy", "mode", Value(int64_t{1})),
              HasSubstr("edit it by hand"));
  EXPECT_THAT(changed("policy.mode = \"plan\"\n", "policy", "mode", Value(int64_t{1})),
              HasSubstr("edit it by hand"));
  EXPECT_THAT(changed("[policy]\nmode = 7\n", "policy", "mode", Value(int64_t{1})),
              HasSubstr("fix it first"));
  EXPECT_THAT(changed("[policy\n", "policy", "mode", Value(int64_t{1})), HasSubstr("fix it first"));
}

}  // namespace
}  // namespace ttyward::config
