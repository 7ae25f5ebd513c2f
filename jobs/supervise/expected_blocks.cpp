#include "jobs/supervise/expected_blocks.hpp"

#include "core/error/error.hpp"
#include "models/workload/program_cursor.hpp"

namespace lockstep {
namespace {

/// Returns the number of blocks in one start of a program.
std::optional<std::uint64_t> blocks_of(const Workload& workload) {
  constexpr int most_steps = 1'000'000;  // steps beyond which a progress line would cost too much
  constexpr std::int64_t most_blocks = std::int64_t{1} << 31;
  std::uint64_t blocks = 0;
  ProgramCursor cursor(workload);
  for (int steps = 0; const Step* step = cursor.current(); cursor.advance()) {
    if (step->kind == Step::Kind::repeat_until || ++steps > most_steps) return {};
    if (step->kind != Step::Kind::launch) continue;
    std::uint64_t grid = 1;
    for (const Expression& size : step->grid)
      if (size.given())
        grid *=
            static_cast<std::uint64_t>(size.evaluate_integer(cursor.variables(), 0, most_blocks));
    blocks += grid;
  }
  return blocks;
}

}  // namespace

std::optional<std::uint64_t> expected_blocks(const Scenario& scenario) {
  if (scenario.simulation.stop_at > Time::zero()) return {};
  std::uint64_t sum = 0;
  for (const Tenant& tenant : scenario.tenants) {
    if (tenant.cpu || tenant.relaunch || tenant.instructions > 0) return {};
    try {
      const std::optional<std::uint64_t> blocks = blocks_of(tenant.workload);
      if (!blocks) return {};
      sum += *blocks * tenant.arrivals.size();
    } catch (const UserError&) {  // error in a size, which the launch will report
      return {};
    }
  }
  return sum;
}

}  // namespace lockstep
