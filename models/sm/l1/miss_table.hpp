/// Outstanding misses (MSHRs) and the accesses that wait for them.
///
/// An open entry collects all accesses to its line; an access to a further sector requests it under
/// the same entry.  An entry is closed when a store, atomic or bypassing access touches a pending
/// sector, when an acquire passes, or when the access bypasses L1.  A closed entry still answers
/// its waiting accesses, but no new access finds it and its sectors are not cached.
/// Source: architecture.md, section 8, rules 3 and 4; gpu-parameters.md, section 1 (MSHR type S).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/memory/buckets.hpp"
#include "core/memory/slot_pool.hpp"
#include "models/sm/access/access.hpp"

namespace lockstep {

/// The lanes of one warp instruction that wait for sectors of one line.
struct Waiter {
  std::uint16_t next = 0xffff;    ///< next waiter in the entry's list
  std::uint16_t flight = 0xffff;  ///< flight of the instruction
  std::uint32_t lanes = 0;
  std::uint16_t store = 0xffff;   ///< atomics: store record of the acknowledgement
  std::uint8_t missing = 0;       ///< mask of missing sectors
  std::uint8_t part = 0;          ///< local memory: which 32-bit word of a lane's data
  std::uint8_t first_offset = 0;  ///< place of the first lane's bytes in the line
  /// true: the bytes of the other lanes follow; false: MissTable::offsets tells.
  bool contiguous = false;
  bool local = false;
  bool whole = false;   ///< true: no lane has its data yet
  bool copies = false;  ///< true: the data go to shared memory, see MissTable::copy_target

  template <class Archive>
  void serialize(Archive& archive) {
    archive(next, flight, lanes, store, missing, part, first_offset, contiguous, local, whole,
            copies);
  }
};
static_assert(sizeof(Waiter) == 20);

struct Miss {
  std::uint64_t tag = 0;
  std::uint32_t epoch = 0;                        ///< epoch of the cache when the entry was opened
  std::uint16_t chain = 0xffff, before = 0xffff;  ///< next and previous entry of the bucket
  std::uint16_t first = 0xffff, last = 0xffff;    ///< first and last waiter
  std::uint16_t line = 0xffff;                    ///< line of L1 reserved for the miss
  std::uint8_t pending = 0;                       ///< mask of requested sectors
  std::uint8_t waiters = 0;
  bool open = false;
  bool local = false;
  bool in_host = false;
  bool in_bulk = false;  ///< true: the entry belongs to the bulk engine, which has its own room
  std::uint16_t shootdown = 0xffff;  ///< shootdown that waits for the answers

  template <class Archive>
  void serialize(Archive& archive) {
    archive(tag, epoch, chain, before, first, last, line, pending, waiters, open, local, in_host,
            in_bulk, shootdown);
  }
};

class MissTable {
 public:
  using LaneOffsets = std::array<std::uint8_t, 32>;
  static constexpr std::uint16_t none = 0xffff;

  MissTable() = default;
  explicit MissTable(std::uint32_t entries) : entries_(entries) {
    buckets_ = Buckets(std::size_t{4} * entries);
    heads_.assign(buckets_.count(), none);
  }

  bool full() const { return misses_.used() >= entries_ + in_bulk_; }
  std::size_t used() const { return misses_.used(); }
  /// Lines of bulk copies that are under way.
  std::size_t in_bulk() const { return in_bulk_; }
  Miss& operator[](std::uint16_t index) { return misses_[index]; }
  const Miss& operator[](std::uint16_t index) const { return misses_[index]; }
  Waiter& waiter(std::uint16_t index) { return waiters_[index]; }
  const Waiter& waiter(std::uint16_t index) const { return waiters_[index]; }
  /// Returns the place of each lane's bytes in the line, for a waiter whose lanes do not follow
  /// each other.
  LaneOffsets& offsets(std::uint16_t waiter) { return offsets_[waiter]; }
  const LaneOffsets& offsets(std::uint16_t waiter) const { return offsets_[waiter]; }
  /// Returns where the bytes go that a waiter copies to shared memory.
  CopyTarget& copy_target(std::uint16_t waiter) {
    if (copy_targets_.size() <= waiter) copy_targets_.resize(std::size_t{waiter} + 1);
    return copy_targets_[waiter];
  }
  const CopyTarget& copy_target(std::uint16_t waiter) const { return copy_targets_[waiter]; }
  std::uint16_t take_waiter() {
    const std::uint16_t index = waiters_.take();
    if (index >= offsets_.size()) offsets_.resize(waiters_.capacity());
    return index;
  }
  void give_back_waiter(std::uint16_t index) { waiters_.give_back(index); }

