/// `cpu:` of a tenant, and traces.
#include "models/workload/cpu/cpu_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/parameters/document.hpp"
#include "models/workload/cpu/cpu_profiles.hpp"
#include "tests/unit/core/parameters/expect_error.hpp"

namespace lockstep::cpu_program_test {
namespace {

using testing::HasSubstr;

CpuProgram read(const std::string& text) {
  return read_cpu_program(parse_document(text, "test"));
}

class Trace : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(file_); }
  CpuProgram read_trace(const std::string& text, std::uint64_t memory = 4096) {
    std::ofstream(file_) << text;
    CpuProgram program;
    program.memory = Bytes{memory};
    read_cpu_trace(file_, "test", program);
    return program;
  }
  std::string error(const std::string& text) {
    return message_of([&] { read_trace(text); });
  }
  const std::string file_ =
      std::filesystem::temp_directory_path() / ("lockstep_trace_" + std::to_string(getpid()));
};

TEST_F(Trace, ALineIsAMissAndWhatLeavesTheCacheForIt) {
  const CpuProgram program = read_trace("3 0x40\n# nothing\n2 130 0x0  # both\n");
  ASSERT_EQ(program.trace->size(), 3u);
  EXPECT_EQ((*program.trace)[0].instruction, 3u);
  EXPECT_EQ((*program.trace)[0].offset, 64u);
  EXPECT_EQ((*program.trace)[1].instruction, 6u);
  EXPECT_EQ((*program.trace)[1].offset, 128u);
  EXPECT_TRUE((*program.trace)[2].write);
  EXPECT_EQ((*program.trace)[2].instruction, 6u);
  EXPECT_EQ(program.trace_instructions, 7u);
}

TEST_F(Trace, WhatLeavesTheMemoryIsRefusedAtItsPlace) {
  EXPECT_THAT(error("1 0x40\n2 0x1000\n"), HasSubstr(file_ + ":2:3: address 4096 lies outside"));
}

TEST_F(Trace, ALineThatEndsEarlyIsRefusedAtItsPlace) {
  EXPECT_THAT(error("1 0x40\n2\n"), HasSubstr(file_ + ":2:2: needs the address that is read"));
}

TEST_F(Trace, WordsThatAreNoNumbersAreRefused) {
  EXPECT_THAT(error("1 4f\n"), HasSubstr(file_ + ":1:3: needs the address that is read"));
  EXPECT_THAT(error("1 64 64 64\n"), HasSubstr(file_ + ":1:9: is a word too many"));
}

TEST_F(Trace, ATraceWithoutAccessesIsRefused) {
  EXPECT_THAT(error("# only this\n"), HasSubstr("holds no access"));
}

TEST(CpuProgram, AProfileHasTheMissesOfItsBenchmark) {
  const CpuProgram program = read("{profile: mcf, write_share: 0.5}");
  EXPECT_EQ(program.misses, 155.3);
  EXPECT_EQ(program.write_share, 0.5);
}

TEST(CpuProgram, EveryBenchmarkOfTheTableIsThere) {
  EXPECT_EQ(cpu_profiles().size(), 26u);
}

TEST(CpuProgram, MistakesAreToldWhereTheyAre) {
  EXPECT_THAT(message_of([] { read("{profile: mfc}"); }),
              HasSubstr("1:11: profile: no profile \"mfc\" - did you mean \"mcf\"?"));
  EXPECT_THAT(message_of([] { read("{profile: mcf, trace: t}"); }),
              HasSubstr("has both a profile and a trace"));
  EXPECT_THAT(message_of([] { read("{memory: 1MiB}"); }),
              HasSubstr("has neither a profile nor a trace"));
  EXPECT_THAT(message_of([] { read("{profile: mcf, write_share: 0.95}"); }),
              HasSubstr("write_share: 0.95 is out of range"));
  EXPECT_THAT(message_of([] { read("{profile: mcf, memory: 5000B}"); }),
              HasSubstr("memory: is no multiple of a line"));
  EXPECT_THAT(message_of([] { read("{profile: mcf, trak: t}"); }), HasSubstr("trak"));
}

TEST(CpuProgram, HowAProfileMissesMeansNothingToATrace) {
  EXPECT_THAT(message_of([] { read("{trace: t, misses: 3}"); }),
              HasSubstr("1:20: misses: does nothing: only with profile"));
}

TEST(CpuProgram, WhatIsNotSaidIsTheProfiles) {
  const CpuProgram program = read("{profile: mcf, misses: 3}"), whole = read("{profile: mcf}");
  EXPECT_EQ(program.misses, 3);
  EXPECT_EQ(program.row_locality, whole.row_locality);
  EXPECT_GT(whole.bank_parallelism, 1);
  EXPECT_EQ(whole.memory, Bytes{16u << 20});
}

}  // namespace
}  // namespace lockstep::cpu_program_test
