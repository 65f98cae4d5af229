// Each input of the tables is refused with its diagnostic, at its place.
#include <filesystem>
#include <set>

#include "hlo/parser.h"
#include "hlo/validator.h"
#include "sim/generated_inputs.h"
#include "sim/run.h"
#include "tests/bad/bad_table.h"
#include "verify/verify.h"

namespace hv {
namespace {

// Right as text, and yet it cannot run.
TEST(BadInputs, Runs) {
  for (const BadInput& input : ReadBadTable("run.txt")) {
    const Result<Module> module = ParseModule("m.hlo", input.text);
    ASSERT_TRUE(module) << FormatError(module.error());
    const std::unique_ptr<Domain> domain = MakeNativeDomain();
    const std::unique_ptr<Transport> transport = MakeLocalTransport();
    RunOptions options;
    options.domain = domain.get();
    options.transport = transport.get();
    options.max_steps = 1000;
    options.memory_limit_bytes = 1 << 20;
    const DeviceCounts counts = DeduceCounts(*module);
    const auto generated = [&](DeviceId device, int64_t parameter) {
      const Computation& entry = module->Entry();
      const Shape* shape = entry.At(entry.parameters[static_cast<size_t>(parameter)]).shape;
      return GenerateInput(shape, {1, 0, device, parameter});
    };
    const auto outcome =
        RunModule(*module, {counts.replicas, counts.partitions}, generated, options);
    ASSERT_FALSE(outcome) << input.id;
    ExpectDiagnostic(input, outcome.error());
  }
}

// Every scenario of scenarios/bad, with the diagnostic that it gets.
TEST(BadInputs, Scenarios) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(HV_SOURCE_DIR) / "scenarios/bad";
  std::set<std::string> missing;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") missing.insert(entry.path().filename());
  }
  for (const BadInput& input : ReadBadTable("scenarios.txt")) {
    const std::string file = input.text.substr(0, input.text.find('\n'));
    EXPECT_EQ(missing.erase(file), 1u) << file;
    const std::unique_ptr<Transport> transport = MakeLocalTransport();
    const Report report = Verify(LoadScenarios(folder / file), {}, transport.get());
    const std::vector<Diagnostic>& found = report.cases.at(0).diagnostics;
    ASSERT_FALSE(found.empty()) << file;
    EXPECT_EQ(report.cases[0].verdict, Verdict::kInvalid) << file;
    ExpectDiagnostic(input, Error{ErrorKind::kInvalid, found});
  }
  for (const std::string& file : missing) ADD_FAILURE() << file << " is not in scenarios.txt";
}

}  // namespace
}  // namespace hv
