/// Managed memory: the driver's service of far-faults, migration in both directions, eviction.
///
/// A fault waits for the driver's server (fault_queue.hpp), takes the time of the cost model, and
/// brings the pages that the prefetcher chooses (fault_handling/host.hpp); each contiguous transfer
/// maps its pages at its end (migrations.hpp).  When frames are missing, the eviction policy first
/// names pages that leave (evictor.hpp, departures.hpp).  When the CPU touches a buffer, its pages
/// return to the host by the same protocol, and faults on it wait until the CPU is done.
/// Source: 001, sections B.2, B.3, C.1; 000, sections 2.3 and 5.3; architecture.md, section 8
/// (rules 7, 9, 10, "The host").
///
/// Simplified: one server for all tenants; CPU faults cost only their transfers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/driver/managed/fault_handling/fault_handling.hpp"
#include "models/vm/messages.hpp"

namespace lockstep {

class ManagedMemory {
 public:
  struct Setup {
    Time link_latency;
    std::uint64_t seed = 0;
    std::vector<std::uint32_t> priorities;  ///< priority of each tenant
    bool record_faults = false;
    PolicyChoice fault_handling, prefetcher, eviction;
    SharedPages* shared = nullptr;  ///< pages shared with other GPUs; nullptr: none
    std::uint32_t gpu = 0;          ///< number of this GPU in `shared`
  };
  /// `driver` and `directory` outlive it.
  ManagedMemory(Setup setup, Driver& driver, const BufferDirectory& directory);
  ManagedMemory(const ManagedMemory&) = delete;
  ManagedMemory& operator=(const ManagedMemory&) = delete;

  /// Adds a new buffer, all at the host.  Returns its number.  Precondition: its tables are
  /// reserved.
  std::uint32_t add(TenantId tenant, BufferId buffer, VirtualPage page, std::uint64_t pages) {
    return pages_.add(tenant, buffer, page, pages);
  }
  /// Notes that other GPUs of the tenant have the buffer, too (ManagedPages::share).
  void share(std::uint32_t allocation, std::uint32_t tenant, BufferId declared) {
    pages_.share(allocation, tenant, declared);
  }
  /// Gives up units of an allocation that another GPU wants.
  void give_away(std::uint32_t allocation, std::uint64_t first, std::uint64_t count,
                 const HostCycle& cycle) {
    departures_.give_away(pages_.pages_of_units(allocation, first, count), cycle);
  }
  void reconsider(const HostCycle& cycle) {
    departures_.go_on(cycle);
    migrations_.go_on(cycle);
    queue_.reconsider(cycle.now);
  }
  /// Lets another GPU map a unit of an allocation.  Returns the frames of the unit.
  std::vector<FrameRun> lend(std::uint32_t allocation, std::uint64_t unit);
  /// Returns where a unit of an allocation lies.
  std::vector<FrameRun> frames(std::uint32_t allocation, std::uint64_t unit) const;
  /// Notes that another GPU has read the frames of a departure.
  void was_read(std::uint32_t departure, const HostCycle& cycle) {
    departures_.was_read(departure, cycle);
  }
  /// A unit of a migration has come.
  void has_come(std::uint32_t migration, const HostCycle& cycle) {
    migrations_.has_come(migration, cycle);
  }
  /// Takes in a unit for which another GPU has no room, if there is room here.
  void take_in(std::uint32_t allocation, std::uint64_t unit, const HostCycle& cycle) {
    migrations_.take_in(allocation, unit, cycle);
  }
  /// Handles a page that the GPU maps at an address of another GPU and has used up to the
  /// threshold.
  void counted(TenantId tenant, std::uint64_t address, const HostCycle& cycle);
  /// Returns whether the buffer's pages that neither side has used are offered to the GPU, which
  /// maps them on demand.
  bool offers_untouched() const { return handling_->offers_untouched(); }
  void offer(std::uint32_t allocation) { pages_.offer(allocation); }
  void prefer(std::uint32_t allocation, PreferredPlace place, const HostCycle& cycle);
  void read_mostly(std::uint32_t allocation, bool on) {
    pages_.buffer(allocation).read_mostly = on;
  }
  /// Lets faults on the buffer wait from now on, until let_go.
  void hold(std::uint32_t allocation) { ++pages_.buffer(allocation).holds; }
  void let_go(std::uint32_t allocation, Time now);
  /// Brings pages [first, first + count) of the allocation to the host.  Returns true when they are
  /// there.
  bool migrate_home(std::uint32_t allocation, std::uint64_t first, std::uint64_t count, bool write,
                    const HostCycle& cycle);
  /// Takes the buffer off the GPU without keeping its bytes.  Returns true when that is done.
  bool release(std::uint32_t allocation, const HostCycle& cycle);
  /// Migrates pages [first, first + count) of the buffer; `operation` comes back in
  /// take_operations().
  void prefetch(std::uint32_t allocation, std::uint64_t first, std::uint64_t count, bool to_gpu,
                std::uint64_t operation, const HostCycle& cycle);
  std::vector<std::uint64_t> take_operations() { return operations_.take_finished(); }
  /// Returns the tenants for whose pages there is no room, with a message for each.
  std::vector<Migrations::Failure> take_failures() { return migrations_.take_failures(); }
  /// Frees up to `bytes` bytes of GPU memory for data that cannot be paged. Returns false if
  /// nothing is left to evict and no tenant is leaving.
  bool make_room(std::uint64_t bytes, const HostCycle& cycle);
  /// Returns whether no page of the buffer is on its way.
  bool settled(std::uint32_t allocation) const { return pages_.buffer(allocation).moving == 0; }
  const Evictor& evictor() const { return evictor_; }
  const ManagedPages& pages() const { return pages_; }
  const Allocation& allocation(std::uint32_t index) const {
    return pages_.residency().allocation(index);
  }

  /// Handles a far-fault, with the pages that walks have found since the one before.
  void fault(const MessageHeader& message, const HostCycle& cycle);
  /// The GPU has handled a fault by itself.
  void mapped_by_gpu(const MessageHeader& message, const HostCycle& cycle);
  void mapped(std::uint32_t migration, const HostCycle& cycle);
  void unmapped(const Unmapped& pages, const HostCycle& cycle);
  /// A transfer has written pages back.
  void transfer_done(const Transfer& transfer, const HostCycle& cycle);

  Time next_activity() const { return handling_->next_activity(); }
  void act(const HostCycle& cycle);
  /// Forgets the faults of a tenant that has ended.
  void forget_faults(TenantId tenant);

  const std::vector<FaultRecord>& faults() const { return log_.records(); }
  std::string waiting_for() const;
  void serialize(Archive& archive);

 private:
  void note_accesses(const MessageHeader& message);
  void prefetch_to_gpu(PageRange pages, std::uint64_t operation, const HostCycle& cycle);
  void go_on(const std::optional<Departures::Wanted>& wanted, Time now);
  void forget_if(const FaultHandling::Which& which) {
    queue_.forget_if(which);
    handling_->forget_if(which);
  }

  const HostFaultParameters parameters_;
  Driver& driver_;
  const std::unique_ptr<Prefetcher> prefetcher_;
  const std::unique_ptr<Eviction> eviction_;
  ManagedPages pages_;
  FaultQueue queue_;
  FaultLog log_;
  PrefetchOperations operations_;
  Departures departures_;
  Evictor evictor_;
  Migrations migrations_;
  const std::unique_ptr<FaultHandling> handling_;
};

}  // namespace lockstep
