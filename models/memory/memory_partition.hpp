#pragma once

#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "core/engine/component.hpp"
#include "core/statistics/view.hpp"
#include "models/coordinator/policy_epochs.hpp"
#include "models/memory/bytes/partition_bytes.hpp"
#include "models/memory/controller_input.hpp"
#include "models/memory/copy_stretches.hpp"
#include "models/memory/partition_agenda.hpp"
#include "models/memory/partition_answers.hpp"
#include "models/memory/partition_banks.hpp"
#include "models/memory/partition_input.hpp"
#include "models/noc/address_mapping.hpp"
#include "models/noc/grid_intervals.hpp"
#include "models/noc/noc_parameters.hpp"
#include "models/noc/progress.hpp"
#include "models/noc/request_sources.hpp"
#include "models/noc/topology.hpp"

namespace lockstep {

/// A memory partition: L2 slices in front of DRAM channels, and the partition's share of the GPU's
/// bytes.
///
/// A request touches bytes when it arrives, in inbox order, and keeps the value that it read; the
/// L2 and the DRAM only decide when the answer leaves.  Every request is answered by a
/// memory_response on the link to its sender.
///
/// L2 cycles and DRAM commands are processed in order of time, the DRAM first at equal times.  In
/// an L2 cycle, in this order: arrivals enter the sender FIFOs; free input registers take from
/// them, and the bank arbiter moves from registers to bank queues (PartitionInput); the controller
/// takes requests of CPU cores (ControllerInput); DRAM returns enter fill queues; banks fill, then
/// look up (PartitionBanks); answers enter the response queue (PartitionAnswers).  Idle cycles are
/// skipped, and in busy ones the parts that are not due (PartitionAgenda).  A request that comes
/// alone passes input and bank in the cycle of its arrival (express.hpp).
/// Source: memory-interference.md, section 1.2 (queues and their order); architecture.md, section
/// 8, rule 1; hot-path.md ("passes that prefetch over a window's batch of messages").
class MemoryPartition final : public Component, public GridCounter, public ProgressSource {
 public:
  struct Setup {
    MemoryParameters parameters;
    NocParameters noc;
    Topology topology;
    PartitionId index;
    AddressMapping mapping;
    RequestSources sources;    ///< senders of requests, the host among them
    std::size_t tenants = 0;   ///< tenants of the run
    bool count_banks = false;  ///< true: the banks that work for each tenant are counted
    std::span<const Frame> foreign_pages;
    std::unique_ptr<CachePolicy> cache_policy;
    std::unique_ptr<Replacement> replacement;
    std::vector<std::unique_ptr<DramScheduler>> dram_schedulers;  ///< scheduler of each channel
    PolicyEpochs epochs;
    InitialBytes initial;  ///< contents of the tenants' buffers; empty: copies come line by line
    bool express = true;   ///< false: every request queues, which gives the same times
  };
  explicit MemoryPartition(Setup setup);

  Time next_activity() const override;
  void advance(Time horizon, Inbox inbox, Outbox& outbox) override;
  void serialize(Archive& archive) override;
  StatisticsView statistics(Time now) override;
  std::vector<StatisticsView> parts(Time now) override;
  void take_grid_counts(Time now, std::vector<GridContribution>& taken) override;
  void take_progress(Time now, std::span<std::uint8_t> tenants) override;
  bool finished() const override {
    return transactions_.used() == 0 && answers_.idle() && stretches_.empty();
  }
  std::string waiting_for() const override;
  /// Releases the bytes of all frames, which are free for good.
  void forget_bytes() { bytes_.forget(); }

 private:
  // Arrivals before `horizon`, before any cycle of the window.
  void accept(Time horizon, Inbox inbox);
  void accept(const MessageHeader& message);
  void accept_request(const MessageHeader& message);
  /// Returns the next line of a stretch, and fetches what the one behind it will touch.
  const MessageHeader& take_line();
  void accept_zero(const MessageHeader& message);
  void accept_copy(const MessageHeader& message);
  void warm_requests(Inbox inbox) const;
  /// Begin or end of a grid of a tenant; it takes effect when everything before it has been
  /// counted.
  struct Mark {
    Time at;
    bool begins = false;
    GridMark mark;
  };
  void take_mark();
  GridCounts counts_of(std::uint16_t tenant) const;

  /// Runs cycles and commands before `end`, up to which no mark comes and no epoch ends.
  void run_before(Time end, Outbox& outbox);
  void step(Time end, Outbox& outbox);
  void step_dram(Time last);
  void run_epochs(Time now, Outbox& outbox);

  const L2Clock clock_;
  const std::uint64_t zeroed_per_cycle_;  ///< bytes zeroed per cycle

  PartitionStatistics statistics_;
  RequestSources sources_;
  TransactionPool transactions_;
  PartitionAgenda agenda_;
  L2Cycle cycle_ = L2Cycle::never();  ///< next cycle with something to do
  Time copied_until_;                 ///< end of the last page copy
  PartitionBytes bytes_;
  PartitionBanks banks_;
  PartitionInput input_;
  ControllerInput controller_;
  CopyStretches stretches_;
  PartitionAnswers answers_;
  PolicyEpochs epochs_;
  std::deque<Mark> marks_;  ///< marks of this window
  GridIntervals grids_;
};

/// Returns the schema of MemoryPartition::statistics, before any partition exists.
const StatisticsSchema& memory_partition_statistics();

}  // namespace lockstep
