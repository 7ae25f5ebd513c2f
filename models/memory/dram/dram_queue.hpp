#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "core/error/error.hpp"
#include "models/memory/dram/dram_cycle.hpp"
#include "models/noc/messages.hpp"

namespace lockstep {

/// A request in a DRAM channel: some columns of one row, all of one 128-byte line.
struct alignas(32) DramEntry {
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  DramCycle arrival;
  std::uint32_t row = 0;
  std::uint32_t owner = none;  ///< number that the L2 chose; comes back with the data
  std::uint16_t tenant = 0;
  std::uint16_t requester = 0;
  std::uint16_t warp = 0;
  std::uint8_t bank = 0;
  std::uint8_t columns = 0;  ///< column commands still to issue
  std::uint8_t sectors = 0;
  std::uint8_t flags = 0;       ///< bits of MemoryFlag
  std::uint8_t walk_level = 0;  ///< level of the page walk; 0: data
  SourceKind source = SourceKind::sm;
  bool write = false;
  bool missed_row = false;           ///< the request needed its row opened
  std::uint8_t pool = 0, level = 0;  ///< pool and level of the DramLane

  template <class Archive>
  void serialize(Archive& archive) {
    archive(arrival, row, owner, tenant, requester, warp, bank, columns, sectors, flags, walk_level,
            source, write, missed_row, pool, level);
  }
};

/// Pool of places that a request may take in the queue, and its urgency.
struct DramLane {
  std::uint8_t pool = 0;
  std::uint8_t level = 0;  ///< level 0 goes before level 1
};

/// How a scheduler divides the queue.
struct DramDivision {
  static constexpr std::size_t most_pools = 4, most_levels = 5;
  std::vector<std::uint32_t> pools;  ///< places of each pool; empty: all requests share all places
  std::uint32_t levels = 1;
  std::uint32_t beyond = 0;  ///< places besides those of the queue
  bool trivial() const { return pools.empty() && levels == 1; }
};

/// Requests of a DRAM channel in order of arrival, by bank, with those that hit an open row.
///
/// A scheduler may divide the queue: requests of a pool take no more places than the pool has, and
/// each level has lists of its own.
///
/// With a separate write queue, writes wait until there are `high` of them or no read; then they go
/// first until only `low` are left and reads wait.  A scheduler sees the requests of the direction
/// being served, which depends on arrivals and departures alone.
/// Source: gpu-parameters.md, section 9 (write queue with watermarks).
class DramQueue {
 public:
  struct Sizes {
    /// Sizes of queues; writes == 0: one queue for both directions.
    std::uint32_t reads, writes, high, low;
  };
  DramQueue(const Sizes& sizes, std::uint32_t banks, const DramDivision& division = {});

  /// Returns whether there is room for a request of a direction and pool, as far as the sizes
  /// decide.
  bool room(bool write, unsigned pool = 0) const {
    return (direction_of(write) == 0 ? counts_[0] < sizes_.reads : counts_[1] < sizes_.writes) &&
           used_[pool] < places_[pool];
  }
  /// Returns the entry that the next request takes, to be filled in before push_next().
  DramEntry& next() {
    LOCKSTEP_CHECK(!free_.empty(), "a DRAM queue overflows");
    return entries_[free_.back()];
  }
  /// Enters the request of next(). Returns its place.
  std::uint32_t push_next();
  void remove(std::uint32_t index);
  void row_opened(std::uint32_t bank, std::uint32_t row);
  void row_closed(std::uint32_t bank);

