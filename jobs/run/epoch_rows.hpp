#pragma once

#include "core/output/epoch_statistics.hpp"
#include "core/output/growing_table.hpp"

namespace lockstep {

/// What is written down at each epoch: statistics, and the kernels that are over.
class EpochRows final : public EpochObserver {
 public:
  /// `kernels` is null on ranks other than 0, where the host lives.
  EpochRows(EpochStatistics& statistics, GrowingTable* kernels)
      : statistics_(statistics), kernels_(kernels) {}

  std::vector<std::byte> sample(Time end, std::span<const LocalComponent> components) override;
  void collect(Time end, std::span<const std::vector<std::byte>> contributions) override;

 private:
  EpochStatistics& statistics_;
  GrowingTable* const kernels_;
};

}  // namespace lockstep
