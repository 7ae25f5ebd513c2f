/// Linear-scan register allocation over live ranges with holes.
///
/// Ranges are taken in the order in which they begin and get the first row (an even pair for 64
/// bits) that is free over all their segments; a single row prefers the half of a broken pair.
/// While fewer than 32 registers are used (more would let fewer threads onto an SM) a row that
/// became free rests for some operations before it is used again, unless the operation itself reads
/// it, and longer if a store to global memory read it last: ptxas spreads registers like this,
/// presumably to keep writes from waiting for earlier reads; the numbers are those that reproduce
/// its counts best (docs/validation/lowering.md).
/// Source: Poletto and Sarkar, Linear Scan Register Allocation; holes as in Traub et al., Quality
/// and Speed in Linear-Scan Register Allocation.
#include <algorithm>
#include <set>
#include <vector>

#include "models/isa/lowering/allocation/allocate.hpp"
#include "models/isa/lowering/allocation/live_ranges.hpp"
#include "models/isa/lowering/analysis/operation.hpp"
#include "models/isa/opcodes/scratch_registers.hpp"

namespace lockstep::isa::lowering {

namespace {

// Positions for which a row rests, two per operation.
constexpr std::uint32_t resting_positions = 12;
// Positions for which a row rests after a store has read it.
constexpr std::uint32_t resting_stored = 24;
constexpr std::uint32_t free_registers = 32;  // registers below which an SM holds no more threads

/// Occupied positions of one row, one bit per position.
class Occupancy {
 public:
  explicit Occupancy(std::uint32_t positions) : words_(positions / 64 + 1) {}
  bool is_free(const LiveRange& range) const {
    for (const auto& segment : range.segments)
      for (std::uint32_t w = segment.from / 64; w <= (segment.to - 1) / 64; ++w)
        if ((words_[w] & mask(segment, w)) != 0) return false;
    return true;
  }
  /// Returns whether the row held no value of the last few operations before the range, apart from
  /// values that the range's first operation reads.
  bool is_rested(const LiveRange& range) const {
    // Position of the reads of the range's first operation.
    const std::uint32_t end = range.start() - 1;
    if (range.start() < 2) return true;
    if (is_taken(end)) return true;
    if (end < stored_until_) return false;
    for (std::uint32_t p = end - std::min(end, resting_positions); p < end; ++p)
      if (is_taken(p)) return false;
    return true;
  }
  /// Lets the row rest, because a store was the last operation to read its value.
  void rest_from(std::uint32_t position) { stored_until_ = position + resting_stored; }
  bool is_taken(std::uint32_t position) const {
    return (words_[position / 64] >> (position % 64) & 1) != 0;
  }
  void take(const LiveRange& range) {
    for (const auto& segment : range.segments)
      for (std::uint32_t w = segment.from / 64; w <= (segment.to - 1) / 64; ++w)
        words_[w] |= mask(segment, w);
  }

 private:
  static std::uint64_t mask(const LiveRange::Segment& segment, std::uint32_t word) {
    std::uint64_t bits = ~std::uint64_t{0};
    if (segment.from > word * 64) bits &= ~std::uint64_t{0} << (segment.from - word * 64);
    if (segment.to < (word + 1) * 64) bits &= ~std::uint64_t{0} >> ((word + 1) * 64 - segment.to);
    return bits;
  }
  std::vector<std::uint64_t> words_;
  std::uint32_t stored_until_ = 0;
};

class Rows {
 public:
  /// Makes the rows.  `resting_rows`: below this number, rows rest before they are used again.
  Rows(std::uint32_t positions, std::uint32_t resting_rows)
      : positions_(positions), resting_rows_(resting_rows) {}

  std::uint16_t take(const LiveRange& range, unsigned size, bool stored) {
    std::size_t row = find(range, size, true);
    if (row + size > rows_.size() && row + size > resting_rows_) row = find(range, size, false);
    while (rows_.size() < row + size) rows_.emplace_back(positions_);
    for (unsigned k = 0; k < size; ++k) rows_[row + k].take(range);
    for (unsigned k = 0; k < size && stored; ++k)
      rows_[row + k].rest_from(range.segments.back().to);
    return static_cast<std::uint16_t>(row);
  }

  std::uint32_t taken_at(std::uint32_t position) const {
    return static_cast<std::uint32_t>(std::count_if(
        rows_.begin(), rows_.end(), [&](const Occupancy& row) { return row.is_taken(position); }));
  }

  std::uint32_t count() const { return static_cast<std::uint32_t>(rows_.size()); }

 private:
  bool is_good(std::size_t row, const LiveRange& range, bool rested) const {
    return row >= rows_.size() ||
           (rows_[row].is_free(range) && (!rested || rows_[row].is_rested(range)));
  }

  // Returns the first good row, new ones included; for a single row preferably half of a broken
  // pair.
  std::size_t find(const LiveRange& range, unsigned size, bool rested) const {
    std::size_t best = rows_.size() + 2;
    for (std::size_t row = 0; row < rows_.size() + 2; row += size) {
      if (!is_good(row, range, rested) || (size == 2 && !is_good(row + 1, range, rested))) continue;
      const std::size_t partner = row ^ 1;
      if (size == 2 || (partner < rows_.size() && !rows_[partner].is_free(range))) return row;
      best = std::min(best, row);
    }
    return best;
  }

