/// The SM's side of virtual memory: requests to the GMMU, its answers, and the lines that leave
/// when a page is there.
///
/// The TLB never translates a page that has parked lines waiting for an answer: a later access
/// finds no entry and parks behind them.
/// Source: architecture.md, section 8, rules 6 and 7; 001, section B.2 (Nack-Replayable, replay).
///
/// Simplified: a store to a page that is there but must not be written takes the entry out of the
/// TLB until the store has gone, so that loads behind it cannot pass.
#pragma once

#include <span>
#include <vector>

#include "models/sm/parameters/sm_context.hpp"
#include "models/sm/parameters/sm_setup.hpp"
#include "models/sm/ports/sm_ports.hpp"
#include "models/sm/translation/fault_waits.hpp"
#include "models/sm/translation/gpc_tlb.hpp"
#include "models/sm/translation/l1_tlb.hpp"
#include "models/sm/translation/parked_lines.hpp"
#include "models/sm/translation/parked_pages.hpp"
#include "models/vm/messages.hpp"
#include "models/vm/mirror.hpp"

namespace lockstep {

class Translation {
 public:
  Translation(const SmContext& sm, ParkedLines& lines);

  // Lines that are looked up.
  /// Returns whether the TLB has the page and a store needs nothing more; `physical` then
  /// translates.
  bool find(TenantId tenant, VirtualAddress line, bool write) {
    return tlb_.find(TlbKey::base({tenant, page_of(line)}), write);
  }
  PhysicalAddress physical(VirtualAddress line) const { return tlb_.physical(line); }
  bool remote() const { return tlb_.remote(); }
  enum class Lookup : std::uint8_t { found, found_behind, parked, wait, refused };
  /// Results when the TLB lacks the page. found_behind: the GPC's TLB has it. refused: the page is
  /// not in GPU memory either, and the line is to be squashed.
  Lookup look_up(Access& access, unsigned group, SmCycle now);
  /// Returns whether a page was refused that nothing may pass.
  bool blocked() const {
    return pages_.faulted() != 0 && constants_.setup.replay == ReplayMode::block_tlb;
  }
  /// Gives up the queue's reference to the parked copy.  Returns whether it was the last: no line
  /// needs the copy either.
  bool release(std::uint16_t parked) { return pages_.release(parked); }

  // Returns whether there are parked lines whose page has come.
  bool has_lines_to_leave() const { return !pages_.draining().empty(); }
  struct Line {
    Access* access = nullptr;  ///< nullptr: the line had to ask again
    unsigned group = 0;
    PhysicalAddress physical;
    bool remote = false;
  };
  Line next_line(SmCycle now);
  /// Notes that the line has left.  Returns whether it was the last of its access.
  bool line_left(SmCycle now);

  /// Fault on a refused page.
  struct Fault {
    std::uint32_t position = 0;  ///< granules that were pending before the page
    bool handled = false;        ///< true: the GPU handles the fault by itself
  };
  Fault fault_on(TlbKey key) const {
    const std::uint16_t miss = pages_.find_miss(key);
    if (miss == ParkedPages::none) return {};
    return {pages_.miss(miss).position, pages_.miss(miss).handled};
  }

  // Messages from the GMMU.
  /// Handles an answer.  `blocks_in_memory`: the answer also concerns blocks in memory, which find
  /// out when they are back whether the mistake is theirs.
  void on_answer(const TranslationAnswer& answer, SmCycle now, bool blocks_in_memory = false);
  void on_pages_mapped(const PagesMapped& mapped, std::span<const std::byte> entries);
  void on_replay(const PageNotice& notice, SmCycle now);
  void on_flush(TenantId tenant);
  /// Notes that the squashed access which would have asked again for this page, now present, has
  /// left the SM.
  void nobody_asks_again(TlbKey key, SmCycle now);
  /// Drops translations of a span.  Returns a mask: bit i means that this SM stored to page i.
  PageBits shoot_down(const PageSpan& span, SmCycle now);

