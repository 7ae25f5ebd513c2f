/// State of every page of managed memory, as the driver knows it.
///
/// A page goes from the host to the GPU (expect, arrive), back (leave, come_home), or stays at the
/// host and is mapped there (expect, stay_remote).  A page without content may be offered to the
/// GPU, which maps it by itself.  Each of these steps changes the page's place, the counts of its
/// buffer and those of all pages, and tells the eviction policy.
/// Source: 001, sections B.2 and C.1; architecture.md, section 8, rule 7.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "models/driver/buffer_directory.hpp"
#include "models/driver/eviction/eviction.hpp"
#include "models/driver/host_cycle.hpp"
#include "models/driver/host_statistics.hpp"
#include "models/driver/residency.hpp"
#include "models/driver/shared/shared_pages.hpp"
#include "models/workload/workload.hpp"

namespace lockstep {

class ManagedPages {
 public:
  enum Mark : std::uint8_t {
    prefetched = 1,  ///< no access waited for the page when it came
    evicted = 2,
    awaited = 4,    ///< a fault waits for the page
    duplicate = 8,  ///< the host has the same bytes (read-mostly)
    offered = 16,   ///< at the host without content: the GPU may map the page by itself
    newer = 32,  ///< the host's bytes may be old: other GPUs have stored to the page, or may have
  };
  struct Buffer {
    PreferredPlace preferred = PreferredPlace::none;
    bool read_mostly = false;
    std::uint32_t holds = 0;  ///< number of times the CPU has taken the buffer: faults on it wait
    /// Numbers of pages.
    std::uint64_t resident = 0, duplicates = 0, moving = 0, remote = 0, offered = 0;
    static constexpr std::uint32_t not_shared = ~std::uint32_t{0};
    std::uint32_t shared = not_shared;  ///< number in SharedPages, if several GPUs have the buffer
    bool is_shared() const { return shared != not_shared; }
    template <class Archive>
    void serialize(Archive& archive) {
      archive(preferred, read_mostly, holds, resident, duplicates, moving, remote, offered, shared);
    }
  };

  /// Makes the pages; pages move in multiples of `granule`.
  ManagedPages(Eviction& eviction, std::uint64_t granule)
      : eviction_(eviction), granule_(granule) {}

  /// Adds a new buffer, all at the host.  Returns the number of its allocation.
  std::uint32_t add(TenantId tenant, BufferId buffer, VirtualPage page, std::uint64_t pages);
  void remove(std::uint32_t allocation);

  // Pages that other GPUs of their tenant have, too.
  /// Joins the shared pages.  `gpu`: number of this GPU there.
  void join(SharedPages& shared, std::uint32_t gpu) {
    shared_ = &shared;
    gpu_ = gpu;
  }
  /// Notes that other GPUs have the allocation, as buffer `declared` of the tenant with this
  /// number.
  void share(std::uint32_t allocation, std::uint32_t tenant, BufferId declared);
  /// Returns whether other GPUs let a page come here, or become writable here; if not, its fault
  /// waits.
  bool may_come(ManagedPage page, bool write, Time now);
  /// Returns whether a fault on the page waits for other GPUs.
  bool waits_for_others(ManagedPage page) const;
  /// Returns whether other GPUs keep the page from migrating along with others.
  bool is_elsewhere(ManagedPage page) const;
  /// Returns whether a page that may come stays on another GPU and is mapped there; borrow() names
  /// the place.
  bool is_to_be_mapped(ManagedPage page) const;
  /// Returns where the page lies, for this GPU to map.
  std::vector<FrameRun> borrow(ManagedPage page);
  /// Returns a page that the GPU maps at this address of another GPU; none: it maps no such page.
  std::optional<ManagedPage> borrowed_at(std::uint64_t address) const;
  /// Notes that the GPU should have a page that it maps.  Returns false if the page is already on
  /// its way.
  bool attract(ManagedPage page);
  bool is_attracted(ManagedPage page) const;
  /// Asks GPUs that map the leaving pages to give them up first.  Returns whether there are any.
  bool recall(PageRange range);
  bool is_borrowed(PageRange range) const;
  /// Notes that pages on another GPU are mapped here.
  void tell_mapping(PageRange range);

  // Pages that come over the fabric, or go.
  /// Starts the transfer of pages for which there are frames. Returns whether other GPUs must give
  /// pages up first.
  bool fetch(PageRange range);
  bool is_ready(PageRange range) const;
  /// Returns whether another GPU waits for the leaving page.
  bool is_awaited(ManagedPage page) const;
  /// Notes that the pages of a unit have left the GPU, except for their frames.
  void park(PageRange unit, std::uint32_t departure, std::vector<FrameRun> frames, bool is_newer);
  /// Sends a unit to the frames `to` for a migration. Returns false if no other GPU has the unit.
  bool bring(PageRange unit, const std::vector<FrameRun>& to, std::uint32_t migration,
             const HostCycle& cycle);
  /// Offers pages that leave a full GPU to other GPUs.
  void spill(PageRange range);
  /// Claims a unit that another GPU gives up.  Returns its pages; none: another GPU wants the unit,
  /// or it is not all at the host as far as this GPU knows.
  std::optional<PageRange> claim_spilled(std::uint32_t allocation, std::uint64_t unit);
  /// Tells the prefetcher and the eviction policy that expected pages have come.
  void tell_arrival(PageRange range, bool writable, Time now);
  /// Returns the pages of a range of units, the numbers that other GPUs use.
  PageRange pages_of_units(std::uint32_t allocation, std::uint64_t first,
                           std::uint64_t count) const;

