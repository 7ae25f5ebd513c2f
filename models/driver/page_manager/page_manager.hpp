#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/parameters/policy.hpp"
#include "core/statistics/statistics.hpp"
#include "core/time/time.hpp"
#include "models/driver/page_manager/frame_allocator.hpp"
#include "models/driver/page_manager/page_services.hpp"
#include "models/driver/page_manager/page_tables.hpp"
#include "models/noc/address_mapping.hpp"

namespace lockstep {

/// Plug point `page_manager`: it chooses page sizes and frames.
///
/// The page manager owns the frames of GPU memory and the page tables; no other part changes them.
/// The driver asks it for frames and entries, reports pages that have come and gone, and carries
/// out its requests (PageServices): a policy may coalesce, splinter and copy pages at each report.
///
/// Contract: paged memory (managed memory, whose pages come and go) is mapped and unmapped in
/// multiples of `granule_pages`.  `allocate` returns distinct frames for a range of pages in their
/// order, or nothing when memory does not hold so many.  A policy keeps no frame for ever: when all
/// are freed, memory holds as much as at first.  Decisions depend only on the driver's calls.
/// Source: 004, sections 7.2.1 (GPU-MMU with 4 KiB and with 2 MiB pages) and 7.3 (what Mosaic's
/// allocator, coalescer and compaction need).
class PageManager {
 public:
  struct Setup {
    std::uint64_t capacity = 0;
    std::size_t tenants = 0;
    AddressMapping mapping = {};
    std::uint64_t channel_bytes_per_second = 0;
    std::uint64_t seed = 0;
    std::vector<Frame> foreign_pages = {};  ///< frames that foreign pages occupy from the start
  };
  explicit PageManager(const Setup& setup);
  PageManager(const PageManager&) = delete;
  PageManager& operator=(const PageManager&) = delete;
  virtual ~PageManager() = default;

  // Decisions of a policy.
  virtual std::uint64_t granule_pages() const { return 1; }
  /// Returns the number of pages of which GPU memory is a multiple.
  virtual std::uint64_t capacity_unit() const { return granule_pages(); }
  /// Returns whether every 512 pages become a large page when they are mapped, if the pages and
  /// their frames are aligned.
  virtual bool maps_large(bool /*paged*/) const { return false; }
  virtual std::vector<FrameRun> allocate(const TenantPages& pages, bool paged) = 0;
  /// Returns frames for `pages` pages that are not known yet: the GPU will map some by itself.
  virtual std::vector<FrameRun> allocate_unowned(std::uint64_t pages) {
    return allocator().allocate_scattered(pages * page_bytes);
  }
  /// Notes that a buffer got addresses, perhaps again after a release. Their tables exist.
  virtual void reserved(const TenantPages& /*pages*/) {}
  /// Frees frames of the tenant that are not used any more.
  virtual void free(TenantId tenant, std::span<const FrameRun> frames, PageServices& services);
  /// Keeps a freed part of a large page of device memory. Returns whether it stays mapped, as holes
  /// without an owner, until the large page is splintered or goes.
  virtual bool leave_holes(const TenantPages& /*pages*/, PageServices& /*services*/) {
    return false;
  }
  virtual bool is_hole(PhysicalAddress /*page*/) const { return false; }
  /// Prepares frames for coming pages. Returns false while room for them is being made; the caller
  /// must wait.
  virtual bool settle(const TenantPages& /*pages*/, PageServices& /*services*/) { return true; }
  /// Returns whether no SM shall issue just now.
  virtual bool holds_issue() const { return false; }
  /// Returns how long a partition takes to copy a page.
  virtual Time copy_time() const { return Time{}; }
  /// Notes that the pages are mapped and that their data have come.
  virtual void transfer_finished(const TenantPages& /*pages*/, PageServices& /*services*/) {}
  /// A rearrangement that the page manager asked for is done.
  virtual void rearranged(const TenantPages& /*pages*/, PageServices& /*services*/) {}
  /// Notes that a foreign page has been moved to the frame `to`.
  virtual void foreign_moved(std::uint32_t number, Frame to, PageServices& services);
  /// Saves or restores; a policy adds its own state to the frames and tables.
  virtual void serialize(Archive& archive);
  /// Returns counters of the page manager, by the schema in its PageManagerFactory.
  virtual StatisticsView statistics() const { return {}; }

