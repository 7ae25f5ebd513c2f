/// The first-level data cache with its outstanding misses.
///
/// Global data is written through; lines of local memory are written back, with a mask of dirty
/// bytes.  A store to local memory needs no fill: its bytes become dirty, and a sector with all
/// bytes dirty is valid.
/// Source: architecture.md, section 8, rule 3; gpu-parameters.md, section 1 (lazy fetch on read).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "models/sm/access/access.hpp"
#include "models/sm/blocks/resident_blocks.hpp"
#include "models/sm/l1/l1_cache.hpp"
#include "models/sm/l1/miss_table.hpp"
#include "models/sm/l1/outstanding_stores.hpp"
#include "models/sm/parameters/sm_context.hpp"
#include "models/sm/ports/sm_ports.hpp"

namespace lockstep {

class L1 {
 public:
  explicit L1(const SmContext& sm);

  L1Cache& cache() { return hot_.cache; }
  const L1Cache& cache() const { return hot_.cache; }
  MissTable& misses() { return hot_.misses; }
  const MissTable& misses() const { return hot_.misses; }

  /// Drops clean global lines, for an acquire or the first block of a grid.
  void drop_clean() { hot_.cache.drop_clean(); }
  /// Lets pending fills of these sectors not be cached.
  void close_pending(std::uint64_t tag, std::uint8_t sectors);
  void close_miss(std::uint16_t miss);
  /// The sectors are read or written past L1.
  void pass_by(std::uint64_t tag, std::uint8_t sectors);
  /// The bytes in `mask` of a global line are stored.
  void store(std::uint64_t tag, std::uint8_t sectors, const LineBytes& mask, const std::byte* line,
             SmCycle now);
  /// Stores the bytes in `mask` to a local line.  Returns false if all lines that could hold it are
  /// reserved.
  bool store_local(std::uint64_t tag, std::uint8_t sectors, const LineBytes& mask,
                   const std::byte* bytes, SmCycle now);
  /// Returns whether each byte that a local load wants of a line is valid or dirty.
  bool has_all(const Access& access, const LineGroup& group, std::uint16_t line) const;
  bool has_dirty(std::uint16_t line, std::uint8_t sectors) const;
  /// Makes room for `tag` and writes back the dirty bytes of the replaced line.  Returns the line;
  /// none: all are reserved.
  std::uint16_t make_room(std::uint64_t tag, bool local, SmCycle now);
  void write_back(std::uint16_t line, std::uint8_t sectors, SmCycle now);
  /// Sectors of an answer, in their places of the line, are kept if that is allowed.
  void fill(const Miss& miss, std::uint8_t sectors, const std::byte* data, SmCycle usable,
            SmCycle now);

  /// Drops the local lines of a block that has ended, or returns with its homes to another SM.
  void forget_local(const BlockSlot& block);
  void forget_local(const std::vector<LocalHome>& homes);
  /// Writes dirty bytes of the block's local lines to memory.
  void write_back_local(const BlockSlot& block, SmCycle now);
  /// Returns whether dirty bytes of these homes are being written back; the next SM with these
  /// homes could overtake them.
  bool writes_back(const std::vector<LocalHome>& homes) const;
  /// Bytes of this local line have arrived.
  void written_back(PhysicalAddress line);
  /// Drops everything and changes the capacity.
  void resize(std::uint32_t lines, SmCycle now);
  /// Drops sectors of frames and keeps pending fills from being cached.
  void drop_frames(std::span<const std::uint64_t> frames);
  /// Calls function(miss) for each outstanding miss to these frames.
  template <class Function>
  void for_each_request_to(std::span<const std::uint64_t> frames, Function&& function) {
    hot_.misses.for_each_used([&](std::uint16_t i) {
      Miss& miss = hot_.misses[i];
      if (!miss.local && contains(frames, frame_of(miss))) function(miss);
    });
  }

  void warm_hot() const;
  void serialize(Archive& archive) {
    archive.section("sm/l1", 4);
    archive(hot_.cache, hot_.misses, written_back_);
  }

 private:
  /// Members that every window touches.
  struct Hot {
    L1Cache cache;
    MissTable misses;
  };

  template <class Owns>
  void forget_local_if(Owns&& owns);
  static std::uint64_t frame_of(const Miss& miss) {
    return frame_number(miss.tag * line_bytes, miss.in_host);
  }
  static void merge(std::byte* to, const std::byte* from, const LineBytes& mask,
                    std::uint8_t sectors);

  const SmConstants& constants_;
  SmStatistics& statistics_;
  const ResidentBlocks& blocks_;
  SmPorts& ports_;
  Hot hot_;
  /// Lines being written back, by home, if requested.
  std::map<std::uint32_t, std::uint32_t> written_back_;
};

}  // namespace lockstep
