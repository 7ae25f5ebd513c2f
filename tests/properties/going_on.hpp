/// Left after some windows and gone on with in another layout, a run ends as the whole one.
#pragma once

#include <gtest/gtest.h>

#include "tests/properties/machine_bench.hpp"

namespace lockstep::testing {

/// A fatal failure if not: the problem, or the first counter that differs from those of `whole`.
inline void expect_to_go_on(MachineBench& bench, const MachineResult& whole, const Layout& before,
                            unsigned windows, const Layout& after) {
  const MachineResult result =
      bench.run_interrupted(before, MachineBench::after_windows(windows), after);
  ASSERT_EQ(result.problem, "") << "after " << windows << " windows";
  ASSERT_EQ(bench.compare_statistics(whole, result), "") << "after " << windows << " windows";
}

}  // namespace lockstep::testing
