#include "models/sm/context/needed_rows.hpp"

#include "core/error/error.hpp"
#include "models/isa/operand_lists.hpp"

namespace lockstep {

namespace {

#ifndef NDEBUG
/// Returns whether the rows are among those that a compiler would have told the warp to save at a
/// preemption point (002, section III.B).
bool is_within_static(const RowMask& rows, const IssueTable& kernel, const isa::WarpPaths& paths) {
  if (kernel.divergent_rows.empty() || !paths.runnable() || paths.has_given_up()) return true;
  const std::uint32_t pc = paths.pc();
  if ((kernel.instructions[pc].flags & isa::flag_preemption_point) == 0) return true;
  for (std::size_t word = 0; word < rows.size(); ++word)
    if ((rows[word] & ~kernel.divergent_rows[pc][word]) != 0) return false;
  return true;
}
#endif

}  // namespace

RowMask needed_rows(const IssueTable& kernel, const isa::WarpPaths& paths,
                    std::span<const SavedAccess> accesses) {
  RowMask rows{};
  paths.for_each_path([&](std::uint32_t pc, std::uint32_t) {
    for (std::size_t word = 0; word < rows.size(); ++word) rows[word] |= kernel.live_rows[pc][word];
  });
  LOCKSTEP_DEBUG_CHECK(is_within_static(rows, kernel, paths),
                       "a divergent warp needs more than is live around its preemption point");
  for (const SavedAccess& access : accesses) {
    if (access.operands) continue;
    for (const isa::Operand source : isa::sources_of(kernel, kernel.instructions[access.pc])) {
      if (!source.is_register()) continue;
      const unsigned end = source.row() + (source.row() < kernel.pair_rows ? 2u : 1u);
      for (unsigned row = source.row(); row < end; ++row)
        rows[row / 64] |= std::uint64_t{1} << row % 64;
    }
  }
  return rows;
}

}  // namespace lockstep
