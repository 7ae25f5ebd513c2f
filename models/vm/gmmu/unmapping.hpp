/// Removal of pages from the page table, from all TLBs and from the L1 caches.
///
/// The steps are: the GPU's own handlers of the pages end (local_handlers.hpp), and replays of them
/// complete; the GMMU drops its entries of the pages and sets their walks aside; the entries in
/// memory are exchanged with 0, so that no bit set by a walk or a store is lost; every SM that ever
/// got a translation of the tenant is told to drop the pages and answers with those that it stored
/// to; the host gets the old entries.
/// Source: architecture.md, section 8, rule 7.
///
/// Simplified: exchanges of all unmappings share `exchanges_at_once` places, in order of arrival.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "models/vm/gmmu/far_faults.hpp"
#include "models/vm/gmmu/local_handlers.hpp"
#include "models/vm/gmmu/table_memory.hpp"

namespace lockstep {

struct Unmapping {
  enum class Stage : std::uint8_t { none, replays, exchange, shootdown };
  UnmapRequest request;
  Stage stage = Stage::none;
  std::uint32_t missing = 0;  ///< missing answers of memory, then of SMs
  std::vector<std::uint64_t> entries;
  std::vector<std::uint64_t> stored;  ///< bit i: page i was stored to

  const PageSpan& span() const { return request.span; }
  bool covers(TenantPage where) const { return stage != Stage::none && span().covers(where); }
  void note_store(TenantPage where) {
    const std::uint64_t i = where.page - span().first().page;
    stored[i / 64] |= std::uint64_t{1} << i % 64;
  }
  /// Sets the dirty bits of the pages that SMs stored to. A store to one page of a large page
  /// counts for all its pages, and the accessed bit of the first entry holds for all.
  void merge_stores();
  void serialize(Archive& archive);
};

class Unmappings {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  static constexpr std::uint32_t exchanges_at_once = 64;

  explicit Unmappings(TableMemory& memory) : memory_(memory) {}

  Unmapping& operator[](std::uint32_t index) { return slots_[index]; }
  std::uint32_t add(const UnmapRequest& request);
  /// Returns the first unmapping in order of arrival that need not wait for handlers and replays
  /// any more.
  std::uint32_t ready(const FarFaults& faults, const LocalHandlers& local) const;
  /// Entries are about to be exchanged: no walk may read them.
  bool holds(TenantPage where) const;
  /// Returns the unmapping whose shootdown must follow an SM's store to the page; nullptr if the
  /// page is not being unmapped.
  Unmapping* unmapping_of(TenantPage where);

  void start_exchange(std::uint32_t index, GmmuCycle& cycle);
  /// Takes an answer of memory. Returns the unmapping if all its entries have been exchanged, or
  /// `none`.
  std::uint32_t exchanged(std::uint32_t asker, const std::byte* old_entries, std::uint32_t count,
                          GmmuCycle& cycle);
  std::uint32_t cleared(std::uint32_t asker);
  /// Takes an SM's answer; returns whether it was the last one.
  bool shot_down(std::uint32_t index, std::span<const std::byte> stored);
  void remove(std::uint32_t index);

  bool idle() const { return order_.empty(); }
  std::string waiting_for() const;
  void serialize(Archive& archive);

 private:
  struct Line {
    /// The unmapping, and `count` of its entries from `first` on.
    std::uint32_t unmapping = 0, first = 0, count = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(unmapping, first, count);
    }
  };
  // An exchange is identified by its unmapping and its first entry.
  static constexpr unsigned first_bits = 9;

  void clear_large(std::uint32_t index, GmmuCycle& cycle);
  void send_exchanges(GmmuCycle& cycle);
  std::uint32_t memory_answered(std::uint32_t index);

  TableMemory& memory_;
  std::vector<Unmapping> slots_;
  /// Free unmappings, and those under way in order of arrival.
  std::vector<std::uint32_t> free_, order_;
  std::deque<Line> lines_;  ///< lines still to be exchanged
  std::uint32_t exchanging_ = 0;
};

}  // namespace lockstep
