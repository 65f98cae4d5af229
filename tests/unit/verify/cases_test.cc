// Every pair of tests/data gives the verdict its case.json states.
#include <gtest/gtest.h>

#include "verify/verify.h"

namespace hv {
namespace {

Report VerifyFolder(const std::string& folder) {
  const std::unique_ptr<Transport> transport = MakeLocalTransport();
  return Verify(LoadScenarios(HV_TEST_DATA + folder), {}, transport.get());
}

TEST(Cases, EveryBugHasItsVerdict) {
  for (const CaseReport& c : VerifyFolder("/cases/bugs").cases) {
    EXPECT_TRUE(c.as_expected) << c.name << ": " << c.missed << "; " << c.reason;
    std::printf("%-55s %s %s | %s\n", c.name.c_str(), std::string(ToString(c.verdict)).c_str(),
                std::string(ToString(c.level)).c_str(), c.reason.c_str());
  }
}

}  // namespace
}  // namespace hv
