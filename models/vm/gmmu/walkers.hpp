/// Page walks: their MSHRs, their queue, and the walkers that read four levels of entries.
///
/// One walk per page serves all requests for the page meanwhile, and the notices of first stores to
/// it.  The walk ends with an atomic OR when accessed or dirty bits must be set.  In a large page
/// (`large` in the level-3 entry) it reads the first level-4 entry, and its result holds for the
/// whole large page. A walk of a page that is being unmapped is stale: it may have read an entry
/// that the exchange has taken, so it begins again after the exchange.
/// Sources: 004, sections 6.4 (walker), 7.3.3 (`large`); 000, Table 1; 001, section B.2 (fixed
/// latency); architecture.md, section 8, rule 7.
///
/// Simplified: walks get walkers in the order of their requests. Cost model: a walker is held from
/// the first lookup to the last entry, or for `vm.walk_latency`.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "models/vm/gmmu/table_memory.hpp"
#include "models/vm/gmmu_statistics.hpp"
#include "models/vm/messages.hpp"
#include "models/vm/mirror.hpp"
#include "models/vm/translation/translation.hpp"

namespace lockstep {

struct Walk {
  std::uint64_t page = 0;
  std::uint16_t tenant = 0;
  std::uint8_t level = 0;  ///< level of the entry that is looked up or read
  bool used = false;
  bool active = false;  ///< the walk has a walker
  bool stale = false;
  bool written = false;   ///< the walk ends with setting the dirty bit
  bool large = false;     ///< the level-3 entry maps a large page
  bool done = false;      ///< `result` is there; 0: not present
  PhysicalAddress place;  ///< place of the entry at `level`
  PageTableEntry result;
  std::int64_t asked = 0, queued = 0, begun = 0;  ///< cycles of request, queueing and begin
  std::vector<TranslateRequest> requests;         ///< requests that the walk serves

  std::uint64_t table_page() const {
    return large ? page / pages_per_large * pages_per_large : page;
  }
  TenantPage where() const { return {TenantId{tenant}, VirtualPage{page}}; }
  /// Returns the page whose entries the walk reads.
  TenantPage table_where() const { return {TenantId{tenant}, VirtualPage{table_page()}}; }
  bool for_store() const {
    for (const TranslateRequest& r : requests)
      if (r.write) return true;
    return false;
  }
  void serialize(Archive& archive);
};

class Walkers {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  /// `mirror` is read instead of memory when walks have a fixed latency.
  Walkers(const VmParameters& parameters, std::size_t tenants, TranslationPath& path,
          TableMemory& memory, const PageTableMirror& mirror, GmmuStatistics& statistics)
      : parameters_(parameters),
        level_latency_(path.timing().level.count()),
        path_(path),
        memory_(memory),
        mirror_(mirror),
        statistics_(statistics),
        roots_(tenants),
        free_walkers_(parameters.walkers) {}

  Walk& operator[](std::uint32_t index) { return walks_[index]; }
  std::uint32_t find(TenantPage where) const;
  /// Returns the tenant of the walk that last released a walker and its MSHR.
  std::uint16_t last_tenant() const { return last_tenant_; }
  /// Returns whether an MSHR is left for a page to be translated; notices of stores need none.
  bool has_room() const { return translations_ < parameters_.l2_tlb.mshrs; }
  bool idle() const { return used_ == 0; }

  /// Sets the tenant's level-1 table.  Walks of the tenant that have begun are stale: their tables
  /// may be other pages by now.
  void set_root(TenantId tenant, PhysicalAddress table);
  /// Joins the walk for the page, or begins one.
  void translate(const TranslateRequest& request, std::int64_t cycle);
  void written(TenantPage where, std::int64_t cycle);

  /// Gives a free walker to the next walk that `held` does not hold back; `none` if there is none.
  template <class Held>
  std::uint32_t begin(GmmuCycle& cycle, Held&& held) {
    while (free_walkers_ > 0 && !queue_.empty()) {
      const std::uint32_t index = queue_.front();
      queue_.pop_front();
      if (held(walks_[index].where())) {
        set_aside_.push_back(index);
        continue;
      }
      begin_walk(index, cycle);
      return index;
    }
    return none;
  }
  /// A read has come back.  Look at `done` afterwards.
  void read_done(std::uint32_t index, const std::byte* sector, GmmuCycle& cycle);
  /// Advances the next walk whose lookup or fixed latency ends in this cycle, and returns it;
  /// `none`: no more.
  std::uint32_t timer_done(GmmuCycle& cycle);
  std::int64_t next_timer() const {
    return timers_.empty() ? GmmuCycle::never : timers_.front().first;
  }

  /// Gives the walker up; the walk waits for another.
  void again(std::uint32_t index, std::int64_t cycle);
  /// The walk has been dealt with.
  void end(std::uint32_t index, std::int64_t cycle);

  /// Marks walks for pages of a span as stale, because the pages are being unmapped. Calls
  /// stored(where) for each page with a notice that did not reach its entry.
  template <class Stored>
  void unmap(const PageSpan& span, Stored&& stored) {
    for (Walk& walk : walks_) {
      if (!walk.used || !span.covers(walk.where())) continue;
      if (std::exchange(walk.written, false)) stored(walk.where());
      walk.stale = walk.active;
    }
  }
  /// Lets the walks go on that were held back for a span.
  void release(const PageSpan& span, std::int64_t cycle);

  std::string waiting_for() const;
  void serialize(Archive& archive);

 private:
  std::uint32_t make(TenantPage where, std::int64_t cycle);
  void begin_walk(std::uint32_t index, GmmuCycle& cycle);
  void free_walker(const Walk& walk, std::int64_t cycle);
  void go_to(std::uint32_t index, unsigned level, PhysicalAddress table, GmmuCycle& cycle);
  void read(std::uint32_t index, GmmuCycle& cycle);
  void descend(std::uint32_t index, PageTableEntry entry, GmmuCycle& cycle);

  const VmParameters parameters_;
  const std::int64_t level_latency_;
  TranslationPath& path_;
  TableMemory& memory_;
  const PageTableMirror& mirror_;
  GmmuStatistics& statistics_;

  std::vector<PhysicalAddress> roots_;  ///< level-1 table of each tenant
  std::vector<Walk> walks_;
  std::vector<TlbKey> keys_;  ///< key of each walk; none: free
  std::vector<std::uint32_t> free_;
  std::deque<std::uint32_t> queue_;
  std::vector<std::uint32_t> set_aside_;  ///< walks set aside until their pages are unmapped
  std::deque<std::pair<std::int64_t, std::uint32_t>> timers_;
  std::uint32_t free_walkers_, used_ = 0, translations_ = 0;
  std::uint16_t last_tenant_ = 0;  ///< tenant of the walk that last released a walker
};

}  // namespace lockstep
