// Changing configuration files: what is changed, what stays, and that taking it out gives the file back.
#include "cli/setup/edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/setup/line_diff.h"

namespace ttyward::cli::setup {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Edit set(KeyPath path, std::string value) {
  return {Edit::Kind::Set, std::move(path), std::move(value)};
}

Edit add(KeyPath path, std::string value) {
  return {Edit::Kind::Add, std::move(path), std::move(value)};
}

// The text after the edits; checks that reverting them gives the text before.
std::string edited(const Editor& editor, const std::string& before, const std::vector<Edit>& edits) {
  auto done = editor.apply(before, edits);
  if (!done) return "error: " + done.error().message;
  auto back = editor.revert(done->text, done->reverts);
  EXPECT_TRUE(back) << back.error().message;
  const bool nothing_again = back && before.empty() && editor.is_empty(*back);
  EXPECT_TRUE(nothing_again || (back && *back == before)) << back.value_or("");
  const auto again = editor.apply(done->text, edits);
  EXPECT_TRUE(again && again->reverts.empty() && again->text == done->text) << "a second time changes it";
  return done->text;
}

std::string json(const std::string& before, const std::vector<Edit>& edits) {
  return edited(json_editor(), before, edits);
}

std::string toml(const std::string& before, const std::vector<Edit>& edits) {
  return edited(toml_editor(), before, edits);
}

const Edit kServer = set({"mcpServers", "ttyward"}, R"({"command":"/bin/t","args":["mcp"]})");

TEST(JsonEdit, a_new_file) {
  EXPECT_EQ(json("", {kServer}), R"({
  "mcpServers": {
    "ttyward": {
      "command": "/bin/t",
      "args": ["mcp"]
    }
  }
}
)");
}

TEST(JsonEdit, goes_behind_the_last_member_in_the_files_own_indentation) {
  EXPECT_EQ(json("{\n\t\"a\": 1,\n\t\"mcpServers\": {\n\t\t\"x\": {}\n\t}\n}", {kServer}),
            "{\n\t\"a\": 1,\n\t\"mcpServers\": {\n\t\t\"x\": {},\n\t\t\"ttyward\": {\n\t\t\t\"command\": "
            "\"/bin/t\",\n\t\t\t\"args\": [\"mcp\"]\n\t\t}\n\t}\n}");
}

TEST(JsonEdit, comments_trailing_commas_and_line_ends_survive) {
  const std::string before =
      "// mine\r\n{\r\n    /* a */ \"a\": 1, // one\r\n    \"b\": [\r\n        \"x\", // why\r\n    ], // "
      "last\r\n}\r\n";
  EXPECT_EQ(
      json(before, {add({"b"}, "\"Bash\""), set({"c"}, "false")}),
      "// mine\r\n{\r\n    /* a */ \"a\": 1, // one\r\n    \"b\": [\r\n        \"x\", // why\r\n        "
      "\"Bash\",\r\n    ], // last\r\n    \"c\": false,\r\n}\r\n");
}

TEST(JsonEdit, a_comma_goes_before_the_comment_behind_the_last_member) {
  EXPECT_EQ(json("{\n  \"a\": 1 // one\n  // the end\n}\n", {set({"b"}, "2")}),
            "{\n  \"a\": 1, // one\n  // the end\n  \"b\": 2\n}\n");
}

TEST(JsonEdit, one_line_stays_one_line) {
  EXPECT_EQ(json(R"({"a":1,"deny":["x"]})", {add({"deny"}, "\"y\""), set({"t", "b"}, "false")}),
            R"({"a":1,"deny":["x", "y"], "t": {"b": false}})");
}

TEST(JsonEdit, an_empty_object_with_a_comment) {
  EXPECT_EQ(json("{\n  // nothing yet\n}\n", {set({"a"}, "1")}), "{\n  // nothing yet\n  \"a\": 1\n}\n");
  EXPECT_EQ(json("{}", {set({"a"}, "1")}), "{\n  \"a\": 1\n}");
}

