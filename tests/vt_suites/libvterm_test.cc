// libvterm's scripts, one test each.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "deviations.h"
#include "libvterm_script.h"

namespace ttyward::test {
namespace {

std::vector<std::string> scripts() {
  std::vector<std::string> names;
  if (suites_folder().empty()) return {"absent"};
  for (const auto& file : std::filesystem::directory_iterator(suites_folder() + "/libvterm")) {
    if (file.path().extension() == ".test") names.push_back(file.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Libvterm : public testing::TestWithParam<std::string> {};

TEST_P(Libvterm, Script) {
  if (GetParam() == "absent")
    GTEST_SKIP()
        << "the scripts are not part of this repository, and the folder next to it does not have them";
  LibvtermScript script;
  const auto differences = script.run(suites_folder() + "/libvterm/" + GetParam() + ".test");
  if (const std::string wrong = judge("libvterm/" + GetParam(), differences); !wrong.empty())
    ADD_FAILURE() << wrong;
  RecordProperty("checks", static_cast<int>(script.checks()));
}

INSTANTIATE_TEST_SUITE_P(Suite, Libvterm, testing::ValuesIn(scripts()), [](const auto& test) {
  std::string name = test.param;
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace ttyward::test
