#include "models/workload/scenario.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/core/parameters/expect_error.hpp"

namespace lockstep::scenario_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// A folder with a GPU, a host and a workload; removed afterwards.
class ScenarioReader : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("lockstep_scenario_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    write("gpu.yaml", "name: small\nsm: {count: 4}\n");
    write("host.yaml", "name: pcie\n");
    write("w.yaml",
          "module: k.ptx\nparameters: {n: 8}\n"
          "buffers:\n  b: {type: f32, count: n, memory: device}\nprogram: []\n");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  Scenario read(const std::string& tenants, const std::string& more = "",
                const std::vector<std::string>& settings = {}) const {
    write("s.yaml", "gpu: gpu.yaml\nhost: host.yaml\n" + more + "tenants:\n" + tenants);
    return read_scenario((folder_ / "s.yaml").string(), settings);
  }
  std::string error(const std::string& tenants, const std::string& more = "",
                    const std::vector<std::string>& settings = {}) const {
    const std::string message = message_of([&] { read(tenants, more, settings); });
    const std::string folder = folder_.string() + "/";
    return message.starts_with(folder) ? message.substr(folder.size()) : message;
  }

  std::filesystem::path folder_;
};

const char one[] = "  - {name: a, workload: w.yaml}\n";

TEST_F(ScenarioReader, TenantsTakeTheirWorkloadsFromFiles) {
  const Scenario scenario = read(one);
  EXPECT_EQ(scenario.name, "s");
  ASSERT_EQ(scenario.tenants.size(), 1u);
  EXPECT_EQ(scenario.tenants[0].workload.buffers[0].count, 8u);
  EXPECT_EQ(scenario.tenants[0].arrival, Time::zero());
}