  /// Calls forget(access) for each line that the tenant, which has ended, has parked.
  template <class Forget>
  void drop_tenant(TenantId tenant, Forget&& forget, SmCycle now);
  void count_fault_waits(SmCycle up_to) { waits_.count(up_to); }
  /// Updates the set of waiting warps, because warps have begun or ceased to have squashed lines,
  /// or have left or returned with them.
  void find_fault_waits(SmCycle now) {
    waits_.count(now);
    waits_.find(pages_, lines_.stopped_warps());
  }

  std::string waiting_for() const;
  void warm_hot() const { tlb_.warm_hot(); }
  void serialize(Archive& archive) {
    archive.section("sm/translation", 8);
    archive(tlb_, gpc_, pages_, known_, waits_, has_small_pages_);
  }

 private:
  bool recall(TlbKey key, const Access& access, SmCycle now);
  /// Looks the page up in the GPC's TLB.  Returns true if it was there; the L1 TLB then has it,
  /// too.
  bool find_in_gpc(TlbKey key, const Access& access, SmCycle now);
  void note_store(TlbKey key, SmCycle now);
  void ask(std::uint16_t miss, SmCycle now);
  /// Lets the miss wait if another miss in the same large page is under way. Returns whether it
  /// waits.
  bool hold(std::uint16_t miss);
  /// Lets misses ask that were held back for the answer for `key` and did not get their translation
  /// from it.
  void ask_held(TlbKey key, SmCycle now);
  void page_found(TlbKey key, std::uint16_t miss, PageTableEntry entry, SmCycle now);
  void page_refused(std::uint16_t miss, const TranslationAnswer& answer, SmCycle now);
  /// The lines parked for the page leave it, to come again.
  void squash_lines(std::uint16_t miss, SmCycle now);
  /// A replay has named the refused page.
  void page_replayed(std::uint16_t miss, SmCycle now);
  /// Tells policies which warps waited for the page.
  void tell_waiting(std::uint16_t miss, SmCycle now) const;
  void count_fault(std::uint16_t miss, SmCycle now);
  void page_invalid(std::uint16_t miss, bool blocks_in_memory, SmCycle now);
  bool can_leave(std::uint16_t miss, PageTableEntry entry) const;
  void start_draining(std::uint16_t miss, PageTableEntry entry, SmCycle now);
  void page_done(std::uint16_t miss, SmCycle now);
  /// The page has come, or never will: the fault's wait ends.
  void end_fault_wait(std::uint16_t miss, SmCycle now);
  /// Tells the GMMU that the lines of a refused page have gone out, if the GMMU waits for them.
  void tell_replayed(std::uint16_t miss, SmCycle now);
  void tell_page(MessageKind kind, TlbKey key, SmCycle now);

  const SmConstants& constants_;
  SmStatistics& statistics_;
  ResidentBlocks& blocks_;
  SmPorts& ports_;
  ParkedLines& lines_;
  L1Tlb tlb_;  ///< L1 TLB, touched in every window
  GpcTlb gpc_;
  ParkedPages pages_;
  PageTableMirror known_;  ///< all mapped pages, with ideal translation
  FaultWaits waits_;
  /// Flag of each tenant: the last answer was no large page.
  std::vector<std::uint8_t> has_small_pages_;
  const bool squashes_;  ///< the SM squashes lines with a refused page
};

template <class Forget>
void Translation::drop_tenant(TenantId tenant, Forget&& forget, SmCycle now) {
  // Pages asked for are forgotten when the answer comes.
  pages_.for_each_miss([&](std::uint16_t i) {
    if (pages_.miss(i).tenant() != tenant) return;
    while (pages_.miss(i).has_lines()) {
      const Access access = pages_.access_of(pages_.front(i));
      forget(access);
      if (pages_.pop(i)) lines_.dropped(access, now);
    }
    const PageMiss::State state = pages_.miss(i).state;
    if (state == PageMiss::State::draining) {
      page_done(i, now);
    } else if (state == PageMiss::State::invalid || state == PageMiss::State::refused) {
      tell_replayed(i, now);  // no squashed access waits for the page
      pages_.give_back_miss(i);
    }
  });
  waits_.find(pages_, lines_.stopped_warps());
}

}  // namespace lockstep
