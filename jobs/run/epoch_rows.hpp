#pragma once

#include <string>
#include <vector>

#include "core/output/epoch_statistics.hpp"
#include "models/noc/grid_counts.hpp"
#include "models/noc/progress.hpp"
#include "models/workload/scenario.hpp"

namespace lockstep {

class Host;
class Machine;
struct Output;

/// Rows that are written at each epoch: statistics, and the kernels that are over.
///
/// What components have counted for grids travels beside the statistics.  The host's log sums it
/// up, so that it stands in checkpoints and rows need no second look.
class EpochRows final : public EpochObserver {
 public:
  /// `output` is null on ranks other than 0, where the host lives.
  EpochRows(EpochStatistics& statistics, Output* output, const Machine& machine,
            NoProgress on_no_progress);

  std::vector<std::byte> sample(Time end, std::span<const LocalComponent> components) override;
  void collect(Time end, std::span<const std::vector<std::byte>> contributions) override;
  bool wants_account() const override;
  /// Reports of tenants that do not get on.
  void account(Time end, const std::string& waiting) override;

 private:
  void find_counters(std::span<const LocalComponent> components);
  /// Numbers of a component's tenants in the scenario; nullptr: it numbers them likewise.
  const std::vector<std::uint32_t>* numbers_at(ComponentId component) const;
  /// Accounts that the components of this rank give of the tenants.
  ProgressBits take_progress(Time end);

  /// A component that sees tenants, which it numbers in its own way.
  struct Source {
    ProgressSource* component;
    /// Tenant numbers; nullptr: numbers in the scenario.
    const std::vector<std::uint32_t>* tenants;
  };

  EpochStatistics& statistics_;
  Output* const output_;
  const Machine& machine_;
  const std::vector<std::string> tenants_;
  const NoProgress on_no_progress_;
  std::vector<GridCounter*> counters_;
  std::vector<Source> progress_;
  Host* host_ = nullptr;  ///< the host, on rank 0
};

}  // namespace lockstep
