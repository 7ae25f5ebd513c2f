#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "core/memory/warm.hpp"
#include "models/memory/l2_clock.hpp"
#include "models/noc/messages.hpp"

namespace lockstep {

/// A request on its way through a partition, in one line of this computer's caches.
struct alignas(64) Transaction {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  static constexpr std::uint32_t has_read = none - 1;

  MemoryRequest request;
  L2Cycle arrival;            ///< cycle in which the request was at the port
  std::uint32_t line = 0;     ///< number of the line in the partition
  std::uint32_t next = none;  ///< transaction behind this one in an MSHR
  /// Load: next one in PendingReads; has_read: the bytes are in the pool's data.
  std::uint32_t next_read = has_read;
  std::uint8_t missing = 0;       ///< sectors still to come from DRAM
  std::uint8_t hits : 4 = 0;      ///< sectors found in the L2
  std::uint8_t arriving : 4 = 0;  ///< sectors that were already on their way to the L2
  std::uint8_t bank = 0;
  bool bypass : 1 = false;
  bool whole : 1 = false;    ///< the store writes all bytes of its sectors
  bool copied : 1 = false;   ///< the half of L2 next to the sender has a copy
  bool written : 1 = false;  ///< an atomic written through: DRAM has the write
  bool stretch : 1 = false;  ///< a line to the GPU of a stretch, see CopyStretches

  template <class Archive>
  void serialize(Archive& archive) {
    bool past_l2 = bypass, all_bytes = whole, in_dram = written, near = copied, of_one = stretch;
    std::uint8_t there = hits, coming = arriving;
    archive(request, arrival, line, next, next_read, missing, there, coming, bank, past_l2,
            all_bytes, in_dram, near, of_one);
    hits = there & 0xf;
    arriving = coming & 0xf;
    bypass = past_l2;
    whole = all_bytes;
    written = in_dram;
    stretch = of_one;
    copied = near;
  }

  std::uint32_t response_bytes() const {
    if (request.operation == MemoryOperation::store) return 0;
    if (request.operation == MemoryOperation::atomic)
      return (request.flags & flag_returns) != 0 ? 8u * request.lanes : 0;
    return static_cast<std::uint32_t>(sector_bytes) * request.sector_count();
  }
};

/// Transactions by number.  The last one released is used next, so that few of them occupy this
/// computer's caches.
class TransactionPool {
 public:
  union Data {
    std::array<std::byte, 256> bytes;    ///< read: four sectors, or 32 old values of an atomic
    std::array<std::uint32_t, 4> masks;  ///< masks of a store that is not whole

    void serialize(Archive& archive) { archive.bytes(bytes.data(), bytes.size()); }
  };

  std::uint32_t allocate() {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(items_.size()));
      items_.emplace_back();
      data_.emplace_back();
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    return index;
  }
  void release(std::uint32_t index) { free_.push_back(index); }
  std::size_t used() const { return items_.size() - free_.size(); }

  Transaction& operator[](std::uint32_t index) { return items_[index]; }
  const Transaction& operator[](std::uint32_t index) const { return items_[index]; }
  /// The transaction will be looked at soon.
  void prefetch(std::uint32_t index) const { __builtin_prefetch(&items_[index]); }
  /// Brings a transaction near; `none` is ignored.
  void warm(std::uint32_t index) const {
    if (index != Transaction::none) lockstep::warm(&items_[index]);
  }
  /// Returns the slot that the n-th allocation from now will take; `none` if that slot does not
  /// exist yet.
  std::uint32_t free(std::size_t n) const {
    return n < free_.size() ? free_[free_.size() - 1 - n] : Transaction::none;
  }
  std::byte* data(std::uint32_t index) { return data_[index].bytes.data(); }
  /// Returns the mask of the bytes that a store has written in a sector of the line.
  std::uint32_t mask(std::uint32_t index, unsigned sector) const {
    return items_[index].whole ? ~std::uint32_t{0} : data_[index].masks[sector];
  }
  void set_mask(std::uint32_t index, unsigned sector, std::uint32_t mask) {
    data_[index].masks[sector] = mask;
  }

  void serialize(Archive& archive) { archive(items_, data_, free_); }

 private:
  std::vector<Transaction> items_;
  std::vector<Data> data_;
  std::vector<std::uint32_t> free_;
};
static_assert(std::is_trivially_copyable_v<Transaction> && sizeof(Transaction) == 64);

}  // namespace lockstep
