#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "models/noc/grid_messages.hpp"

namespace lockstep {

/// Lengths of finished blocks, in warp instructions: their distribution, where KernelHistory has
/// their mean.
///
/// A running block that has executed much cannot be one of the short blocks.  So its length is a
/// quantile of the finished blocks that are at least as long as what it has executed, and its rest
/// is never expected to be none only because it is longer than the mean.
/// Source: our choice.
class BlockLengths {
 public:
  /// Adds a finished block; a block that has executed nothing is ignored, as by KernelHistory.
  void add(const BlockWork& work) {
    if (work.executed.warp == 0) return;
    ++counts_[work.executed.warp];
  }
  /// Returns the length of a block that has executed `executed` instructions and runs: the smallest
  /// length that at least `percent` percent of the finished blocks with `executed` or more
  /// instructions do not exceed; nothing: no finished block is as long.
  std::optional<std::uint64_t> of_block_with(std::uint64_t executed, std::uint32_t percent) const {
    const auto first = counts_.lower_bound(executed);
    std::uint64_t longer = 0;
    for (auto length = first; length != counts_.end(); ++length) longer += length->second;
    std::uint64_t seen = 0;
    for (auto length = first; length != counts_.end(); ++length) {
      seen += length->second;
      if (100 * seen >= percent * longer) return length->first;
    }
    return std::nullopt;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(counts_);
  }

 private:
  std::map<std::uint64_t, std::uint64_t> counts_;  ///< number of finished blocks of each length
};

}  // namespace lockstep
