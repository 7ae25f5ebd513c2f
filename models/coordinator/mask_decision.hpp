/// Decision of MASK, made once an epoch and told to GMMU and partitions (EpochTopic::tlb_fill).
///
/// Source: 004, sections 6.4.2 and 6.4.4; memory-interference.md, sections 5.3.3 and 5.3.5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lockstep {

/// Decision of the coordinator on each tenant.
struct MaskDecision {
  static constexpr std::size_t words = 3;
  static constexpr std::uint32_t usual_turns = 500;  ///< turns of all tenants together, in requests
  static constexpr std::uint64_t all_warps = ~std::uint64_t{0};

  std::uint64_t first_without = all_warps;  ///< warps before this one, in order_of, have tokens
  std::uint64_t tokens = 0;
  std::uint64_t turn = 0;  ///< length of the tenant's turn, in requests

  static MaskDecision of(std::span<const std::uint64_t> values, std::size_t tenant) {
    return {values[tenant * words], values[tenant * words + 1], values[tenant * words + 2]};
  }
  void append_to(std::vector<std::uint64_t>& values) const {
    values.insert(values.end(), {first_without, tokens, turn});
  }
  /// Tokens go to the lowest warp numbers of all SMs alike.
  static constexpr std::uint64_t order_of(std::uint64_t warp, std::uint64_t sm) {
    return warp << 32 | sm;
  }
};

}  // namespace lockstep