TEST_F(ScenarioReader, TenantHasParametersArrivalPriorityAndSms) {
  const Scenario scenario = read(
      "  - {name: a, workload: w.yaml, parameters: {n: 32}, arrival: 3us, priority: 2, sms: 1}\n");
  EXPECT_EQ(scenario.tenants[0].workload.buffers[0].count, 32u);
  EXPECT_EQ(scenario.tenants[0].arrival, Time{3'000'000'000});
  EXPECT_EQ(scenario.tenants[0].priority, 2u);
  EXPECT_EQ(scenario.tenants[0].sms, 1u);
}

TEST_F(ScenarioReader, ATenantOverridesAnyValueOfItsWorkload) {
  const Scenario scenario = read(
      "  - {name: a, workload: w.yaml, set: {parameters.n: 16, buffers.b.memory: managed, "
      "buffers.b.init: {value: 3}, heap: 1MiB}}\n");
  const Workload& workload = scenario.tenants[0].workload;
  EXPECT_EQ(workload.buffers[0].count, 16u);
  EXPECT_EQ(workload.buffers[0].memory, MemoryKind::managed);
  EXPECT_EQ(workload.buffers[0].initial.first, 3);
  EXPECT_EQ(workload.heap, 1u << 20);
}

TEST_F(ScenarioReader, AnOverrideOfWhatTheWorkloadLacksIsRefusedAtItsPlace) {
  const auto refused = [&](const std::string& setting) {
    return error("  - {name: a, workload: w.yaml, set: {" + setting + "}}\n");
  };
  EXPECT_THAT(refused("parameters.m: 16"),
              AllOf(StartsWith("s.yaml:4:53: "), HasSubstr("the workload has no parameter \"m\""),
                    HasSubstr("n")));
  EXPECT_THAT(refused("buffers.bb.memory: managed"),
              AllOf(StartsWith("s.yaml:4:58: "), HasSubstr("the workload has no buffer \"bb\""),
                    HasSubstr("did you mean \"b\"")));
  EXPECT_THAT(refused("buffers.b.memry: managed"),
              AllOf(StartsWith("s.yaml:4:"), HasSubstr("unknown key \"memry\""),
                    HasSubstr("did you mean \"memory\"")));
  EXPECT_THAT(refused("bufers.b.memory: managed"),
              AllOf(StartsWith("s.yaml:4:"), HasSubstr("unknown key \"bufers\""),
                    HasSubstr("did you mean \"buffers\"")));
  EXPECT_THAT(refused("program.0.copy.to: host"),
              AllOf(StartsWith("s.yaml:4:"), HasSubstr("has no entry \"0\"")));
}

TEST_F(ScenarioReader, TenantRunsOnceToItsEndUnlessItSaysOtherwise) {
  const Scenario scenario = read(
      "  - {name: a, workload: w.yaml}\n"
      "  - {name: b, workload: w.yaml, relaunch: true, instructions: 5000}\n");
  EXPECT_FALSE(scenario.tenants[0].relaunch);
  EXPECT_EQ(scenario.tenants[0].instructions, 0u);
  EXPECT_TRUE(scenario.tenants[1].relaunch);
  EXPECT_EQ(scenario.tenants[1].instructions, 5000u);
}

TEST_F(ScenarioReader, TenantIsMeasuredAfterAtLeastOneInstruction) {
  EXPECT_THAT(error("  - {name: a, workload: w.yaml, instructions: 0}\n"),
              StartsWith("s.yaml:4:47: "));
}

TEST_F(ScenarioReader, OverrideAndSettingsChangeTheMachine) {
  EXPECT_EQ(read(one).gpu.at("sm").at("count").integer(), 4);
  const std::string override_text = "override: {gpu.sm.count: 6}\n";
  EXPECT_EQ(read(one, override_text).gpu.at("sm").at("count").integer(), 6);
  EXPECT_EQ(read(one, override_text, {"gpu.sm.count=7"}).gpu.at("sm").at("count").integer(), 7);
}

TEST_F(ScenarioReader, SettingsReachTheParametersOfATenant) {
  const Scenario scenario = read("  - {name: a, workload: w.yaml, parameters: {n: 4}}\n", "",
                                 {"tenants.a.parameters.n=16"});
  EXPECT_EQ(scenario.tenants[0].workload.buffers[0].count, 16u);
}

TEST_F(ScenarioReader, SimulationHasDefaults) {
  EXPECT_EQ(read(one).simulation.seed, 1u);
  EXPECT_EQ(read(one, "simulation: {seed: 5}\n").simulation.seed, 5u);
}

TEST_F(ScenarioReader, UnknownKeyNamesTheNearest) {
  EXPECT_THAT(error(one, "simulations: {seed: 5}\n"),
              AllOf(StartsWith("s.yaml:3:1: "), HasSubstr("simulation")));
  EXPECT_THAT(error("  - {name: a, workload: w.yaml, arival: 3us}\n"),
              AllOf(StartsWith("s.yaml:4:33: "), HasSubstr("arrival")));
}

TEST_F(ScenarioReader, ArrivalNeedsAUnit) {
  EXPECT_THAT(error("  - {name: a, workload: w.yaml, arrival: 3}\n"), StartsWith("s.yaml:4:42: "));
}

TEST_F(ScenarioReader, ArrivalBeforeTheStartIsAnError) {
  EXPECT_THAT(error("  - {name: a, workload: w.yaml, arrival: -3us}\n"),
              StartsWith("s.yaml:4:42: "));
}

TEST_F(ScenarioReader, MissingWorkloadFileIsNamed) {
  EXPECT_THAT(error("  - {name: a, workload: v.yaml}\n"),
              AllOf(StartsWith("s.yaml:4:"), HasSubstr("v.yaml")));
}

TEST_F(ScenarioReader, ErrorInAWorkloadNamesTheWorkload) {
  write("w.yaml", "module: k.ptx\nbuffers: {}\nprogram: [lunch]\n");
  EXPECT_THAT(error(one), AllOf(HasSubstr("w.yaml:3:11: "), HasSubstr("lunch")));
}

TEST_F(ScenarioReader, ScenarioNeedsATenant) {
  EXPECT_THAT(error("  []\n"), AllOf(StartsWith("s.yaml:4:3: "), HasSubstr("needs a tenant")));
}

TEST_F(ScenarioReader, NamesOfTenantsAreFitForFiles) {
  for (const char* name : {"''", "a/b", "a=b", "'a: b'", "..", "a b"})
    EXPECT_THAT(error("  - {name: " + std::string(name) + ", workload: w.yaml}\n"),
                AllOf(StartsWith("s.yaml:4:12: "), HasSubstr("cannot be a name")))
        << name;
}

TEST_F(ScenarioReader, NamesOfTenantsAreUnique) {
  EXPECT_THAT(error(std::string(one) + one),
              AllOf(StartsWith("s.yaml:5:12: "), HasSubstr("two tenants with this name")));
}

TEST_F(ScenarioReader, TooManyTenantsAreAnError) {
  std::string tenants;
  for (int i = 0; i < 257; ++i) {
    tenants += "  - {name: t" + std::to_string(i) + ", workload: w.yaml}\n";
  }
  EXPECT_THAT(error(tenants), AllOf(StartsWith("s.yaml:4:3: "), HasSubstr("at most 256 tenants")));
}

TEST_F(ScenarioReader, TooManySmsAreAnError) {
  EXPECT_THAT(error("  - {name: a, workload: w.yaml, sms: 70000}\n"),
              AllOf(StartsWith("s.yaml:4:38: "), HasSubstr("65535")));
}

TEST_F(ScenarioReader, EveryShippedScenarioIsReadable) {
  const std::filesystem::path root = std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "configs";
  setenv("LOCKSTEP_PATH", root.c_str(), 1);  // which the program itself finds
  int read_files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(root / "scenarios")) {
    const std::string file = entry.path().string();
    EXPECT_EQ(message_of([&] { read_scenario(file, {}); }), "no error") << file;
    ++read_files;
  }
  EXPECT_GE(read_files, 3);
}

}  // namespace
}  // namespace lockstep::scenario_test