  const FrameAllocator& frames() const { return frames_; }
  /// Returns where foreign pages lie, by their numbers.
  const std::vector<Frame>& foreign_pages() const { return foreign_pages_; }
  const PageTables& tables() const { return tables_; }
  /// Returns the most bytes that the tables of `pages` pages need.
  static std::uint64_t table_bytes(std::uint64_t pages);

  // Changes of page tables while the driver maps and unmaps; entries that are to be written to GPU
  // memory join `writes`.
  /// Makes the tables for the pages. Returns the frames of new tables, which must be zeroed.
  std::vector<FrameRun> reserve(const TenantPages& pages, std::vector<TableWrite>& writes);
  void map(const TenantPages& pages, std::span<const FrameRun> frames, std::uint64_t flags,
           bool paged, std::vector<TableWrite>& writes);
  void map_remote(const TenantPages& pages, std::uint64_t remote, std::uint64_t flags,
                  std::vector<TableWrite>& writes);
  void mark_untouched(const TenantPages& pages, std::vector<TableWrite>& writes);
  /// The GPU has mapped a page by itself.
  void mapped_by_gpu(TenantId tenant, VirtualPage page, PageTableEntry entry) {
    tables_.learn(tenant, page, entry);
  }
  void set(TenantId tenant, VirtualPage page, PageTableEntry entry,
           std::vector<TableWrite>& writes) {
    tables_.set(tenant, page, entry, writes);
  }
  /// Makes a large page of pages that are mapped.
  void coalesce(TenantId tenant, VirtualPage first, std::vector<TableWrite>& writes) {
    tables_.set_large(tenant, first, true, writes);
  }
  /// Notes that the GMMU has taken the entries away, and with them the large bit.
  void unmapped(const TenantPages& pages);
  virtual void end_tenant(TenantId tenant);

 protected:
  FrameAllocator& allocator() { return frames_; }
  // Frames of page tables.
  virtual PhysicalAddress take_table_frame(TenantId tenant);
  virtual void free_table_frame(PhysicalAddress frame);
  /// Returns frames for the pages, as many as possible in aligned large frames.
  std::vector<FrameRun> allocate_large_first(const TenantPages& pages);
  /// Allocates frames for the pages, all in aligned large frames.
  std::vector<FrameRun> allocate_large(const TenantPages& pages);
  void give_back(std::span<const FrameRun> frames);

 private:
  FrameAllocator frames_;
  PageTables tables_;
  std::vector<Frame> foreign_pages_;
};

/// Needs of a page manager from the rest of the machine.
struct PageManagerNeeds {
  bool copies_pages = false;  ///< pages can be copied: each lies in one partition
  bool stalls = false;        ///< SMs can stand still at any time
  bool all_memory = false;    ///< a tenant may get any frame
};
struct PageManagerFactory {
  std::unique_ptr<PageManager> (*make)(const PolicyChoice&, const PageManager::Setup&);
  /// Schema of the page manager's own counters, if it has any.
  const StatisticsSchema& (*statistics)() = nullptr;
  PageManagerNeeds (*needs)(const PolicyChoice&) = nullptr;
};
using PageManagerRow = PolicyRegistry<PageManagerFactory>::Row;
/// Makes a policy that takes no parameters of its own.
template <class Policy>
std::unique_ptr<PageManager> make_page_manager_as(const PolicyChoice&,
                                                  const PageManager::Setup& setup) {
  return std::make_unique<Policy>(setup);
}
const PolicyRegistry<PageManagerFactory>& page_managers();
const PolicyList& page_manager_policies();
std::unique_ptr<PageManager> make_page_manager(const PolicyChoice& choice,
                                               const PageManager::Setup& setup);

}  // namespace lockstep
