/// Instructions, constants and parameters come from memory: what that costs, and that it changes
/// nothing else.
#include <gtest/gtest.h>

#include "models/sm/parameters/stall_cause.hpp"
#include "models/sm/tables/issue_tables.hpp"
#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::fetch_test {
namespace {

IdealMachine::Options with_instruction_cache(std::uint64_t l0_bytes = 12288,
                                             std::uint32_t ahead = 0) {
  IdealMachine::Options options;
  options.parameters.instruction_cache.l0_bytes = Bytes{l0_bytes};
  options.parameters.instruction_cache.ahead = ahead;
  return options;
}

IdealMachine::Options with_constant_cache() {
  IdealMachine::Options options;
  options.parameters.constant_cache.l0_bytes = Bytes{2048};
  return options;
}

/// 16 bytes an instruction: 8 in a line.
isa::Module straight(unsigned instructions) {
  return kernel_of(times(instructions, "add.u32 %r1, %r1, %r0;\n") +
                   "st.global.u32 [%rd0], %r1;\n");
}

std::uint64_t lines_of(const IdealMachine& machine, const SmParameters& parameters) {
  return IssueTables(parameters, {&machine.module()}).of(0, 0).code_lines.back() + 1;
}

struct Launched {
  std::int64_t cycles = 0;
  std::uint64_t code_misses = 0, code_requests = 0, constant_misses = 0, constant_requests = 0;
};

/// One more block of so many threads.
Launched launch(IdealMachine& machine, std::uint32_t threads = 32) {
  const std::int64_t begin = machine.cycle();
  machine.launch("k", {1, 1, 1}, {threads, 1, 1}, {machine.address(0), machine.address(4096), 3});
  const std::int64_t end = machine.run();
  const auto& counts = machine.statistics().tenant[0];
  return {end - begin, counts.code_misses.value(), counts.code_requests.value(),
          counts.constant_misses.value(), counts.constant_requests.value()};
}

TEST(InstructionCache, AsksForEveryLineOfAKernelOnce) {
  const IdealMachine::Options options = with_instruction_cache();
  IdealMachine machine(straight(100), options);
  const std::uint64_t lines = lines_of(machine, options.parameters);
  ASSERT_GE(lines, 13u);
  const Launched first = launch(machine);
  EXPECT_EQ(first.code_requests, lines);
  EXPECT_EQ(first.code_misses, lines);
  const Launched second = launch(machine);
  EXPECT_EQ(second.code_requests, lines) << "all of them are there";
  EXPECT_LT(second.cycles, first.cycles);
}

TEST(InstructionCache, ALaunchBringsLinesTogetherAndWarpsFetchThemOneByOne) {
  const IdealMachine::Options options = with_instruction_cache();
  IdealMachine cold(straight(100), options), ideal(straight(100), IdealMachine::Options());
  const std::uint64_t lines = lines_of(cold, options.parameters);
  const std::int64_t more = launch(cold).cycles - launch(ideal).cycles;
  const std::int64_t memory = options.request_latency.count() + options.memory_latency.count() +
                              options.response_latency.count();
  const auto each =
      static_cast<std::int64_t>(lines) * options.parameters.instruction_cache.l1_latency.count();
  EXPECT_GE(more, each);
  EXPECT_LE(more, each + memory + 50);
}

TEST(InstructionCache, CyclesInWhichAWarpWaitsForCodeAreChargedToFetch) {
  const IdealMachine::Options options = with_instruction_cache();
  IdealMachine cold(straight(100), options), ideal(straight(100), IdealMachine::Options());
  const std::int64_t more = launch(cold).cycles - launch(ideal).cycles;
  const auto charged = [](IdealMachine& machine, StallCause cause) {
    const auto& stalls = machine.statistics().tenant[0].stalls;
    return static_cast<std::int64_t>(stalls[static_cast<std::size_t>(cause)].value());
  };
  EXPECT_EQ(charged(ideal, StallCause::fetch), 0);
  const auto each = static_cast<std::int64_t>(lines_of(cold, options.parameters)) *
                    options.parameters.instruction_cache.l1_latency.count();
  EXPECT_GE(charged(cold, StallCause::fetch), each - 10);
  EXPECT_LE(charged(cold, StallCause::fetch), more + each);
  const std::int64_t without_warps = options.parameters.schedulers - 1;
  EXPECT_EQ(charged(cold, StallCause::idle) - charged(ideal, StallCause::idle),
            without_warps * more);
}

TEST(InstructionCache, LinesAheadComeTogether) {
  IdealMachine alone(straight(100), with_instruction_cache(12288, 0)),
      ahead(straight(100), with_instruction_cache(12288, 8));
  const Launched one_by_one = launch(alone), together = launch(ahead);
  EXPECT_EQ(together.code_requests, one_by_one.code_requests) << "none behind the kernel's end";
  EXPECT_LT(together.code_misses, 4u);
  EXPECT_LT(together.cycles, one_by_one.cycles - 8 * 53);
}

TEST(InstructionCache, WarpsOfOneSchedulerShareItsLines) {
  IdealMachine machine(straight(40), with_instruction_cache());
  const Launched warps = launch(machine, 8 * 32);
  IdealMachine other(straight(40), with_instruction_cache());
  EXPECT_EQ(warps.code_requests, launch(other).code_requests);
  EXPECT_EQ(machine.get<std::uint32_t>(0), 3 * 40u);
}

TEST(InstructionCache, WhatDoesNotFitIntoItComesFromTheOneBehind) {
  const std::string body = "mov.u32 %r2, 0;\nagain:\n" + times(100, "add.u32 %r1, %r1, %r0;\n") +
                           "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 4;\n@%p1 bra again;\n";
  const IdealMachine::Options small = with_instruction_cache(512);
  IdealMachine machine(kernel_of(body), small), large(kernel_of(body), with_instruction_cache());
  const std::uint64_t lines = lines_of(machine, small.parameters);
  const Launched thrashed = launch(machine), held = launch(large);
  EXPECT_EQ(thrashed.code_requests, lines);
  EXPECT_EQ(held.code_misses, lines);
  EXPECT_GE(thrashed.code_misses, 4 * (lines - 3));
  EXPECT_GE(thrashed.cycles - held.cycles,
            static_cast<std::int64_t>(thrashed.code_misses - lines) *
                small.parameters.instruction_cache.l1_latency.count());
}

TEST(InstructionCache, WarpsThatShareOneLineAllGoOn) {
  IdealMachine::Options options = with_instruction_cache(128, 8);
  options.parameters.instruction_cache.l0_ways = 1;
  options.parameters.instruction_cache.l1_bytes = Bytes{1024};
  options.parameters.instruction_cache.l1_ways = 1;
  // Each warp runs its own number of rounds: they stand at different lines.
  const std::string body = "mov.u32 %r2, 0;\nmov.u32 %r3, %tid.x;\nshr.u32 %r3, %r3, 5;\nagain:\n" +
                           times(60, "add.u32 %r1, %r1, %r0;\n") +
                           "add.u32 %r2, %r2, 1;\nsetp.le.u32 %p1, %r2, %r3;\n@%p1 bra again;\n" +
                           "mul.wide.u32 %rd2, %r3, 4;\nadd.u64 %rd3, %rd0, %rd2;\n" +
                           "st.global.u32 [%rd3], %r1;\n";
  IdealMachine machine(kernel_of(body), options);
  launch(machine, 16 * 32);
  for (unsigned warp = 0; warp < 16; ++warp)
    EXPECT_EQ(machine.get<std::uint32_t>(4 * warp), 3 * 60 * (warp + 1)) << warp;
}

TEST(ConstantCache, ParametersComeWithEachLaunch) {
  IdealMachine machine(straight(4), with_constant_cache());
  IdealMachine ideal(straight(4), IdealMachine::Options());
  const Launched first = launch(machine);
  EXPECT_EQ(first.constant_requests, 1u) << "20 bytes";
  EXPECT_GT(first.cycles, launch(ideal).cycles + 190);
  EXPECT_EQ(launch(machine).constant_requests, 2u) << "they are others";
}

TEST(ConstantCache, ALoadWaitsForItsLine) {
  // Each lane loads a word of its own: 32 words, two lines of 64 bytes.
  std::string values;
  for (unsigned i = 0; i < 32; ++i) values += (i == 0 ? "" : ", ") + std::to_string(100 + i);
  const isa::Module module = kernel_of(R"(
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    mov.u64 %rd3, table;
    add.u64 %rd3, %rd3, %rd2;
    ld.const.u32 %r2, [%rd3];
    add.u64 %rd4, %rd0, %rd2;
    st.global.u32 [%rd4], %r2;
  )",
                                       "", ".const .align 64 .u32 table[32] = {" + values + "};\n");
  IdealMachine machine(module, with_constant_cache());
  const Launched first = launch(machine);
  EXPECT_EQ(first.constant_misses, 2u);
  EXPECT_EQ(first.constant_requests, 3u) << "and the parameters";
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(machine.get<std::uint32_t>(4 * i), 100 + i);
  const Launched second = launch(machine);
  EXPECT_EQ(second.constant_misses, 2u);
  EXPECT_LT(second.cycles + 150, first.cycles);
}

}  // namespace
}  // namespace lockstep::fetch_test
