#include "policy/special/awk_program.h"

#include <gtest/gtest.h>

#include <random>

namespace ttyward::policy::special {
namespace {

TEST(AwkProgram, programs_that_only_compute_and_print) {
  for (const char* program : {"",
                              "{print $1}",
                              "$3 > 100 {print $1}",
                              "NR>=10 && NR<=20",
                              "/error/ {c++} END {print c}",
                              "{ if ($1 > 2) print }",
                              "!seen[$0]++",
                              "{print $1/2, $2/3}",
                              "{print a[1]/2}",
                              "{x = 4 / 2 / 1; print x}",
                              "$1 ~ /a\\/b/ {next}",
                              "{print (a > b)}",
                              "{print(a > b, c)}",
                              "BEGIN{FS=\":\"} {s+=$1} END {printf \"%d\\n\", s}",
                              "{print \"system(\\\"id\\\") | sh > out\"}",
                              "/system|getline > x/ {print}",
                              "# system(\"id\")\n{print}",
                              "{getline; print}",
                              "{while ((getline line) > 0) print line}",
                              "function f(x) { return x/2 } {print f($1)}",
                              "{print length / 2}",
                              "{i++; print i++ / 2}",
                              "{print $1 \\\n, $2}",
                              "BEGIN { PROCINFO[\"sorted_in\"] = \"@ind_num_asc\" }",
                              "{ x = y > z ? 1 : 2 }",
                              "{ for (i = 0; i < NF; i++) n++ }"}) {
    EXPECT_EQ(read_awk_program(program), AwkProgram{}) << program;
  }
}

TEST(AwkProgram, what_runs_commands_is_seen_wherever_it_stands) {
  for (const char* program :
       {"BEGIN{system(\"id\")}", "{print | \"sh\"}", "BEGIN{\"id\" | getline x}", "BEGIN{\"id\" |& getline}",
        "1system(\"id\")", "$1system(\"id\")", "{x = 1 /system(\"id\")/ 1}",
        "{print a[1] /system(\"id\")/ 2}", "{while ((\"id\" | getline l) > 0) print l}",
        "{print (1) /system(\"id\")/ 2}", "/x/ /system(\"id\")/ 1", "{print length /system(\"id\")/ 1}"}) {
    const AwkProgram found = read_awk_program(program);
    EXPECT_TRUE(found.runs_commands || !found.problem.empty()) << program;
  }
}

TEST(AwkProgram, files_that_are_written_and_read) {
  EXPECT_EQ(read_awk_program("{print > \"out\"}").writes, std::vector<std::string>{"out"});
  EXPECT_EQ(read_awk_program("{print $1, $2 >> \"out\"; next}").writes, std::vector<std::string>{"out"});
  EXPECT_EQ(read_awk_program("{printf(\"%s\", $1) > \"out\"}").writes, std::vector<std::string>{"out"});
  EXPECT_EQ(read_awk_program("{print a,\n b > \"out\"}").writes, std::vector<std::string>{"out"});
  EXPECT_EQ(read_awk_program("{while ((getline l < \"in\") > 0) n++}").reads, std::vector<std::string>{"in"});
  EXPECT_EQ(read_awk_program("{getline a[$1] < \"in\"}").reads, std::vector<std::string>{"in"});
  for (const char* program : {"{print $1 > $2}", "{print > \"a\" \"b\"}", "{print > f}", "{print (1)(2) > x}",
                              "{print \"x\" > \"a\\x2f\"}", "{print 1 > 2}"}) {
    EXPECT_TRUE(read_awk_program(program).writes_unknown) << program;
  }
  for (const char* program : {"{getline < f}", "{getline x < \"a\" \"b\"}", "{getline < $1}"}) {
    EXPECT_TRUE(read_awk_program(program).reads_unknown) << program;
  }
}

TEST(AwkProgram, the_environment_the_arguments_and_code_from_elsewhere) {
  EXPECT_EQ(read_awk_program("{print ENVIRON[\"HOME\"]}").environment, std::vector<std::string>{"HOME"});
  EXPECT_TRUE(read_awk_program("{print ENVIRON[x]}").reads_environment);
  EXPECT_TRUE(read_awk_program("{for (k in ENVIRON) print k}").reads_environment);
  EXPECT_TRUE(read_awk_program("BEGIN{ARGV[1]=\"/etc/shadow\"}").changes_input);
  EXPECT_TRUE(read_awk_program("@load \"x\"").loads_code);
  EXPECT_TRUE(read_awk_program("{f = \"system\"; @f(\"id\")}").loads_code);
}

TEST(AwkProgram, what_awks_read_differently_is_not_understood) {
  for (const char* program :
       {"{if (x) /a/}", "{++ /a/}", "{getline /a/ 1}", "/[/]/", "/a", "\"a", "{print \\x}", "{print 0x1f}",
        "{print 1e}", "{print (}", "{a & b}", "{x]}", "\x01"}) {
    EXPECT_NE(read_awk_program(program).problem, "") << program;
  }
}

TEST(AwkProgram, every_text_has_an_answer) {
  std::mt19937 random(7);
  constexpr std::string_view kBytes = "{}()[]/\\\"|>$x1 \n;#@~+-=!&,e.";
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (size_t n = random() % 14; n > 0; --n) text.push_back(kBytes[random() % kBytes.size()]);
    read_awk_program(text);
  }
}

}  // namespace
}  // namespace ttyward::policy::special
