/// Linear-scan register allocation over live ranges with holes.
///
/// Ranges are taken in the order in which they begin and get the first row (an even pair for 64
/// bits) that is free over all their segments; a single row prefers the half of a broken pair.
/// Source: Poletto and Sarkar, Linear Scan Register Allocation; holes as in Traub et al., Quality
/// and Speed in Linear-Scan Register Allocation.
#include <algorithm>
#include <numeric>
#include <vector>

#include "models/isa/lowering/allocate.hpp"
#include "models/isa/lowering/live_ranges.hpp"
#include "models/isa/lowering/operation.hpp"
#include "models/isa/lowering/registers.hpp"

namespace lockstep::isa::lowering {

namespace {

/// The stretches of one row that are taken, as a bit per position.
class Occupancy {
 public:
  explicit Occupancy(std::uint32_t positions) : words_(positions / 64 + 1) {}
  bool is_free(const LiveRange& range) const {
    for (const auto& segment : range.segments)
      for (std::uint32_t w = segment.from / 64; w <= (segment.to - 1) / 64; ++w)
        if ((words_[w] & mask(segment, w)) != 0) return false;
    return true;
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
};

class Rows {
 public:
  explicit Rows(std::uint32_t positions) : positions_(positions) {}

  std::uint16_t take_single(const LiveRange& range) {
    std::size_t best = rows_.size();
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      if (!rows_[row].is_free(range)) continue;
      const std::size_t partner = row ^ 1;
      const bool broken = partner < rows_.size() && !rows_[partner].is_free(range);
      if (broken) {
        best = row;
        break;
      }
      best = std::min(best, row);
    }
    grow(best + 1);
    rows_[best].take(range);
    return static_cast<std::uint16_t>(best);
  }

  std::uint16_t take_pair(const LiveRange& range) {
    std::size_t row = 0;
    while (row + 1 < rows_.size() && !(rows_[row].is_free(range) && rows_[row + 1].is_free(range)))
      row += 2;
    if (row + 1 == rows_.size() && !rows_[row].is_free(range)) row += 2;
    grow(row + 2);
    rows_[row].take(range);
    rows_[row + 1].take(range);
    return static_cast<std::uint16_t>(row);
  }

  std::uint32_t count() const { return static_cast<std::uint32_t>(rows_.size()); }

 private:
  void grow(std::size_t size) {
    while (rows_.size() < size) rows_.emplace_back(positions_);
  }
  std::uint32_t positions_;
  std::vector<Occupancy> rows_;
};

std::uint32_t count_positions(const ir::Function& function) {
  std::uint32_t positions = 2;
  for (const ir::Block& block : function.blocks)
    positions += 2 * static_cast<std::uint32_t>(block.operations.size());
  return positions;
}

}  // namespace

Allocation assign_rows(const ir::Function& function) {
  const auto ranges = live_ranges(function);
  std::vector<std::uint32_t> order;
  for (std::uint32_t r = 0; r < ranges.size(); ++r)
    if (!ranges[r].empty()) order.push_back(r);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return ranges[a].start() < ranges[b].start();
  });
  const std::uint32_t positions = count_positions(function);
  Rows rows(positions), predicates(positions);
  Allocation allocation;
  allocation.row_of_register.assign(function.registers.size(), no_row);
  for (std::uint32_t r : order) {
    const Type type = function.registers[r].type;
    allocation.row_of_register[r] = type == Type::pred   ? predicates.take_single(ranges[r])
                                    : rows_of(type) == 2 ? rows.take_pair(ranges[r])
                                                         : rows.take_single(ranges[r]);
  }
  allocation.rows = rows.count();
  allocation.predicates = predicates.count();
  allocation.registers_per_thread = allocation.rows + reserved_registers;
  return allocation;
}

void record_liveness(const ir::Function& function, Allocation& allocation) {
  const Flow flow(function);
  const Liveness liveness(function, flow);
  const auto add = [&](Allocation::Live& live, std::uint32_t r) {
    const std::uint32_t row = allocation.row_of_register[r];
    if (row == no_row) return;
    const Type type = function.registers[r].type;
    if (type == Type::pred) {
      live.predicates |= std::uint64_t{1} << row;
      return;
    }
    for (std::uint32_t k = row; k < row + rows_of(type); ++k)
      live.rows[k / 64] |= std::uint64_t{1} << (k % 64);
  };
  allocation.live_before.assign(function.blocks.size(), {});
  for (std::uint32_t b = 0; b < function.blocks.size(); ++b) {
    const auto& operations = function.blocks[b].operations;
    allocation.live_before[b].resize(operations.size());
    LiveWalker walker = liveness.walk(b);
    for (auto o = operations.size(); o-- > 0;) {
      if (operations[o].opcode == Opcode::ret)
        for (const ir::Operand& result : function.results)
          if (is_register(result)) walker.keep(result.index);
      walker.step_back(operations[o]);
      walker.live().for_each([&](std::uint32_t r) { add(allocation.live_before[b][o], r); });
    }
  }
}

}  // namespace lockstep::isa::lowering
