/// The GPU driver's memory manager: addresses, frames, page tables, and the protocols that map and
/// unmap pages.
///
/// Mapping: frames that are not overwritten whole are zeroed, data come over the link, entries are
/// written; each step waits until the partitions have acknowledged the one before, and then the
/// GMMU is told.  Unmapping: the GMMU is asked, and answers with the entries as they were; the
/// caller then has the frames.  Every tenant has its own address space from
/// `isa::first_global_address` on; every buffer gets whole pages with an unmapped guard page behind
/// it. Source: architecture.md, section 8, rules 7 and 9 to 11; 000, section 2.3 (steps of the
/// driver).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/time/time.hpp"
#include "models/driver/frame_allocator.hpp"
#include "models/driver/page_manager/page_manager.hpp"
#include "models/driver/page_tables.hpp"
#include "models/host_link/host_link.hpp"
#include "models/noc/messages.hpp"

namespace lockstep {

class Outbox;

/// Pages to be mapped in one go.  `count` 0: only the tables are reserved.
struct MapRequest {
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};

  std::uint16_t tenant = 0;
  std::uint64_t page = 0;  ///< virtual
  std::uint64_t count = 0;
  bool paged = true;             ///< it may leave again; false: device memory
  std::uint64_t reserved = 0;    ///< pages that get tables; at least `count`
  std::uint64_t flags = 0;       ///< of the entries
  std::vector<FrameRun> frames;  ///< in the order of the pages; empty: remote
  std::uint64_t remote = 0;      ///< address of the first page in host memory
  std::vector<FrameRun> fresh;   ///< those of them that must read as zero before `data` come
  std::vector<Transfer> data;
  Time not_before;               ///< the GMMU hears of it no earlier
  std::uint32_t owner = nobody;  ///< comes back in Driver::take_mapped

  template <class Archive>
  void serialize(Archive& archive) {
    archive(tenant, page, count, paged, reserved, flags, frames, remote, fresh, data, not_before,
            owner);
  }
};

/// Pages that were unmapped: their entries as the GMMU found them, dirty bits of all SMs included.
struct Unmapped {
  std::uint16_t tenant = 0;
  std::uint64_t page = 0;
  std::uint32_t owner = MapRequest::nobody;
  std::vector<std::uint64_t> entries;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(tenant, page, owner, entries);
  }
};

class Driver {
 public:
  struct Setup {
    std::uint64_t capacity = 0;
    std::uint32_t partitions = 0;
    std::size_t tenants = 0;
    std::unique_ptr<PageManager> page_manager;
    Link to_gmmu;
  };
  explicit Driver(Setup setup);

  /// Virtual page of a new buffer of so many bytes.
  std::uint64_t take_addresses(std::uint16_t tenant, std::uint64_t bytes);
  /// Pages that a buffer of so many bytes has when it is mapped whole.
  std::uint64_t mapped_pages(std::uint64_t bytes) const;
  std::uint64_t granule_pages() const { return page_manager_->granule_pages(); }

  /// Frames for so many pages; empty if memory does not hold them.
  std::vector<FrameRun> take_frames(std::uint64_t pages, bool paged);
  void give_back(std::span<const FrameRun> frames);
  std::uint64_t free_bytes() const { return frames_.free_bytes(); }
  std::uint64_t capacity() const { return frames_.capacity(); }
  /// Bytes that nobody has freed, without the frame at 0 that is never given out.
  std::uint64_t taken_bytes() const { return capacity() - free_bytes() - page_bytes; }
  /// Frames that the tables of so many pages need at most.
  static std::uint64_t table_bytes(std::uint64_t pages);

  void map(MapRequest request, Time now, HostLink& link, Outbox& outbox);
  /// Pages [page, page + count); those not mapped come back as 0.
  void unmap(std::uint16_t tenant, std::uint64_t page, std::uint64_t count, std::uint32_t owner,
             Time now, Outbox& outbox);
  /// Tells the GMMU what the entries are; again, when a fault crossed the news.
  void announce(std::uint16_t tenant, std::uint64_t page, std::uint64_t count, Time now,
                Outbox& outbox);
  /// The page belongs to no buffer.
  void announce_invalid(std::uint16_t tenant, std::uint64_t page, Time now, Outbox& outbox);
  /// Gives back the tenant's tables and addresses; nothing of it may be mapped.
  void end_tenant(std::uint16_t tenant, Time now, Outbox& outbox);

