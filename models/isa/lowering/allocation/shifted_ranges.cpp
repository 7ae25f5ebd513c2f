#include "models/isa/lowering/allocation/shifted_ranges.hpp"

#include <algorithm>

namespace lockstep::isa::lowering {

namespace {

/// Positions of operations and blocks before and after detours are added.
class Shift {
 public:
  Shift(const ir::Function& function, const std::vector<Detour>& detours) {
    std::uint32_t after = 0;
    auto detour = detours.begin();
    for (std::uint32_t b = 0; b < function.blocks.size(); ++b) {
      first_.push_back(static_cast<std::uint32_t>(after_.size()));
      first_after_.push_back(after);
      const auto end = after + static_cast<std::uint32_t>(function.blocks[b].operations.size());
      for (std::uint32_t o = 0; after < end; ++o, ++after) {
        const bool here = detour != detours.end() && detour->place == Place{b, o};
        if (here && detour->loads) ++after;
        after_.push_back(after);
        block_.push_back(b);
        if (here && detour++->saves) ++after;
      }
    }
    first_.push_back(static_cast<std::uint32_t>(after_.size()));
    first_after_.push_back(after);
  }

  bool ends_block(Place place) const {
    return first_[place.block] + place.operation + 1 == first_[place.block + 1];
  }
  /// Returns the number of the operation that stood there.
  std::uint32_t after(Place place) const { return after_[first_[place.block] + place.operation]; }
  /// A range begins at a write, or with a block.
  std::uint32_t from(std::uint32_t position) const {
    const std::uint32_t operation = position / 2;
    return position % 2 == 1 ? 2 * after_[operation] + 1 : 2 * first_after_[block_[operation]];
  }
  /// A range ends at a read, with a block, or behind a write that nobody reads.
  std::uint32_t to(std::uint32_t position) const {
    if (position % 2 == 1) return 2 * after_[position / 2] + 1;
    const std::uint32_t operation = position / 2 - 1, block = block_[operation];
    return operation + 1 == first_[block + 1] ? 2 * first_after_[block + 1]
                                              : 2 * after_[operation] + 2;
  }

 private:
  /// New number, and block, of each operation as numbered before.
  std::vector<std::uint32_t> after_, block_;
  /// First operation of each block as numbered before and after, with an end entry.
  std::vector<std::uint32_t> first_, first_after_;
};

/// Returns the range of a temporary: from the operation that loads or writes it to the one that
/// reads or saves it.
LiveRange range_of(const Detour& detour, std::uint32_t operation, std::uint32_t depth) {
  LiveRange range;
  const std::uint32_t reads = 2 * operation, writes = reads + 1;
  range.segments.push_back({detour.loads ? reads - 1 : writes, detour.saves ? writes + 2 : writes});
  range.weight =
      weight_at(depth) * (detour.mentions + (detour.loads ? 1 : 0) + (detour.saves ? 1 : 0));
  return range;
}

}  // namespace

bool shift_ranges(const ir::Function& function, const Flow& flow, std::uint32_t victim,
                  const std::vector<Detour>& detours, std::vector<LiveRange>& ranges) {
  const Shift shift(function, detours);
  for (const Detour& d : detours)
    if (d.saves && d.writes_others && shift.ends_block(d.place)) return false;
  for (LiveRange& range : ranges)
    for (LiveRange::Segment& segment : range.segments)
      segment = {shift.from(segment.from), shift.to(segment.to)};
  ranges[victim] = {};
  ranges.resize(function.registers.size());
  for (const Detour& d : detours)
    if (flow.reachable(d.place.block))
      ranges[d.temporary] = range_of(d, shift.after(d.place), flow.loop_depth[d.place.block]);
  return true;
}

}  // namespace lockstep::isa::lowering