  const Residency& residency() const { return residency_; }
  PagePlace place(ManagedPage page) const { return residency_.place(page); }
  const Allocation& owner(ManagedPage page) const { return residency_.owner(page); }
  VirtualPage virtual_page(ManagedPage page) const { return owner(page).virtual_page_of(page); }
  Buffer& buffer(std::uint32_t allocation) { return buffers_[allocation]; }
  const Buffer& buffer(std::uint32_t allocation) const { return buffers_[allocation]; }
  Buffer& buffer_of(ManagedPage page) { return buffers_[residency_.owner_index(page)]; }
  const Buffer& buffer_of(ManagedPage page) const { return buffers_[residency_.owner_index(page)]; }
  /// Returns whether a page of the range has content at the host.
  bool has_data(PageRange range, const BufferDirectory& directory) const;

  std::uint64_t granule() const { return granule_; }
  /// Returns the granules that hold the range, as far as its allocation goes.
  PageRange whole_granules(PageRange range) const;
  /// Returns whether the pages come as a copy. A store to a read-mostly buffer takes only its own
  /// pages from the host; a large entry has one permission, so that large pages are never copies.
  bool comes_as_copy(ManagedPage page) const {
    if (granule_ != 1) return false;
    const Buffer& buffer = buffer_of(page);
    return buffer.read_mostly ||
           (buffer.is_shared() && shared_->copies_reads(buffer.shared, unit_of(page), gpu_));
  }

  bool has(ManagedPage page, Mark mark) const { return (marks_[page.value()] & mark) != 0; }
  void set(PageRange range, Mark mark);
  void clear(PageRange range, int marks);

  // Steps of pages, all of one buffer.
  void expect(PageRange range);
  void give_up(PageRange range);
  /// The pages have got their frames.
  void occupy(PageRange range) { arriving_ += range.count; }
  void arrive(PageRange range, bool writable, HostStatistics& statistics);
  void stay_remote(PageRange range);
  /// Marks the GPU's copies of host pages as on their way again, since they are about to become the
  /// only ones and must not be taken meanwhile.
  void reopen(PageRange range, HostStatistics& statistics);
  void leave(PageRange range, HostStatistics& statistics);
  /// Notes the return of pages to the host.  `in_memory`: number of them that were in GPU memory.
  void come_home(PageRange range, std::uint64_t in_memory);

  // Pages that neither side has used.
  void offer(std::uint32_t allocation);
  /// Withdraws the offered pages of the range: the GPU does not map them from now on.
  void withdraw(PageRange range);
  /// Notes that the GPU has mapped a page by itself; returns whether that page is leaving.
  bool mapped_by_gpu(ManagedPage page, HostStatistics& statistics);

  /// Returns the number of pages in GPU memory; of pages on their way off it; of pages with frames
  /// but without entries yet.
  std::uint64_t resident() const { return resident_; }
  std::uint64_t leaving() const { return leaving_; }
  std::uint64_t arriving() const { return arriving_; }
  /// Returns the pages of an allocation in GPU memory.
  std::vector<PageRange> resident_ranges(std::uint32_t allocation) const;

  void serialize(Archive& archive);

 private:
  void place_all(PageRange range, PagePlace place);
  void settle(PageRange range, HostStatistics& statistics);
  std::uint64_t unit_of(ManagedPage page) const { return (page - owner(page).first) / granule_; }
  SharedRange units_of(PageRange range) const;

  Eviction& eviction_;
  const std::uint64_t granule_;
  Residency residency_;
  std::vector<Buffer> buffers_;      ///< one entry per allocation
  std::vector<std::uint8_t> marks_;  ///< marks of each page
  std::uint64_t resident_ = 0, leaving_ = 0, arriving_ = 0;
  SharedPages* shared_ = nullptr;  ///< pages of buffers on several GPUs
  std::uint32_t gpu_ = 0;
  /// Pages that are or were mapped on other GPUs, by their addresses.
  std::map<std::uint64_t, ManagedPage> borrowed_;
};

/// Returns whether some page of a range comes as a copy.
inline bool any_comes_as_copy(const ManagedPages& pages, PageRange range) {
  for (ManagedPage page = range.first; page < range.end(); ++page)
    if (pages.comes_as_copy(page)) return true;
  return false;
}

/// Returns the part of a range in each granule, in order.
std::vector<PageRange> granules_in(const ManagedPages& pages, PageRange range);

}  // namespace lockstep
