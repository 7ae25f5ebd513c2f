#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "core/checkpoint/archive.hpp"

namespace lockstep {

/// Buffers for the bytes of bulk copies to several blocks, held until all bytes have come, by the
/// number of the copy.  A byte has the same offset in the buffer as later in shared memory.
class DeliveryRooms {
 public:
  /// Returns the room of the copy, of `end` bytes.
  std::byte* open(std::uint16_t copy, std::size_t end) {
    std::vector<std::byte>& room = rooms_[copy];
    if (room.empty()) room.resize(end);
    return room.data();
  }
  /// Removes the copy's buffer.  Returns its bytes; empty: no bytes have come.
  std::vector<std::byte> close(std::uint16_t copy) {
    auto room = rooms_.extract(copy);
    return room.empty() ? std::vector<std::byte>() : std::move(room.mapped());
  }
  void serialize(Archive& archive) { archive(rooms_); }

 private:
  std::map<std::uint16_t, std::vector<std::byte>> rooms_;
};

}  // namespace lockstep
