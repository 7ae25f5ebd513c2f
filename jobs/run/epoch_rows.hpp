#pragma once

#include "core/output/epoch_statistics.hpp"
#include "models/noc/grid_counts.hpp"

namespace lockstep {

class Host;
struct Output;

/// What is written down at each epoch: statistics, and the kernels that are over.
///
/// What components have counted for grids travels beside the statistics.  The host's log sums it
/// up, so that it stands in checkpoints and rows need no second look.
class EpochRows final : public EpochObserver {
 public:
  /// `output` is null on ranks other than 0, where the host lives.
  EpochRows(EpochStatistics& statistics, Output* output)
      : statistics_(statistics), output_(output) {}

  std::vector<std::byte> sample(Time end, std::span<const LocalComponent> components) override;
  void collect(Time end, std::span<const std::vector<std::byte>> contributions) override;

 private:
  void find_counters(std::span<const LocalComponent> components);

  EpochStatistics& statistics_;
  Output* const output_;
  std::vector<GridCounter*> counters_;
  Host* host_ = nullptr;  ///< on rank 0
};

}  // namespace lockstep