  /// Fetches the entries into the cache that the next misses will take.
  void warm_next(std::size_t count) const {
    misses_.warm_next(count);
    waiters_.warm_next(count);
  }

  /// Returns the open entry of the line.
  std::uint16_t find(std::uint64_t tag) const {
    for (std::uint16_t i = heads_[buckets_.of(tag)]; i != none; i = misses_[i].chain)
      if (misses_[i].tag == tag) return i;
    return none;
  }
  /// Makes an entry with its first waiter; later accesses find it if it is open.  The entry is only
  /// written, not read: this computer would wait until its cache line has come.
  [[gnu::always_inline]] std::uint16_t take(const Miss& fresh, std::uint16_t waiter) {
    const std::uint16_t index = misses_.take();
    in_bulk_ += fresh.in_bulk;
    Miss& miss = misses_[index];
    miss.tag = fresh.tag;
    miss.epoch = fresh.epoch;
    miss.chain = miss.before = none;
    miss.first = miss.last = waiter;
    miss.line = fresh.line;
    miss.pending = fresh.pending;
    miss.waiters = 1;
    miss.open = fresh.open;
    miss.local = fresh.local;
    miss.in_host = fresh.in_host;
    miss.in_bulk = fresh.in_bulk;
    miss.shootdown = none;
    if (fresh.open) {
      std::uint16_t& head = heads_[buckets_.of(fresh.tag)];
      miss.chain = head;
      if (head != none) misses_[head].before = index;
      head = index;
    }
    return index;
  }
  void close(std::uint16_t index) {
    Miss& miss = misses_[index];
    if (!miss.open) return;
    (miss.before == none ? heads_[buckets_.of(miss.tag)] : misses_[miss.before].chain) = miss.chain;
    if (miss.chain != none) misses_[miss.chain].before = miss.before;
    miss.open = false;
  }
  void give_back(std::uint16_t index) {
    close(index);
    in_bulk_ -= misses_[index].in_bulk;
    misses_.give_back(index);
  }
  void attach(std::uint16_t index, std::uint16_t waiter) {
    Miss& miss = misses_[index];
    waiters_[waiter].next = none;
    (miss.last == none ? miss.first : waiters_[miss.last].next) = waiter;
    miss.last = waiter;
    ++miss.waiters;
  }
  /// Calls function(index) for each open entry; the function may close the entry.
  template <class Function>
  void for_each_open(Function&& function) {
    for (const std::uint16_t head : heads_)
      for (std::uint16_t i = head; i != none;) {
        const std::uint16_t next = misses_[i].chain;
        function(i);
        i = next;
      }
  }

  template <class Function>
  void for_each_used(Function&& function) const {
    misses_.for_each_used(function);
  }

  void serialize(Archive& archive) {
    archive(heads_, misses_, waiters_, offsets_, copy_targets_, in_bulk_);
  }

 private:
  std::uint32_t entries_ = 0, in_bulk_ = 0;
  Buckets buckets_;
  std::vector<std::uint16_t> heads_;
  SlotPool<Miss> misses_;
  SlotPool<Waiter> waiters_;
  std::vector<LaneOffsets> offsets_;      ///< offsets of each waiter
  std::vector<CopyTarget> copy_targets_;  ///< target of each waiter, made as needed
};

}  // namespace lockstep
