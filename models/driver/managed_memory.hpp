/// Managed memory: the driver's service of far-faults, migration in both directions, eviction.
///
/// A fault waits for the driver's server, costs what the cost model says, and brings the pages that
/// the prefetcher chooses; each contiguous transfer maps its pages when it has ended.  Where frames
/// are missing the eviction policy names pages that leave first.  When the CPU touches a buffer its
/// pages come home by the same protocol, and faults on it wait until the CPU is done.
/// Source: 001, sections B.2, B.3, C.1; 000, sections 2.3 and 5.3; architecture.md, section 8
/// (rules 7, 9, 10, "The host").
///
/// Simplified: one server for all tenants; CPU faults cost nothing but the transfers.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "models/driver/driver.hpp"
#include "models/driver/eviction/eviction.hpp"
#include "models/driver/fault_parameters.hpp"
#include "models/driver/host_statistics.hpp"
#include "models/driver/prefetch/prefetcher.hpp"
#include "models/driver/prefetch/split.hpp"
#include "models/driver/residency.hpp"
#include "models/vm/messages.hpp"
#include "models/workload/workload.hpp"

namespace lockstep {

/// What ManagedMemory acts with.
struct DriverContext {
  Time now;
  Driver& driver;
  HostLink& link;
  HostStatistics& statistics;
  Outbox& outbox;
};

/// For histograms.
inline std::uint64_t nanoseconds(Time span) {
  return static_cast<std::uint64_t>(span.femtoseconds() / 1'000'000);
}

/// One row of the /faults table.
struct FaultRecord {
  std::uint16_t tenant = 0;
  std::uint64_t page = 0;   ///< virtual page number
  std::uint32_t pages = 0;  ///< moved with it
  bool migrated = false;    ///< data came over the link
  Time found, arrived, served, mapped;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(tenant, page, pages, migrated, found, arrived, served, mapped);
  }
};

class ManagedMemory final : public EvictionView {
 public:
  struct Setup {
    HostFaultParameters fault;
    Time link_latency;
    std::uint64_t seed = 0;
    std::vector<std::uint32_t> priorities;  ///< by tenant
    bool record_faults = false;
    std::unique_ptr<Prefetcher> prefetcher;
    std::unique_ptr<Eviction> eviction;
    /// Whether the host has content for a page of a buffer (index in the buffer), so that it has to
    /// be moved.
    std::function<bool(std::uint16_t tenant, std::uint32_t buffer, std::uint64_t page)> has_data;
    /// Bytes of a tenant's buffer.
    std::function<std::uint64_t(std::uint16_t tenant, std::uint32_t buffer)> buffer_bytes;
    /// What messages say of a buffer: file:line:column, and its name and tenant.
    std::function<std::pair<std::string, std::string>(std::uint16_t tenant, std::uint32_t buffer)>
        describe;
    /// Where a buffer begins in requests that reach host memory from the GPU.
    std::function<std::uint64_t(std::uint16_t tenant, std::uint32_t buffer)> remote_address;
    /// Whether a tenant is on its way out: its memory will come free, and it needs none.
    std::function<bool(std::uint16_t tenant)> is_leaving;
  };
  explicit ManagedMemory(Setup setup);

  /// A new buffer, all at the host; its number.  Tables must have been reserved.
  std::uint32_t add(std::uint16_t tenant, std::uint32_t buffer, std::uint64_t virtual_page,
                    std::uint64_t pages);
  void prefer(std::uint32_t allocation, PreferredPlace place);
  void read_mostly(std::uint32_t allocation, bool on);