TEST(JsonEdit, what_is_there_is_replaced_and_comes_back) {
  EXPECT_EQ(json("{\n  \"tools\": {\n    \"bash\": true\n  }\n}\n", {set({"tools", "bash"}, "false")}),
            "{\n  \"tools\": {\n    \"bash\": false\n  }\n}\n");
  const std::string old =
      "{\n  \"mcpServers\": {\n    \"ttyward\": { \"command\": \"/old\" },\n    \"z\": {}\n  }\n}\n";
  EXPECT_THAT(json(old, {kServer}), HasSubstr("/bin/t"));
}

TEST(JsonEdit, the_last_of_two_members_of_one_name_counts) {
  EXPECT_EQ(json("{\"a\": 1, \"a\": 2}", {set({"a"}, "3")}), "{\"a\": 1, \"a\": 3}");
}

TEST(JsonEdit, names_with_escapes_are_the_same_names) {
  EXPECT_EQ(json("{\"d\\u0065ny\": [\"x\"]}", {add({"deny"}, "\"x\"")}), "{\"d\\u0065ny\": [\"x\"]}");
}

TEST(JsonEdit, wrong_files_are_named_with_the_place) {
  EXPECT_EQ(json("{\n  \"a\": 1\n  \"b\": 2\n}", {kServer}), "error: line 3, column 3: expected ',' or '}'");
  EXPECT_EQ(json("{\"a\": 1} x", {kServer}), "error: line 1, column 10: expected the end of the file");
  EXPECT_EQ(json("{\"a\": tru}", {kServer}), "error: line 1, column 7: expected a value");
  EXPECT_EQ(json("{\"a\": \"x\n\"}", {kServer}), "error: line 1, column 9: expected the end of this string");
  EXPECT_EQ(json("{ /* ", {kServer}), "error: line 1, column 3: expected the end of this comment");
  EXPECT_EQ(json("[1]", {kServer}), "error: the file is not an object, so mcpServers.ttyward cannot be set");
  EXPECT_EQ(json("{\"mcpServers\": 3}", {kServer}),
            "error: mcpServers is not an object, so mcpServers.ttyward cannot be set");
  EXPECT_EQ(json("{\"b\": 1}", {add({"b"}, "1")}), "error: b is not a list");
  EXPECT_THAT(json(std::string(100'000, '['), {kServer}), HasSubstr("expected fewer levels"));
}

TEST(JsonEdit, what_somebody_changed_since_stays) {
  const auto done =
      json_editor().apply("{}", {kServer, set({"tools", "bash"}, "false"), add({"deny"}, "\"B\"")});
  ASSERT_TRUE(done);
  // The person switched the shell on again, added a rule, and the agent added to our entry.
  const std::string now = R"({
  "mcpServers": {
    "ttyward": {"command": "/bin/t", "args": ["mcp"], "trust": true}
  },
  "tools": {"bash": true},
  "deny": ["B", "C"],
  "new": 1
})";
  const auto back = json_editor().revert(now, done->reverts);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, "{\n  \"tools\": {\"bash\": true},\n  \"deny\": [\"C\"],\n  \"new\": 1\n}");
}

TEST(JsonEdit, any_cut_of_a_file_is_an_error_or_a_round_trip) {
  const std::string whole = "{\"a\": [1, {\"b\": \"\\u00e9\\n\"}], // c\n \"mcpServers\": {\"x\": null,},\n}";
  for (size_t cut = 0; cut <= whole.size(); ++cut) {
    const std::string text = whole.substr(0, cut);
    const auto done = json_editor().apply(text, {kServer});
    EXPECT_EQ(done.has_value(), cut == whole.size() || cut == 0) << text;
  }
}

const Edit kTomlServer =
    set({"mcp_servers", "ttyward"}, R"({"command":"/bin/t","args":["mcp"],"env":{"A":"b"}})");
const Edit kNoShell = set({"features", "shell_tool"}, "false");

TEST(TomlEdit, a_new_file) {
  EXPECT_EQ(toml("", {kTomlServer, kNoShell}), R"([mcp_servers.ttyward]
command = "/bin/t"
args = ["mcp"]
env = { A = "b" }

[features]
shell_tool = false
)");
}

TEST(TomlEdit, comments_and_order_survive) {
  const std::string before = R"(# mine
model = "gpt" # why

[features] # flags
web = true   # one

# about servers
[mcp_servers.other]
command = '''
[features]
'''
args = [ # a list
  "x", # [not a header]
]
)";
  EXPECT_EQ(toml(before, {kTomlServer, kNoShell}), R"(# mine
model = "gpt" # why

[features] # flags
web = true   # one
shell_tool = false

# about servers
[mcp_servers.other]
command = '''
[features]
'''
args = [ # a list
  "x", # [not a header]
]

[mcp_servers.ttyward]
command = "/bin/t"
args = ["mcp"]
env = { A = "b" }
)");
}

