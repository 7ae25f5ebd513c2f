/// The inside of a StreamingMultiprocessor: its parts, and the loop through a window.
///
/// A lower part knows nothing of the parts above it.  It returns what it has to tell them, or calls
/// an interface of its own (DrainedWarps, ParkedLines).
#pragma once

#include <memory>
#include <string>

#include "core/engine/component.hpp"
#include "models/sm/block_switching/block_switching.hpp"
#include "models/sm/blocks/mistakes.hpp"
#include "models/sm/blocks/resident_blocks.hpp"
#include "models/sm/bulk/bulk_engine.hpp"
#include "models/sm/cluster/cluster_barriers.hpp"
#include "models/sm/cluster/cluster_blocks.hpp"
#include "models/sm/cluster/remote_accesses.hpp"
#include "models/sm/cluster/shared_service.hpp"
#include "models/sm/context/block_contexts.hpp"
#include "models/sm/context/context_engine.hpp"
#include "models/sm/exception_scheme/faultable_accesses.hpp"
#include "models/sm/execution/barriers.hpp"
#include "models/sm/execution/constant_memory.hpp"
#include "models/sm/execution/control.hpp"
#include "models/sm/execution/grid_dependencies.hpp"
#include "models/sm/execution/issue.hpp"
#include "models/sm/execution/mbarriers.hpp"
#include "models/sm/execution/memory_issue.hpp"
#include "models/sm/execution/printing.hpp"
#include "models/sm/execution/shared_memory.hpp"
#include "models/sm/execution/warpgroup_unit.hpp"
#include "models/sm/fetch/constant_cache.hpp"
#include "models/sm/fetch/instruction_cache.hpp"
#include "models/sm/front_end/front_end.hpp"
#include "models/sm/l1/l1.hpp"
#include "models/sm/l1/outstanding_stores.hpp"
#include "models/sm/load_store/answers.hpp"
#include "models/sm/load_store/flights.hpp"
#include "models/sm/load_store/line_access.hpp"
#include "models/sm/load_store/load_store_unit.hpp"
#include "models/sm/parameters/sm_context.hpp"
#include "models/sm/parameters/sm_setup.hpp"
#include "models/sm/parameters/sm_statistics.hpp"
#include "models/sm/ports/sm_ports.hpp"
#include "models/sm/translation/shootdowns.hpp"
#include "models/sm/translation/translation.hpp"
#include "models/sm/turnover/block_turnover.hpp"
#include "models/sm/turnover/warp_watch.hpp"

namespace lockstep {

class SmCore {
 public:
  explicit SmCore(SmSetup setup);

  Time next_activity() const;
  void advance(Time horizon, Inbox inbox, Outbox& outbox);
  void serialize(Archive& archive);
  const SmStatistics& statistics(Time now);
  std::vector<StatisticsView> side_statistics() const { return ports_.marks().statistics(); }
  void take_grid_counts(Time now, std::vector<GridContribution>& taken) {
    statistics(now);  // updates the statistics
    blocks_.take_counts(taken);
  }
  void take_progress(Time now, std::span<std::uint8_t> tenants) {
    statistics(now);
    watch_.take(now, tenants);
  }
  bool finished() const { return turnover_.empty(); }
  bool awaits_answers() const { return ports_.awaits_answers(); }
  const BlockLog& block_log() const { return turnover_.log(); }
  std::string waiting_for() const;

 private:
  void warm_window(Inbox inbox) const;
  void run_between_epochs(Time horizon, Inbox inbox, Outbox& outbox);
  template <class Policy>
  void run(Policy& policy, Time horizon, Inbox inbox);
  template <class Policy>
  [[gnu::always_inline]] void step(Policy& policy, SmCycle now);
  void take(const MessageHeader& message, SmCycle now);
  /// Prefetches the code that a grid's blocks will fetch.
  void prefetch(const GridLaunch& launch, SmCycle now);
  SmCycle next_arrival(Inbox inbox, std::size_t next) const;
  Time next_cycle() const {
    return front_end_.wake() == no_cycle ? Time::never() : constants_.time_of(front_end_.wake());
  }
  [[gnu::always_inline]] SmCycle next_event() const {
    return std::min({front_end_.next_event(), load_store_.wake(), turnover_.wake(), bulk_.wake()});
  }

  // Parts in the order in which they are built: each part uses those above it.  Where two parts
  // need each other, the upper one calls the lower one through an interface (DrainedWarps,
  // CheckedAccesses, ParkedLines).
  const SmConstants constants_;
  SmStatistics statistics_;
  SmPorts ports_;
  ResidentBlocks blocks_;
  Mistakes mistakes_;
  const SmContext sm_{constants_, statistics_, ports_, blocks_, mistakes_};

  FrontEnd front_end_;
  FaultableAccesses faultable_;
  L1 l1_;
  OutstandingStores stores_;
  Flights flights_;
  LineAccess lines_;
  LoadStoreUnit load_store_;
  Translation translation_;
  Shootdowns shootdowns_;

  InstructionCache code_;
  ConstantCache constant_cache_;
  ContextEngine engine_;
  Answers answers_;
  Mbarriers mbarriers_;
  ClusterBlocks clusters_;
  SharedService shared_service_;
  RemoteAccesses remote_;
  BulkEngine bulk_;

  SharedMemoryUnit shared_;
  ConstantMemory constant_;
  MemoryIssue memory_issue_;
  Barriers barriers_;
  ClusterBarriers cluster_barriers_;
  Printing printing_;
  ControlUnit control_;
  WarpgroupUnit warpgroups_;
  GridDependencies dependencies_;
  Issue issue_;

  const std::unique_ptr<BlockSwitching> switching_;
  BlockContexts contexts_;
  LocalScheduler local_scheduler_;
  BlockTurnover turnover_;
  WarpWatch watch_;
  bool issue_held_ = false;  ///< the host holds issue
};

}  // namespace lockstep
