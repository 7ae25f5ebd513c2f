/// Plan of techniques: by which technique blocks leave their SMs for an urgent grid, from a file.
///
/// With it each candidate can be run from a checkpoint before a request, so that what the blocks
/// took is measured rather than estimated.  Requests that have been followed are part of a
/// checkpoint; entries of later requests may change before a run is resumed.
/// Source: 003, section 4 (oracle); our choice (the file).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "core/parameters/node.hpp"
#include "models/noc/grid_messages.hpp"

namespace lockstep {

class PreemptionPlan {
 public:
  /// Techniques of the blocks that leave for one urgent grid.
  struct Request {
    /// Techniques by grid and block.
    std::map<std::pair<std::uint32_t, std::uint64_t>, Technique> blocks;
    std::optional<Technique> others;  ///< technique of the other blocks; nothing: the plan has none

    /// Returns the block's technique; nothing: the plan does not say.
    std::optional<Technique> of(std::uint32_t grid, std::uint64_t block) const {
      const auto known = blocks.find({grid, block});
      return known == blocks.end() ? others : known->second;
    }
    bool operator==(const Request&) const = default;

    template <class Archive>
    void serialize(Archive& archive) {
      archive(blocks, others);
    }
  };

  PreemptionPlan() = default;
  explicit PreemptionPlan(std::map<std::uint32_t, Request> requests)
      : requests_(std::move(requests)) {}

  /// Returns the entry of an urgent grid; an empty one if the plan has none.
  const Request& of(std::uint32_t urgent) const {
    static const Request nothing;
    const auto known = requests_.find(urgent);
    return known == requests_.end() ? nothing : known->second;
  }

 private:
  std::map<std::uint32_t, Request> requests_;
};

/// Reads a plan: a list of entries such as `{urgent: 12, others: drain, blocks: [[11, 5, flush]]}`,
/// with the numbers of kernels in /kernels.  Throws UserError for anything else.
PreemptionPlan read_preemption_plan(const Node& document);

}  // namespace lockstep