TEST(TomlEdit, what_is_there_is_replaced_and_comes_back) {
  EXPECT_EQ(toml("[features]\nshell_tool = true # on\n", {kNoShell}),
            "[features]\nshell_tool = false # on\n");
  EXPECT_EQ(
      toml("[mcp_servers.ttyward]\ncommand = \"/old\"\n[mcp_servers.ttyward.env]\nX = \"1\"\n\n[z]\na = 1\n",
           {kTomlServer}),
      "[mcp_servers.ttyward]\ncommand = \"/bin/t\"\nargs = [\"mcp\"]\nenv = { A = \"b\" }\n\n[z]\na = 1\n");
  EXPECT_EQ(toml("features.shell_tool = true\n", {kNoShell}), "features.shell_tool = false\n");
}

TEST(TomlEdit, at_the_root_and_without_a_last_line_end) {
  EXPECT_EQ(toml("a = 1\n[b]\nc = 2\n", {set({"d"}, "\"x\"")}), "a = 1\nd = \"x\"\n[b]\nc = 2\n");
  const auto done = toml_editor().apply("[policy]\nask = \"wait\"", {set({"policy", "mode"}, "\"plan\"")});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->text, "[policy]\nask = \"wait\"\nmode = \"plan\"\n");
}

TEST(TomlEdit, a_form_that_cannot_be_changed_is_said) {
  EXPECT_THAT(toml("mcp_servers = { x = {} }\n", {kTomlServer}), HasSubstr("by hand"));
  EXPECT_THAT(toml("a = \n", {kTomlServer}), HasSubstr("error: line 1"));
}

TEST(TomlEdit, what_an_agent_added_to_our_table_goes_with_it) {
  const auto done = toml_editor().apply("a = 1\n", {kTomlServer});
  ASSERT_TRUE(done);
  const auto back = toml_editor().revert(
      done->text + "[mcp_servers.ttyward.tools.run_command]\napproval_mode = \"approve\"\n\n[new]\nx = 1\n",
      done->reverts);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_THAT(*back, Not(HasSubstr("ttyward")));
  EXPECT_THAT(*back, HasSubstr("[new]\nx = 1\n"));
}

TEST(LineDiff, shows_changed_lines_with_a_little_around_them) {
  EXPECT_EQ(line_diff("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nd\nX\nf\n"), "    c\n    d\n  - e\n  + X\n    f\n");
  EXPECT_EQ(line_diff("a\n", "a\n"), "");
}

TEST(LineDiff, masks_secrets_and_shows_control_characters) {
  const std::string shown = line_diff("", "\"api_key\": \"sk-abcdefghijklmnopqrstuvwxyz123456\"\n\x1b[2J\n");
  EXPECT_THAT(shown, Not(HasSubstr("abcdefghijkl")));
  EXPECT_THAT(shown, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace ttyward::cli::setup
