/// What allocation keeps up to date instead of asking anew: live ranges while values spill, and
/// liveness while copies become one register.  Random kernels, predicated and not.
#include "models/isa/lowering/allocation/spill.hpp"

#include <gtest/gtest.h>

#include "models/isa/lowering/allocation/renaming.hpp"
#include "models/isa/lowering/analysis/operation.hpp"
#include "models/isa/lowering/lowering.hpp"
#include "models/isa/reader/reader.hpp"
#include "tests/harness/random_kernel.hpp"

namespace lockstep::isa::spill_test {
namespace {

using namespace lowering;  // NOLINT: all of it is asked here

ir::Function random_function(std::uint64_t seed, bool lowered) {
  SourceModule module = read_ptx(RandomKernel(seed).text(), "random.ptx");
  ir::Function function = std::move(module.functions[1].code);
  if (lowered) rewrite(function);
  return function;
}

std::string text_of(const std::vector<LiveRange>& ranges) {
  std::string text;
  for (std::size_t r = 0; r < ranges.size(); ++r) {
    if (ranges[r].empty()) continue;
    text += "r" + std::to_string(r) + " weighs " + std::to_string(ranges[r].weight) + ":";
    for (const auto& s : ranges[r].segments)
      text += " [" + std::to_string(s.from) + ", " + std::to_string(s.to) + ")";
    text += "\n";
  }
  return text;
}

TEST(Spilling, KeepsTheRangesOfAllOthersRight) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    ir::Function function = random_function(seed, seed % 2 == 0);
    const Flow flow(function);
    std::vector<LiveRange> ranges = live_ranges(function);
    std::vector<std::uint32_t> temporaries;
    const Constants constants(function);
    const auto registers = static_cast<std::uint32_t>(function.registers.size());
    for (auto r = static_cast<std::uint32_t>(seed % 7); r < registers; r += 7) {
      if (ranges[r].empty() || is_formal(function, r)) continue;
      spill(function, flow, r, constants, ranges, temporaries);
      ASSERT_EQ(text_of(ranges), text_of(live_ranges(function)))
          << "seed " << seed << ", register " << r;
    }
  }
}

/// Registers joined by a plain copy, of which the function has no more once they are one.
bool joins(const ir::Function& function, const ir::Operation& o) {
  return o.opcode == Opcode::mov && !is_guarded(o) && o.destinations.size() == 1 &&
         o.sources.size() == 1 && is_register(o.sources[0]) && is_register(o.destinations[0]) &&
         o.sources[0].kind == o.destinations[0].kind && !o.sources[0].negated &&
         o.sources[0].index != o.destinations[0].index &&
         function.registers[o.sources[0].index].type ==
             function.registers[o.destinations[0].index].type;
}

TEST(Renaming, KnowsWhoInterferesAsIfAskedAnew) {
  unsigned renamed = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    ir::Function function = random_function(seed, false);
    const Flow flow(function);
    Renaming renaming(function, flow);
    const auto registers = static_cast<std::uint32_t>(function.registers.size());
    for (std::uint32_t b : flow.order)
      for (std::size_t o = 0; o < function.blocks[b].operations.size(); ++o) {
        const ir::Operation& copy = function.blocks[b].operations[o];
        if (!joins(function, copy)) continue;
        const std::uint32_t from = copy.destinations[0].index, to = copy.sources[0].index;
        if (is_formal(function, from) || is_formal(function, to)) continue;
        const bool apart = renaming.interfere(from, to);
        ASSERT_EQ(apart, Renaming(function, flow).interfere(from, to)) << "seed " << seed;
        if (apart) continue;
        renaming.rename(from, to);
        ++renamed;
        const Renaming anew(function, flow);
        for (std::uint32_t r = 0; r < registers; ++r) {
          if (r == to || r == from) continue;
          ASSERT_EQ(renaming.interfere(to, r), anew.interfere(to, r))
              << "seed " << seed << ", registers " << to << " and " << r;
        }
      }
  }
  EXPECT_GT(renamed, 20u);
}

}  // namespace
}  // namespace lockstep::isa::spill_test
