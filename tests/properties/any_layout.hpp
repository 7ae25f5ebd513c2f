/// Random cases on several GPUs: each leaves the same in any layout, and interrupted.
///
/// A case is made from its seed; `settings` are those of its machine, and make() builds it.
#pragma once

#include <gtest/gtest.h>

#include "models/host/host.hpp"
#include "tests/properties/machine_bench.hpp"

namespace lockstep::testing {

/// Calls check(seed, bench, what a run on one thread has left) for each case.
template <class Case, class Check>
void for_each_case(std::uint64_t usual_cases, Check&& check) {
  const std::uint64_t first = first_seed(1), cases = cases_to_run(usual_cases);
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    const Case random(seed);
    SCOPED_TRACE(describe(seed, Layout{}, random.settings));
    const HangGuard guard("seed " + std::to_string(seed));
    const auto bench = random.make();
    const MachineResult expected = bench->run(Layout{});
    ASSERT_EQ(expected.problem, "");
    check(seed, *bench, expected);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

inline void expect_same(const MachineBench& bench, const MachineResult& expected,
                        const MachineResult& got, const std::string& what) {
  ASSERT_EQ(got.problem, "") << what;
  EXPECT_EQ(bench.compare_statistics(expected, got), "") << what;
  EXPECT_EQ(got.faults, expected.faults) << what;
}

template <class Case>
void expect_same_in_any_layout(std::uint64_t usual_cases) {
  for_each_case<Case>(usual_cases,
                      [](std::uint64_t seed, MachineBench& bench, const MachineResult& expected) {
                        std::vector<Layout> layouts = other_layouts();
                        layouts.push_back(Layout::random(seed));
                        for (const Layout& layout : layouts) {
                          expect_same(bench, expected, bench.run(layout), layout.text());
                          if (::testing::Test::HasFatalFailure()) return;
                        }
                      });
}

/// `when(seed)`: makes what says of a host when to interrupt.  Returns how many runs met that.
template <class Case, class When>
unsigned expect_same_when_interrupted(std::uint64_t usual_cases, When&& when) {
  unsigned met = 0;
  for_each_case<Case>(
      usual_cases, [&](std::uint64_t seed, MachineBench& bench, const MachineResult& expected) {
        const MachineResult got =
            bench.run_interrupted(Layout::interrupted(seed), when(seed), Layout::random(seed + 1));
        expect_same(bench, expected, got, "interrupted");
        met += got.interrupted;
      });
  return met;
}

/// Returns what says of a host that it waits for pages, when that is so for that many times; `how`:
/// words of what it waits for.
inline auto when_pages_are_awaited(std::uint64_t meetings, const std::string& how = "") {
  return [meetings, how](const Host& host) mutable {
    bool waits = false;
    for (std::size_t part = 0; part < host.part_count(); ++part) {
      const std::string text = host.part(part).managed().waiting_for();
      waits |= !text.empty() && text.find(how) != text.npos;
    }
    return waits && --meetings == 0;
  };
}

}  // namespace lockstep::testing