  /// Faults on it wait from now on, until let_go.
  void hold(std::uint32_t allocation) { ++buffers_[allocation].holds; }
  void let_go(std::uint32_t allocation, const DriverContext& context);
  /// Pages [first, first + count) of the allocation come to the host; true when they are there.
  bool migrate_home(std::uint32_t allocation, std::uint64_t first, std::uint64_t count, bool write,
                    const DriverContext& context);
  /// Takes the buffer off the GPU without keeping its bytes; true when that is done.
  bool release(std::uint32_t allocation, const DriverContext& context);
  /// Migrates pages [first, first + count) of the buffer; `operation` comes back in
  /// take_operations().
  void prefetch(std::uint32_t allocation, std::uint64_t first, std::uint64_t count, bool to_gpu,
                std::uint64_t operation, const DriverContext& context);
  std::vector<std::uint64_t> take_operations() { return std::exchange(finished_operations_, {}); }
  /// Tenants for whose pages there is no room, and what to tell them.
  struct Failure {
    std::uint16_t tenant;
    std::string message;
  };
  std::vector<Failure> take_failures() { return std::exchange(failures_, {}); }
  /// Frees up to so many bytes of GPU memory for what cannot be paged; false when it has nothing
  /// left to evict and no tenant is leaving.
  bool make_room(std::uint64_t bytes, const DriverContext& context);
  /// Nothing of the buffer is on its way.
  bool settled(std::uint32_t allocation) const { return buffers_[allocation].moving == 0; }
  /// Pages in GPU memory, for checking.
  std::vector<PageRange> resident_ranges(std::uint32_t allocation) const;
  std::uint64_t resident_pages() const { return resident_pages_; }
  bool evicts() const { return setup_.eviction->evicts(); }
  const Allocation& allocation(std::uint32_t index) const { return residency_.allocation(index); }

  void fault(const MessageHeader& message, const DriverContext& context);
  void mapped(std::uint32_t migration, const DriverContext& context);
  void unmapped(Unmapped pages, const DriverContext& context);
  /// A write-back has ended.
  static constexpr std::uint64_t departure_operation = std::uint64_t{1} << 62;
  void transfer_done(const Transfer& transfer, const DriverContext& context);

  Time next_activity() const;
  void act(const DriverContext& context);
  /// Faults of a tenant that has ended are forgotten.
  void forget_faults(std::uint16_t tenant);

  const std::vector<FaultRecord>& faults() const { return records_; }
  std::string waiting_for() const;
  void serialize(Archive& archive);

