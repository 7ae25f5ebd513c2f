#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "models/sm/access/access.hpp"

namespace lockstep {

/// Bytes of bulk copies to several blocks, by the number of the copy, until they go to the blocks.
/// A byte has the same offset here as later in shared memory.
///
/// Bytes of a line go on when those of the next line have come, so that the last ones, behind which
/// nothing comes, are known when the copy is complete.
class DeliveryRooms {
 public:
  struct Run {
    std::uint32_t begin = 0, end = 0;  ///< offsets in shared memory
    template <class A>
    void serialize(A& archive) {
      archive(begin, end);
    }
  };

  /// Returns the room of the copy, of `end` bytes.
  std::byte* open(std::uint16_t copy, std::size_t end) {
    Room& room = rooms_[copy];
    if (room.bytes.empty()) {
      room.bytes.resize(end);
      room.came.resize(end);
    }
    return room.bytes.data();
  }
  const std::byte* bytes(std::uint16_t copy) const { return rooms_.at(copy).bytes.data(); }
  /// Notes that the lanes' bytes of a line have come.  Returns the bytes that go on now, valid
  /// until the next call.
  const std::vector<Run>& came(std::uint16_t copy, const CopyTarget& target, std::uint32_t lanes) {
    Room& room = rooms_.at(copy);
    going_.swap(room.held);
    std::vector<Run>& runs = room.held;
    runs.clear();
    for (unsigned lane = 0; lane < target.to.size(); ++lane) {
      if (((lanes >> lane) & 1) == 0) continue;
      const Run run{target.to[lane], target.to[lane] + target.bytes[lane]};
      std::fill(room.came.begin() + run.begin, room.came.begin() + run.end, std::uint8_t{1});
      runs.push_back(run);
    }
    join_neighbours(runs);
    return going_;
  }
  /// Returns the bytes of [begin, end) that have not gone on: those of the last line, and those for
  /// which there was no line.
  std::vector<Run> rest(std::uint16_t copy, std::uint32_t begin, std::uint32_t end) const {
    const auto found = rooms_.find(copy);
    if (found == rooms_.end()) return {};
    const Room& room = found->second;
    std::vector<Run> runs = room.held;
    for (std::uint32_t at = begin; at < end;) {
      const auto from = std::find(room.came.begin() + at, room.came.begin() + end, 0);
      const auto to = std::find(from, room.came.begin() + end, 1);
      at = static_cast<std::uint32_t>(to - room.came.begin());
      if (from != to) runs.push_back({static_cast<std::uint32_t>(from - room.came.begin()), at});
    }
    return runs;
  }
  /// Removes the copy's room.
  void close(std::uint16_t copy) { rooms_.erase(copy); }
  void serialize(Archive& archive) { archive(rooms_); }

 private:
  struct Room {
    std::vector<std::byte> bytes;
    std::vector<std::uint8_t> came;  ///< 1 for each byte of a line that has come
    std::vector<Run> held;           ///< bytes of the last line
    template <class A>
    void serialize(A& archive) {
      archive(bytes, came, held);
    }
  };

  static void join_neighbours(std::vector<Run>& runs) {
    std::sort(runs.begin(), runs.end(),
              [](const Run& one, const Run& other) { return one.begin < other.begin; });
    std::size_t kept = 0;
    for (std::size_t i = 1; i < runs.size(); ++i) {
      if (runs[i].begin == runs[kept].end) {
        runs[kept].end = runs[i].end;
      } else {
        runs[++kept] = runs[i];
      }
    }
    if (!runs.empty()) runs.resize(kept + 1);
  }

  std::map<std::uint16_t, Room> rooms_;
  std::vector<Run> going_;  ///< bytes that go on now
};

}  // namespace lockstep
