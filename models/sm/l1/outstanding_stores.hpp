/// Stores and atomics that were sent and not acknowledged.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "core/memory/slot_pool.hpp"

namespace lockstep {

/// Returns a frame of GPU memory, or with the top bit set a page of host memory.
constexpr std::uint64_t frame_number(std::uint64_t physical, bool in_host) {
  return physical >> 12 | std::uint64_t{in_host} << 63;
}

/// Returns whether a frame is among frames as frame_number gives them, sorted, each once.
inline bool contains(std::span<const std::uint64_t> sorted, std::uint64_t frame) {
  // Most frames lie outside: frames that are dropped together stand together.
  if (sorted.empty() || frame < sorted.front() || frame > sorted.back()) return false;
  if (sorted.back() - sorted.front() == sorted.size() - 1) return true;
  return std::binary_search(sorted.begin(), sorted.end(), frame);
}

struct StoreRecord {
  std::uint32_t phase = 0;  ///< phase of its block when the store was issued
  std::uint32_t entry = 0;  ///< entry of the store's block
  std::uint16_t warp = 0;
  std::uint8_t grid = 0;             ///< place of the grid in the SM
  std::uint16_t shootdown = 0xffff;  ///< shootdown that waits for the store
  std::uint16_t bulk = 0xffff;       ///< copy of the bulk engine to which the store belongs
  std::uint64_t frame = 0;           ///< frame_number of the store

  template <class Archive>
  void serialize(Archive& archive) {
    archive(phase, entry, warp, grid, shootdown, bulk, frame);
  }
};

class OutstandingStores {
 public:
  std::uint16_t add(const StoreRecord& record) {
    const std::uint16_t index = stores_.take();
    stores_[index] = record;
    return index;
  }
  /// The store has been acknowledged.  Returns its record.
  StoreRecord remove(std::uint16_t index) {
    const StoreRecord record = stores_[index];
    stores_.give_back(index);
    return record;
  }
  const StoreRecord& operator[](std::uint16_t index) const { return stores_[index]; }
  /// Calls function(record) for each outstanding store.
  template <class Function>
  void for_each(Function&& function) {
    stores_.for_each_used([&](std::uint16_t index) { function(stores_[index]); });
  }
  void serialize(Archive& archive) {
    archive.section("sm/stores", 4);
    archive(stores_);
  }

 private:
  SlotPool<StoreRecord> stores_;
};

}  // namespace lockstep
