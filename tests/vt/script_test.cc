// Every case of every tests/vt/*.vts as a test of its own; see script.h for the format.
#include "script.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace ttyward::test {
namespace {

struct Named {
  std::string file;
  ScriptCase test_case;
};

std::vector<Named> all_cases() {
  std::vector<Named> cases;
  for (const auto& file : std::filesystem::directory_iterator(TTYWARD_SOURCE_DIR "/tests/vt")) {
    if (file.path().extension() != ".vts") continue;
    for (const ScriptCase& test_case : read_script(file.path().string())) {
      cases.push_back({file.path().stem().string(), test_case});
    }
  }
  std::sort(cases.begin(), cases.end(), [](const Named& a, const Named& b) {
    return std::tie(a.file, a.test_case.name) < std::tie(b.file, b.test_case.name);
  });
  return cases;
}

void PrintTo(const Named& named, std::ostream* out) {
  *out << named.file << ": " << named.test_case.name;
}

class Script : public testing::TestWithParam<Named> {};

TEST_P(Script, Case) {
  const std::string wrong = run_case(GetParam().test_case);
  if (!wrong.empty())
    ADD_FAILURE() << GetParam().file << ".vts, " << GetParam().test_case.name << "\n" << wrong;
}

INSTANTIATE_TEST_SUITE_P(Vt, Script, testing::ValuesIn(all_cases()), [](const auto& test) {
  std::string name = test.param.file + "_" + test.param.test_case.name;
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace ttyward::test
