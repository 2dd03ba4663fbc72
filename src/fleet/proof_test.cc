#include "fleet/proof.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace ttyward::fleet {
namespace {

const std::string kToken(64, 'a');

People people_of(const std::string& text) {
  const std::string file = testing::TempDir() + "/people";
  std::ofstream(file) << text;
  ::chmod(file.c_str(), 0600);
  auto people = People::read(file, kToken);
  std::remove(file.c_str());
  EXPECT_TRUE(people) << (people ? "" : people.error().message);
  return people.value_or(People());
}

Job some_job() {
  Job job;
  job.id = "caaaaaaaaaaaa";
  job.command = "make test";
  job.cwd = "/src";
  job.submitted_at = wire::Time{1000};
  return job;
}

TEST(Proof, holds_for_the_message_and_the_person_who_made_it) {
  const People people = people_of("# comment\n\nada " + std::string(32, 'k') + "\n");
  const std::string text = job_text(some_job());
  EXPECT_EQ(people.doubt(prove("", kToken, text), text), "");
  EXPECT_EQ(people.doubt(prove("ada", std::string(32, 'k'), text), text), "");
  EXPECT_NE(people.doubt(prove("ada", kToken, text), text), "");
  EXPECT_NE(people.doubt(prove("", std::string(32, 'k'), text), text), "");
  EXPECT_NE(people.doubt(prove("eve", kToken, text), text), "");
  EXPECT_NE(people.doubt({"", ""}, text), "");
}

TEST(Proof, every_field_that_changes_what_runs_is_proved) {
  const std::string text = job_text(some_job());
  for (const auto& change : std::initializer_list<void (*)(Job&)>{
           [](Job& job) { job.id = "cbbbbbbbbbbbb"; }, [](Job& job) { job.command = "make"; },
           [](Job& job) { job.cwd = "/"; }, [](Job& job) { job.sandbox = "none"; },
           [](Job& job) { job.env.entries = {"A=1"}; }, [](Job& job) { job.argv = {"make"}; },
           [](Job& job) { job.submitted_at = wire::Time{2000}; }}) {
    Job job = some_job();
    change(job);
    EXPECT_NE(job_text(job), text);
  }
}

TEST(Proof, fields_cannot_be_shifted_into_each_other) {
  Job a = some_job();
  Job b = some_job();
  a.argv = {"x", "y z"};
  b.argv = {"x y", "z"};
  EXPECT_NE(job_text(a), job_text(b));
  a.argv = {"x", "A=1"};
  b.argv = {"x"};
  b.env.entries = {"A=1"};
  EXPECT_NE(job_text(a), job_text(b));
}

TEST(Proof, an_answer_is_for_one_question_of_one_host) {
  AnswerMessage answer;
  answer.decision = "allow";
  answer.shown = "1234";
  const std::string text = answer_text("one", "aaaaaaaaaaaaa", answer);
  EXPECT_NE(answer_text("two", "aaaaaaaaaaaaa", answer), text);
  EXPECT_NE(answer_text("one", "abbbbbbbbbbbb", answer), text);
  answer.decision = "deny";
  EXPECT_NE(answer_text("one", "aaaaaaaaaaaaa", answer), text);
}

TEST(People, a_file_that_others_can_read_or_that_is_wrong_is_refused) {
  const std::string file = testing::TempDir() + "/people-wrong";
  std::ofstream(file) << "ada short\n";
  ::chmod(file.c_str(), 0600);
  auto wrong = People::read(file, "");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("line 1"), std::string::npos);
  ::chmod(file.c_str(), 0644);
  EXPECT_FALSE(People::read(file, ""));
  std::remove(file.c_str());
}

}  // namespace
}  // namespace ttyward::fleet
