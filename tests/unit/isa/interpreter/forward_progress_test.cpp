// Lanes that wait for other lanes of their warp: independent thread scheduling in the interpreter.

#include <gmock/gmock.h>

#include "core/error/error.hpp"
#include "models/isa/divergence.hpp"
#include "tests/harness/spinning_kernels.hpp"
#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa::forward_progress_test {
namespace {

class ForwardProgress : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(AsRead, ForwardProgress, testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Lowered, ForwardProgress, testing::Values(true));

std::string message_of(IsaBench& bench, std::uint32_t threads, std::uint64_t argument) {
  try {
    bench.run("k", {1, 1, 1}, {threads, 1, 1}, argument);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST_P(ForwardProgress, LanesThatWaitForEachOtherAllGetToRun) {
  for (const SpinningKernel& kernel : spinning_kernels())
    for (const std::uint32_t turn : {64U, 1U}) {
      SCOPED_TRACE(kernel.name + ", turn " + std::to_string(turn));
      IsaBench bench(kernel.ptx, GetParam());
      bench.machine.turn = turn;
      const auto a = bench.buffer(std::vector<std::uint32_t>(256));
      ASSERT_EQ(message_of(bench, kernel.threads, a), "");
      EXPECT_EQ(bench.values<std::uint32_t>(a, kernel.expected.size()), kernel.expected);
    }
}

TEST_P(ForwardProgress, WithoutTurnsTheReportSaysWhy) {
  const SpinningKernel& kernel = spinning_kernels()[0];
  IsaBench bench(kernel.ptx, GetParam());
  bench.machine.turn = 0;
  const auto a = bench.buffer(std::vector<std::uint32_t>(256));
  EXPECT_THAT(message_of(bench, 2, a), testing::HasSubstr("no independent thread scheduling"));
}

}  // namespace
}  // namespace lockstep::isa::forward_progress_test
