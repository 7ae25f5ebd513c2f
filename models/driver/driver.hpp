/// The GPU driver's memory manager: addresses, frames, page tables, and the protocols that map and
/// unmap pages.
///
/// Frames and tables belong to the page manager, a plug point; pages are mapped (mapper.hpp),
/// unmapped (unmapper.hpp) and, when the page manager wants it, rearranged (rearranger.hpp).  Every
/// tenant has its own address space from `isa::first_global_address` on; every buffer gets whole
/// pages with an unmapped guard page behind it, or shares one with others (small_buffers.hpp).
/// Source: architecture.md, section 8, rules 7 and 9 to 11; 000, section 2.3 (steps of the driver).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/memory/round_up.hpp"
#include "models/driver/mapping/mapper.hpp"
#include "models/driver/mapping/rearranger.hpp"
#include "models/driver/mapping/zeroed_frames.hpp"
#include "models/driver/small_buffers.hpp"
#include "models/host_link/host_link.hpp"
#include "models/vm/vm_parameters.hpp"

namespace lockstep {

class Driver {
 public:
  struct Setup {
    std::uint32_t partitions = 0;
    std::size_t tenants = 0;
    std::unique_ptr<PageManager> page_manager;
    Link to_gmmu;
    DevicePages device_pages = DevicePages::fitting;
  };
  explicit Driver(Setup setup);
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// Returns the first page of a new buffer of `bytes` bytes. A buffer with a `place` already has
  /// addresses there, and later buffers follow behind it.
  VirtualPage take_addresses(TenantId tenant, std::uint64_t bytes,
                             std::optional<std::uint64_t> place = {}, bool device = false);
  /// Returns the pages of a buffer of `bytes` bytes that is mapped whole; `device`: the buffer is
  /// device memory placed by the driver.
  std::uint64_t mapped_pages(std::uint64_t bytes, bool device = false) const {
    const std::uint64_t granule =
        device && large_device_pages_ ? pages_per_large : page_manager_->granule_pages();
    return round_up(bytes, granule * page_bytes) / page_bytes;
  }
  /// Returns whether a device buffer of `bytes` bytes shares a page with others (SmallBuffers).
  bool shares_page(std::uint64_t bytes) const {
    return shares_device_pages_ && bytes <= SmallBuffers::most_bytes;
  }
  const PageManager& page_manager() const { return *page_manager_; }

  /// Returns frames for pages; empty if memory does not hold them.
  std::vector<FrameRun> take_frames(const TenantPages& pages, bool paged) {
    return page_manager_->allocate(pages, paged);
  }
  void give_back(TenantId tenant, std::span<const FrameRun> frames, const HostCycle& cycle);
  std::uint64_t free_bytes() const { return page_manager_->frames().free_bytes(); }
  /// Returns the bytes in use, without the frame at 0 (which is never given out), foreign pages and
  /// frames that lie ready for handlers of the GPU.
  std::uint64_t taken_bytes() const {
    return page_manager_->frames().capacity() - free_bytes() - zeroed_.bytes() -
           (page_manager_->foreign_pages().size() + 1) * page_bytes;
  }
  ZeroedFrames& zeroed_frames() { return zeroed_; }
  const ZeroedFrames& zeroed_frames() const { return zeroed_; }

  void map(MapRequest request, const HostCycle& cycle);
  /// Unmaps pages; the owner gets their entries in take_unmapped().
  void unmap(const TenantPages& pages, UnmappingOwner owner, const HostCycle& cycle);
  /// Takes device memory away that is part of a buffer.
  void free_part(const TenantPages& pages, const HostCycle& cycle);
  /// Returns false while the page manager makes room for the pages.
  bool settle(const TenantPages& pages, const HostCycle& cycle);
  /// Tells the GMMU the pages' entries, again if a fault crossed the first message.
  void announce(const TenantPages& pages, const HostCycle& cycle);
  /// The page belongs to no buffer.
  void announce_invalid(TenantId tenant, VirtualPage page, const HostCycle& cycle);
  /// Gives back the tenant's tables and addresses.  Precondition: none of its pages is mapped.
  void end_tenant(TenantId tenant, const HostCycle& cycle);

  /// Notes that the GPU has mapped neighbouring pages by itself.
  void mapped_by_gpu(const TenantPages& pages, std::span<const std::uint64_t> entries,
                     const HostCycle& cycle);

  /// The GMMU hears of a grid's begin or end.
  void mark_grid(MessageKind kind, const GridMark& mark, const HostCycle& cycle) {
    news_.mark(kind, mark, cycle);
  }

  const PageTables& tables() const { return page_manager_->tables(); }
  /// Returns whether the page manager is having the pages rearranged: their entries and frames are
  /// invalid now, and the GMMU will be told of new ones.
  bool rearranges(const TenantPages& pages) const { return rearranger_.holds(pages); }

  // Answers.  Each may finish something.
  void zero_done(const ZeroRange& range, const HostCycle& cycle);
  void transfer_done(const Transfer& transfer, const HostCycle& cycle);
  /// Takes a partition's answer to a request of the driver.
  void memory_answered(const MessageHeader& message, const HostCycle& cycle);
  void page_copied(const PageCopy& copy, const HostCycle& cycle);
  void unmapped(const MessageHeader& message, const HostCycle& cycle);

  Time next_activity() const { return mapper_.next_activity(); }
  void act(const HostCycle& cycle);
  /// Returns the owners of the pages mapped since the last call.
  std::vector<std::uint32_t> take_mapped() { return std::exchange(mapped_, {}); }
  std::vector<Unmapped> take_unmapped() { return std::exchange(unmapped_, {}); }
  /// Returns whether no page of the tenant is being mapped, unmapped or rearranged.
  bool idle(TenantId tenant) const { return busy_[tenant.value()] == 0; }
  bool idle() const;
  std::string waiting_for() const;

  void serialize(Archive& archive);

 private:
  class Services;
  /// Pages that will be unmapped when their rearrangement is over.
  struct Postponed {
    TenantPages pages;
    UnmappingOwner owner = nobody_unmaps;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(pages, owner);
    }
  };

  void finish_mappings(const HostCycle& cycle);
  void finish_rearrangements(const HostCycle& cycle);

  const std::unique_ptr<PageManager> page_manager_;
  const bool large_device_pages_, shares_device_pages_;
  GmmuNews news_;
  Mapper mapper_;
  Unmapper unmapper_;
  Rearranger rearranger_;
  ZeroedFrames zeroed_;
  std::vector<std::uint64_t> next_address_;  ///< next free address of each tenant
  /// Mappings, unmappings and rearrangements of each tenant under way.
  std::vector<std::uint32_t> busy_;
  std::vector<Postponed> postponed_;
  std::uint64_t foreign_moves_ = 0;  ///< moves of foreign pages under way
  std::vector<std::uint32_t> mapped_;
  std::vector<Unmapped> unmapped_;
};

}  // namespace lockstep