  const PageTables& tables() const { return tables_; }
  /// The frames of mapped pages, in order.
  std::vector<FrameRun> frames_of(std::uint16_t tenant, std::uint64_t page,
                                  std::uint64_t count) const;

  // Answers.  Each may finish something.
  static constexpr std::uint32_t table_write_tag = 0x8000'0000;
  static constexpr std::uint64_t mapping_operation = std::uint64_t{1} << 63;
  void zero_done(const ZeroRange& range, Time now, HostLink& link, Outbox& outbox);
  void transfer_done(const Transfer& transfer, Time now, HostLink& link, Outbox& outbox);
  void write_done(std::uint32_t tag, Time now, HostLink& link, Outbox& outbox);
  void unmapped(const MessageHeader& message);

  Time next_activity() const;
  void act(Time now, Outbox& outbox);
  /// Owners of what has been mapped since the last call.
  std::vector<std::uint32_t> take_mapped() { return std::exchange(mapped_, {}); }
  std::vector<Unmapped> take_unmapped() { return std::exchange(unmapped_, {}); }
  /// Nothing of the tenant is being mapped or unmapped.
  bool idle(std::uint16_t tenant) const { return busy_[tenant] == 0; }
  bool idle() const;
  std::string waiting_for() const;

  void serialize(Archive& archive);

 private:
  /// A MapRequest on its way.
  struct Mapping {
    enum class Stage : std::uint8_t { unused, zeroing, data, entries, waiting };
    Stage stage = Stage::unused;
    MapRequest request;
    std::vector<TableWrite> writes;
    std::vector<FrameRun> zeroing;
    std::uint64_t missing = 0;  ///< answers
    bool new_root = false;      ///< the tenant's first tables
    template <class Archive>
    void serialize(Archive& archive) {
      archive(stage, request, writes, zeroing, missing, new_root);
    }
  };
  struct Unmapping {
    std::uint32_t missing = 0;  ///< spans
    Unmapped result;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(missing, result);
    }
  };

  void set_entries(Mapping& mapping);
  void start_transfers(std::uint32_t index, Time now, HostLink& link, Outbox& outbox);
  /// The 512 pages from here on lie in one aligned large frame.
  bool has_large_frame(std::uint16_t tenant, std::uint64_t page) const;
  void write_entries(std::uint32_t index, Time now, HostLink& link, Outbox& outbox);
  void entries_written(std::uint32_t index, Time now, Outbox& outbox);
  void finish_mapping(std::uint32_t index, Time now, Outbox& outbox);
  /// One of the answers that the mapping's stage waits for.
  void answered(std::uint32_t index, Time now, HostLink& link, Outbox& outbox);
  void send_write(const TableWrite& write, std::uint16_t tenant, std::uint32_t tag, Time now,
                  HostLink& link, Outbox& outbox);

  FrameAllocator frames_;
  PageTables tables_;
  const std::uint32_t partitions_;
  const std::unique_ptr<PageManager> page_manager_;
  Link to_gmmu_;
  std::vector<std::uint64_t> next_address_;  ///< by tenant
  std::vector<std::uint32_t> busy_;          ///< by tenant: mappings and unmappings
  std::vector<Mapping> mappings_;
  std::vector<std::uint32_t> free_mappings_;
  /// Mappings that are written and wait until they may be announced, by (time, index).
  std::vector<std::pair<Time, std::uint32_t>> announcements_;
  std::vector<Unmapping> unmappings_;
  std::vector<std::uint32_t> free_unmappings_;
  std::vector<std::uint32_t> mapped_;
  std::vector<Unmapped> unmapped_;
};

}  // namespace lockstep
