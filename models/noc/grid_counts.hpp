/// Counts of a grid in all components that count it.
///
/// SMs know the grid of each warp and access: their counts are exactly those of the grid.  GMMU,
/// partitions and host know only tenants: they report the growth of the tenant's counters while the
/// grid ran, which overlapping grids of a tenant both get.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/time/time.hpp"
#include "models/isa/matrix/counted_types.hpp"

namespace lockstep {

struct GridCounts {
  static constexpr std::size_t stall_causes = 20;

  // Counts of SMs; first the counts of nearly every cycle.
  std::uint64_t issue_slots = 0, warp_instructions = 0, thread_instructions = 0;
  std::array<std::uint64_t, stall_causes> stalls{};
  std::uint64_t l1_hits = 0, l1_misses = 0, l1_merges = 0;
  std::uint64_t l1_tlb_hits = 0, l1_tlb_misses = 0, l1_tlb_merges = 0;
  std::uint64_t active_cycles = 0, warp_cycles = 0;
  // Counts of the GMMU, partitions and the host.
  std::uint64_t l2_tlb_hits = 0, l2_tlb_misses = 0;
  std::uint64_t l2_hits = 0, l2_misses = 0, dram_reads = 0, dram_writes = 0;
  std::uint64_t bytes_to_host = 0, bytes_to_gpu = 0, far_faults = 0;
  // Counts of SMs that few programs have.
  std::array<std::uint64_t, isa::matrix_types> matrix_instructions{};
  std::uint64_t tensor_cycles = 0, matrix_wavefronts = 0, async_copy_bytes = 0;
  std::uint64_t bulk_copies = 0, bulk_lines = 0, bulk_bytes = 0;
  std::uint64_t remote_accesses = 0, remote_bytes = 0, cluster_barriers = 0,
                cluster_wait_cycles = 0;
  // Of hubs.
  std::uint64_t cluster_cycles = 0, cluster_place_cycles = 0;

  /// Returns all counts as words, in this order.
  std::span<std::uint64_t> words() {
    return {&issue_slots, sizeof(GridCounts) / sizeof(std::uint64_t)};
  }
  std::span<const std::uint64_t> words() const {
    return {&issue_slots, sizeof(GridCounts) / sizeof(std::uint64_t)};
  }
  bool any() const {
    return std::ranges::any_of(words(), [](std::uint64_t word) { return word != 0; });
  }
  GridCounts& operator+=(const GridCounts& other) {
    std::ranges::transform(words(), other.words(), words().begin(), std::plus<>());
    return *this;
  }
  GridCounts& operator-=(const GridCounts& other) {
    std::ranges::transform(words(), other.words(), words().begin(), std::minus<>());
    return *this;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    for (std::uint64_t& word : words()) archive(word);
  }
};

/// Counts of a grid in a component since they were last taken.
struct GridContribution {
  std::uint64_t grid = 0;
  GridCounts counts;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(grid, counts);
  }
};

/// A component that counts for grids.
class GridCounter {
 public:
  virtual ~GridCounter() = default;
  /// Appends the counts up to `now`, where the component stands, since the last call.
  virtual void take_grid_counts(Time now, std::vector<GridContribution>& taken) = 0;
};

}  // namespace lockstep
