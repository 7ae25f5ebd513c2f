// Lanes that wait for other lanes of their warp: independent thread scheduling in the SM.

#include <gmock/gmock.h>

#include "tests/harness/spinning_kernels.hpp"
#include "tests/unit/sm/machine/ideal_machine.hpp"

namespace lockstep::forward_progress_test {
namespace {

std::vector<std::uint32_t> words(const IdealMachine& machine, std::size_t count) {
  std::vector<std::uint32_t> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(machine.get<std::uint32_t>(4 * i));
  return result;
}

IdealMachine::Options with_turn(std::uint32_t turn) {
  IdealMachine::Options options;
  options.parameters.turn = turn;
  return options;
}

void launch(IdealMachine& machine, const SpinningKernel& kernel) {
  machine.launch("k", {1, 1, 1}, {kernel.threads, 1, 1}, {machine.address(0)});
}

TEST(ForwardProgress, LanesThatWaitForEachOtherAllGetToRun) {
  for (const SpinningKernel& kernel : spinning_kernels())
    for (const std::uint32_t turn : {64U, 1U}) {
      SCOPED_TRACE(kernel.name + ", turn " + std::to_string(turn));
      IdealMachine machine(isa::load_module_text(kernel.ptx, "k.ptx"), with_turn(turn));
      launch(machine, kernel);
      machine.run();
      EXPECT_EQ(words(machine, kernel.expected.size()), kernel.expected);
      EXPECT_TRUE(machine.told.empty());
    }
}

TEST(ForwardProgress, WhatIsSavedAmidTurnsGoesOnTheSame) {
  for (const SpinningKernel& kernel : spinning_kernels()) {
    SCOPED_TRACE(kernel.name);
    IdealMachine whole(isa::load_module_text(kernel.ptx, "k.ptx"), with_turn(4));
    launch(whole, kernel);
    const std::int64_t end = whole.run();
    IdealMachine saved(isa::load_module_text(kernel.ptx, "k.ptx"), with_turn(4));
    launch(saved, kernel);
    for (std::int64_t cycle = 0; cycle < end; cycle += end / 7 + 1) {
      saved.run_to(cycle);
      saved.save_and_restore();
    }
    EXPECT_EQ(saved.run(), end);
    EXPECT_EQ(words(saved, kernel.expected.size()), kernel.expected);
  }
}

}  // namespace
}  // namespace lockstep::forward_progress_test