  // Access of schedulers.
  const DramEntry& operator[](std::uint32_t index) const { return entries_[index]; }
  /// Returns whether an entry of the served direction is a write.
  bool is_write(std::uint32_t index) const {
    return sizes_.writes != 0 ? serving_ == 1 : entries_[index].write;
  }
  /// Grows with the age of a request: how many came since.
  std::uint32_t age(std::uint32_t index) const { return order_ - nodes_[index].order; }
  /// The number of the request that comes next.  Numbers wrap around; see age.
  std::uint32_t next_order() const { return order_; }
  std::uint32_t order(std::uint32_t index) const { return nodes_[index].order; }
  void prefetch(std::uint32_t index) const { __builtin_prefetch(&entries_[index]); }
  /// Returns the banks with requests of the served direction and of a level.
  std::uint64_t active_banks(unsigned level = 0) const { return active_[first_ + level]; }
  /// Returns the oldest request of a bank in the served direction; DramEntry::none if there is
  /// none.
  std::uint32_t oldest(std::uint32_t bank, unsigned level = 0) const {
    return place_of(lists_[first_ + level][bank].head);
  }
  /// Returns the oldest request of a bank and level for the open row.
  std::uint32_t oldest_hit(std::uint32_t bank, unsigned level = 0) const {
    return place_of(lists_[first_ + level][bank].hit);
  }
  /// Returns the next younger request of the same bank, direction and level; DramEntry::none behind
  /// the youngest. With `oldest` it lists a bank's requests by age.
  std::uint32_t younger(std::uint32_t index) const { return place_of(nodes_[index].next); }
  /// Returns whether a request waits for the open row of a bank, in either direction and at any
  /// level.
  bool has_hit(std::uint32_t bank) const {
    return std::any_of(lists_.begin(), lists_.end(),
                       [bank](const std::vector<List>& lists) { return lists[bank].hit != end; });
  }
  std::uint32_t size() const { return counts_[0] + counts_[1]; }
  /// Returns the banks whose requests, open row or direction changed since the last choice.
  std::uint64_t changed_banks() const { return changed_; }
  void chosen() { changed_ = 0; }

  DramEntry& entry(std::uint32_t index) { return entries_[index]; }
  /// Returns whether a request of this direction is served now.
  bool served(bool write) const { return direction_of(write) == serving_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(entries_, nodes_, free_, lists_, active_, open_row_, counts_, used_, serving_, first_,
            order_);
    // Tells the scheduler that all banks changed: a restored scheduler has empty tables.
    changed_ = ~std::uint64_t{0};
  }

 private:
  static constexpr std::uint16_t end = 0xffff;
  /// Part of an entry that searches over many entries read.
  struct Node {
    std::uint32_t row = 0;
    std::uint32_t order = 0;  ///< number of the request
    std::uint16_t previous = end, next = end;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(row, order, previous, next);
    }
  };
  struct List {
    std::uint16_t head = end, tail = end;
    std::uint16_t hit = end;  ///< oldest request for the open row
    template <class Archive>
    void serialize(Archive& archive) {
      archive(head, tail, hit);
    }
  };
  static constexpr std::int64_t closed = -1;

  /// Returns 0 for reads, and for writes if they have no queue of their own.
  unsigned direction_of(bool write) const { return write && sizes_.writes != 0 ? 1 : 0; }
  unsigned list_of(const DramEntry& entry) const {
    return direction_of(entry.write) * levels_ + entry.level;
  }
  void choose_direction();
  static std::uint32_t place_of(std::uint16_t node) { return node == end ? DramEntry::none : node; }
  /// Returns the first entry for a row, from `node` on in its list.
  std::uint16_t first_for(std::int64_t row, std::uint16_t node) const;
  void change(std::uint32_t bank) { changed_ |= std::uint64_t{1} << bank; }

  const Sizes sizes_;
  const std::uint32_t levels_;
  std::vector<DramEntry> entries_;
  std::vector<Node> nodes_;  ///< nodes by place in the queue
  std::vector<std::uint16_t> free_;
  // Entries of each direction and level.
  std::vector<std::vector<List>> lists_;
  std::array<std::uint64_t, 2 * DramDivision::most_levels> active_{};
  std::vector<std::int64_t> open_row_;
  std::array<std::uint32_t, 2> counts_{};  ///< requests of each direction
  std::array<std::uint32_t, DramDivision::most_pools> used_{}, places_{};  ///< places of each pool
  std::uint32_t serving_ = 0;  ///< direction being served
  std::uint32_t first_ = 0;    ///< first list of the direction being served
  std::uint32_t order_ = 0;
  std::uint64_t changed_ = 0;
};

}  // namespace lockstep
