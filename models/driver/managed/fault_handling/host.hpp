/// Faults are served by the driver on the CPU, with its server, its costs and its prefetcher.
///
/// Costs (virtual-memory-and-exceptions.md, 3.5).  uvmsmart: the server is busy `handling` per
/// fault (or block, or batch), then the transfer starts.  tanasic: the server is busy
/// `cpu_service`, the transfer starts then, and the replay reaches the GMMU `migrate` or `allocate`
/// after the fault was found, plus what it waited for the server.  linear: `handling` side by side,
/// then the transfer.
///
/// Simplified: one server for all tenants.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "models/driver/managed/fault_handling/fault_handling.hpp"
#include "models/driver/prefetch/split.hpp"

namespace lockstep {

class HostFaultHandling : public FaultHandling {
 public:
  HostFaultHandling(const HostFaultParameters& parameters, const Setup& setup, const Parts& parts)
      : parameters_(parameters), setup_(setup), parts_(parts), fault_numbers_(setup.tenants) {}

  Time next_activity() const override;
  /// Lets the server take as many faults as it has time for, and continues those that it has
  /// handled.
  void act(const HostCycle& cycle) override;
  void forget_if(const Which& which) override {
    for (Unit& unit : units_) std::erase_if(unit.faults, which);
  }
  void serialize(Archive& archive) override;

 private:
  /// Faults that are handled together.
  struct Unit {
    Time started;  ///< time at which the server took the unit
    Time begin;    ///< time from which transfers may start: the driver has handled the unit
    std::vector<PageFault> faults;
    std::uint16_t behind = 0;  ///< tenant of the first fault in the unit before

    template <class Archive>
    void serialize(Archive& archive) {
      archive(started, begin, faults, behind);
    }
  };

  /// Takes the next fault of the server's queue, with the faults that are handled together with it.
  void form_unit(const HostCycle& cycle);
  void charge(Unit& unit, Time now);
  /// Serves a fault whose page is in GPU memory, on its way, or leaving. Returns false if pages
  /// must move.
  bool serve_without_moving(const PageFault& fault, const HostCycle& cycle);
  /// The server has handled the faults: pages move.
  void begin_unit(const Unit& unit, const HostCycle& cycle);
  /// Migrates faulting pages of one allocation, in order, with the pages that the prefetcher adds.
  /// Returns the number of requested pages. `stored`: pages of all allocations with stores, in
  /// order.
  std::uint64_t migrate(std::span<const ManagedPage> pages, std::span<const ManagedPage> stored,
                        const Unit& unit, const HostCycle& cycle);
  /// Serves news of a page that the GPU maps elsewhere and uses much.  Returns false if pages must
  /// move.
  bool serve_counted(const PageFault& fault, const HostCycle& cycle);
  /// Defers a fault whose page other GPUs must give up first. Returns false if no other GPU has the
  /// page.
  bool waits_for_others(const PageFault& fault, const HostCycle& cycle);
  /// Removes pages from `moves` that did not fault and are offered to the GPU or belong to other
  /// GPUs.
  void leave_others(std::span<const ManagedPage> faults, std::vector<PageRange>& moves) const;
  std::vector<PlannedTransfer> plan(std::span<const ManagedPage> pages, bool stores,
                                    const HostCycle& cycle);
  /// Returns the migration for one fault that moves nothing.
  Migration migration_of(const PageFault& fault, const Unit& unit, const HostCycle& cycle);
  /// Adds the row of the first fault of these pages to the log.  Returns its number, or none.
  std::uint32_t record(const Unit& unit, PageRange range, bool data);
  Time replay_time(const Unit& unit, bool moves_data, Time now) const;

  const HostFaultParameters parameters_;
  const Setup setup_;
  const Parts parts_;
  std::deque<Unit> units_;  ///< units in order of `begin`
  Time server_free_;
  std::optional<std::uint16_t> served_;       ///< tenant of the last unit's first fault
  std::vector<std::uint64_t> fault_numbers_;  ///< number of the last fault of each tenant
};

}  // namespace lockstep
