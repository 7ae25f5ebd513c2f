#include "models/sm/context/needed_rows.hpp"

namespace lockstep {

RowMask needed_rows(const IssueTable& kernel, const isa::WarpPaths& paths,
                    std::span<const SavedAccess> accesses) {
  RowMask rows{};
  paths.for_each_path([&](std::uint32_t pc, std::uint32_t) {
    for (std::size_t word = 0; word < rows.size(); ++word) rows[word] |= kernel.live_rows[pc][word];
  });
  for (const SavedAccess& access : accesses) {
    if (access.operands) continue;
    for (const isa::Operand source : kernel.instructions[access.pc].source) {
      if (!source.is_register()) continue;
      const unsigned end = source.row() + (source.row() < kernel.pair_rows ? 2u : 1u);
      for (unsigned row = source.row(); row < end; ++row)
        rows[row / 64] |= std::uint64_t{1} << row % 64;
    }
  }
  return rows;
}

}  // namespace lockstep
