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

/// Rows that are written at each epoch: statistics, and kernels that are over.
///
/// Counts of grids are sent together with the statistics.  The host's log sums them up, so that
/// checkpoints contain them and rows are written once.
class EpochRows final : public EpochObserver {
 public:
  /// Makes the rows.  `output`: nullptr on ranks other than 0, which has the host.
  EpochRows(EpochStatistics& statistics, Output* output, const Machine& machine,
            NoProgress on_no_progress);

  void prepare(std::span<const LocalComponent> components) override;
  void look(Time end, std::size_t number, const LocalComponent& component) override;
  std::vector<std::byte> sample(Time end, std::span<const LocalComponent> components) override;
  void collect(Time end, std::span<const std::vector<std::byte>> contributions) override;
  bool wants_account() const override;
  /// Reports tenants that make no progress.
  void account(Time end, const std::string& waiting) override;

 private:
  /// Returns the scenario's numbers of a component's tenants; nullptr: the component uses the same
  /// numbers.
  const std::vector<std::uint32_t>* numbers_at(ComponentId component) const;

  /// A component of this rank, and what look() has seen of it.
  struct Seen {
    GridCounter* counter = nullptr;      ///< nullptr: counts for no grid
    ProgressSource* progress = nullptr;  ///< nullptr: gives no account of tenants
    /// Scenario's numbers of the component's tenants; nullptr: the component uses the same numbers.
    const std::vector<std::uint32_t>* tenants = nullptr;
    std::vector<GridContribution> counted;
    ProgressBits bits;  ///< bits of each of the tenants; empty without an account
  };

  EpochStatistics& statistics_;
  Output* const output_;
  const Machine& machine_;
  const std::vector<std::string> tenants_;
  const NoProgress on_no_progress_;
  std::vector<Seen> seen_;  ///< in the order of the components
  Host* host_ = nullptr;    ///< the host, on rank 0
};

}  // namespace lockstep