  std::uint32_t positions_, resting_rows_;
  std::vector<Occupancy> rows_;
};

std::uint32_t count_positions(const ir::Function& function) {
  std::uint32_t positions = 2;
  for (const ir::Block& block : function.blocks)
    positions += 2 * static_cast<std::uint32_t>(block.operations.size());
  return positions;
}

/// Returns for each operation whether it stores to global memory. One more entry stands for values
/// that live to the end.
std::vector<bool> global_stores(const ir::Function& function) {
  std::vector<bool> stores;
  for (const ir::Block& block : function.blocks)
    for (const ir::Operation& operation : block.operations)
      stores.push_back(operation.opcode == Opcode::st && operation.space == Space::global);
  stores.push_back(false);
  return stores;
}

/// Returns the rows, with those of ptxas' expansions.
std::uint32_t rows_with_scratch(const ir::Function& function, const Rows& rows) {
  std::uint32_t most = rows.count(), position = 0;
  for (const ir::Block& block : function.blocks)
    for (const ir::Operation& operation : block.operations) {
      if (const unsigned scratch = scratch_registers(operation); scratch > 0)
        most = std::max(
            {most, rows.taken_at(position) + scratch, rows.taken_at(position + 1) + scratch});
      position += 2;
    }
  return most;
}

/// Returns the registers that are live somewhere, in the order in which their lives begin.
std::vector<std::uint32_t> by_start(const std::vector<LiveRange>& ranges) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t r = 0; r < ranges.size(); ++r)
    if (!ranges[r].empty()) order.push_back(r);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return ranges[a].start() < ranges[b].start();
  });
  return order;
}

Allocation assign(const ir::Function& function, const std::vector<LiveRange>& ranges,
                  const std::vector<std::uint32_t>& order, std::uint32_t resting_rows) {
  const std::uint32_t positions = count_positions(function);
  Rows rows(positions, resting_rows), predicates(positions, 0);
  Allocation allocation;
  allocation.row_of_register.assign(function.registers.size(), no_row);
  const std::vector<bool> stores = global_stores(function);
  for (std::uint32_t r : order) {
    const Type type = function.registers[r].type;
    allocation.row_of_register[r] =
        type == Type::pred
            ? predicates.take(ranges[r], 1, false)
            : rows.take(ranges[r], rows_of(type), stores[(ranges[r].segments.back().to - 1) / 2]);
  }
  allocation.rows = rows.count();
  allocation.predicates = predicates.count();
  allocation.registers_per_thread = reserved_registers + rows_with_scratch(function, rows);
  return allocation;
}

}  // namespace

std::uint32_t count_predicates(const ir::Function& function, const std::vector<LiveRange>& ranges) {
  Rows predicates(count_positions(function), 0);
  for (const std::uint32_t r : by_start(ranges))
    if (function.registers[r].type == Type::pred) predicates.take(ranges[r], 1, false);
  return predicates.count();
}

Allocation assign_rows(const ir::Function& function, const std::vector<LiveRange>& ranges,
                       std::uint32_t maximum_registers) {
  const std::vector<std::uint32_t> order = by_start(ranges);
  const std::uint32_t allowed = std::min(maximum_registers, free_registers);
  std::uint32_t resting = allowed - std::min(allowed, reserved_registers);
  Allocation best = assign(function, ranges, order, resting);
  // Resting leaves gaps that pairs do not fit into, so rows rest less if that costs too many rows.
  while (best.rows + reserved_registers > allowed && resting > 0) {
    resting -= std::min(resting, 3U);
    Allocation other = assign(function, ranges, order, resting);
    if (other.rows < best.rows) best = std::move(other);
  }
  // Scratch is worth no spilling: ptxas finds slower expansions that need less.
  best.registers_per_thread = std::max(best.rows + reserved_registers,
                                       std::min(best.registers_per_thread, maximum_registers));
  return best;
}

void separate_pairs(const ir::Function& function, const std::vector<LiveRange>& ranges,
                    Allocation& allocation) {
  std::set<std::uint16_t> pairs, singles;
  for (std::uint32_t r = 0; r < allocation.row_of_register.size(); ++r) {
    const std::uint16_t row = allocation.row_of_register[r];
    const unsigned rows = rows_of(function.registers[r].type);
    if (row != no_row && rows != 0) (rows == 2 ? pairs : singles).insert(row);
  }
  if (2 * pairs.size() + singles.size() <= most_encoded_rows) return;
  const std::uint32_t positions = count_positions(function);
  Rows of_pairs(positions, 0), of_singles(positions, 0);
  allocation.place_of_register = allocation.row_of_register;
  for (const std::uint32_t r : by_start(ranges)) {
    const unsigned rows = rows_of(function.registers[r].type);
    if (rows != 0)
      allocation.place_of_register[r] =
          (rows == 2 ? of_pairs : of_singles).take(ranges[r], 1, false);
  }
}

}  // namespace lockstep::isa::lowering