  // EvictionView
  const Residency& residency() const override { return residency_; }
  bool evictable(ManagedPage page) const override;
  std::uint64_t seed() const override { return setup_.seed; }
  TreeDecisions* decisions(std::uint16_t tenant) const override {
    return &(*tree_evictions_)[tenant];
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  struct Buffer {
    PreferredPlace preferred = PreferredPlace::none;
    bool read_mostly = false;
    std::uint32_t holds = 0;
    std::uint64_t resident = 0, duplicates = 0, moving = 0, remote = 0;  ///< pages
    template <class Archive>
    void serialize(Archive& archive) {
      archive(preferred, read_mostly, holds, resident, duplicates, moving, remote);
    }
  };
  struct Fault {
    ManagedPage page = 0;
    Time found, arrived;
    Time queued;  ///< for the last time: it may have waited for the CPU, or come too late
    bool write = false;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(page, found, arrived, queued, write);
    }
  };
  /// Faults that are handled together.
  struct Unit {
    Time started;  ///< the server took it
    Time begin;    ///< when the driver has handled it and transfers may start
    std::vector<Fault> faults;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(started, begin, faults);
    }
  };
  struct Migration {
    bool fault = false, writable = true, remote = false;
    PageRange range;
    Time not_before;
    Time served;                  ///< when the driver had handled its fault
    std::uint64_t operation = 0;  ///< a prefetch step's
    std::uint32_t record = none;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(fault, writable, remote, range, not_before, served, operation, record);
    }
  };
  /// Pages on their way off the GPU.
  struct Departure {
    bool keep_bytes = true, remote = false;
    bool then_to_gpu = false;  ///< a prefetch step wants what was mapped remotely
    PageRange range;
    std::uint64_t operation = 0;
    std::uint32_t transfers = 0;   ///< write-backs under way
    std::vector<FrameRun> frames;  ///< of dirty pages
    template <class Archive>
    void serialize(Archive& archive) {
      archive(keep_bytes, remote, then_to_gpu, range, operation, transfers, frames);
    }
  };
  struct Operation {
    std::uint64_t id = 0;
    std::uint64_t missing = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(id, missing);
    }
  };
  enum Mark : std::uint8_t { prefetched = 1, evicted = 2, awaited = 4, duplicate = 8 };

  Buffer& buffer_of(ManagedPage page) { return buffers_[residency_.owner_index(page)]; }
  const Buffer& buffer_of(ManagedPage page) const { return buffers_[residency_.owner_index(page)]; }
  static std::uint64_t virtual_page(const Allocation& a, ManagedPage page) {
    return a.virtual_page + (page - a.first);
  }

  // managed_faults.cpp
  void form_unit(const DriverContext& context);
  Fault take_next();
  bool serve_without_moving(const Fault& fault, const DriverContext& context);
  bool together(const Fault& first, const Fault& other) const;
  void charge(Unit& unit, Time now);
  void begin_unit(const Unit& unit, const DriverContext& context);
  std::uint64_t warm(std::span<const ManagedPage> pages, const Unit& unit,
                     const DriverContext& context);
  std::uint32_t record(const Unit& unit, PageRange range, bool data);
  void map_remote(const Unit& unit, const Fault& fault, const DriverContext& context);
  void make_writable(const Unit& unit, const Fault& fault, const DriverContext& context);
  Time replay_time(const Unit& unit, bool moves_data, Time now) const;
  bool moves_data(PageRange range) const;
  PageRange widened(PageRange range, const DriverContext& context) const;
  void widen(std::vector<PageRange>& moves, const DriverContext& context) const;

  // managed_migrations.cpp
  /// Its pages are on their way from now on; its number.
  std::uint32_t begin_migration(Migration migration);
  void prefetch_range(PageRange range, std::uint64_t operation, const DriverContext& context);
  /// Faults on pages of the range that waited for them to come; they are forgotten.
  std::vector<Fault> take_awaited(PageRange range);
  void add_migration(Migration migration);
  void start_waiting(const DriverContext& context);
  void start_migration(std::uint32_t index, std::vector<FrameRun> frames,
                       const DriverContext& context);
  Departure& depart(PageRange range, bool keep_bytes, std::uint64_t operation,
                    const DriverContext& context);
  void depart_all(std::uint32_t allocation, std::uint64_t first, std::uint64_t count,
                  bool keep_bytes, bool duplicates_too, std::uint64_t operation,
                  const DriverContext& context);
  void departed(std::uint32_t index, const DriverContext& context);
  bool evict(std::uint64_t pages, const DriverContext& context);
  void give_up(PageRange range, const DriverContext& context);
  void drop_waiting(std::deque<std::uint32_t>::iterator which, const DriverContext& context);
  bool drop_waiting_of_leaving(const DriverContext& context);
  bool somebody_leaves() const;
  bool split_first_waiting(const DriverContext& context);
  void fail_first_waiting(const DriverContext& context);
  bool starved(const DriverContext& context);
  void count_operation(std::uint64_t operation, std::int64_t change);
  void reconsider(const DriverContext& context);

  const Setup setup_;
  Residency residency_;
  std::vector<Buffer> buffers_;      ///< by allocation
  std::vector<std::uint8_t> marks_;  ///< by page
  std::deque<Fault> queue_;          ///< in order of arrival
  TenantTurns turns_;                ///< of the driver
  std::vector<Fault> deferred_;      ///< on pages that leave or are held
  std::vector<Fault> awaited_;       ///< on pages that are on their way
  std::deque<Unit> units_;           ///< in order of `begin`
  Time server_free_;
  std::vector<std::uint64_t> fault_numbers_;  ///< by tenant
  std::uint64_t evictions_ = 0;
  std::vector<Migration> migrations_;
  std::vector<std::uint32_t> free_migrations_;
  std::deque<std::uint32_t> waiting_;  ///< migrations without frames
  std::uint64_t mapping_ = 0;          ///< migrations with frames that are not mapped yet
  std::vector<Departure> departures_;
  std::vector<std::uint32_t> free_departures_;
  std::uint64_t leaving_pages_ = 0, resident_pages_ = 0;
  std::uint64_t arriving_pages_ = 0;  ///< have their frames, no entries yet
  bool spare_preferred_ = true;       ///< pages that prefer the GPU are not evictable now
  PerTenant<TreeDecisions>* tree_evictions_ = nullptr;  ///< of the present choice of victims
  std::vector<Operation> operations_;
  std::vector<std::uint64_t> finished_operations_;
  std::vector<Failure> failures_;  ///< of the current call only
  std::vector<FaultRecord> records_;
};

}  // namespace lockstep
