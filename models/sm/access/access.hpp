#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "models/isa/atomic.hpp"
#include "models/isa/types.hpp"

namespace lockstep {

/// The lanes of a memory instruction that meet in one line.
struct LineGroup {
  std::uint64_t line = 0;  ///< address of the line, virtual (global) or physical (local)
  std::uint32_t lanes = 0;
  std::uint8_t sectors = 0;
  std::uint8_t first_offset = 0;  ///< place of the first lane's bytes in the line

  template <class Archive>
  void serialize(Archive& archive) {
    archive(line, lanes, sectors, first_offset);
  }
};
static_assert(sizeof(LineGroup) == 16);

/// Destination of the bytes of an asynchronous copy: shared memory of the block.
struct CopyTarget {
  std::array<std::uint32_t, 32> to{};    ///< address for each lane
  std::array<std::uint8_t, 32> bytes{};  ///< bytes read by each lane

  template <class Archive>
  void serialize(Archive& archive) {
    archive(to, bytes);
  }
};

/// A memory instruction between issue and its last translation check, with its lanes grouped by
/// line. Accesses are many, so they are compact: an access whose lanes follow each other in up to
/// two lines touches one cache line of this computer, and those of its data.
struct alignas(64) Access {
  /// bulk_load, bulk_prefetch: single lines of the SM's bulk engine, whose stores are of kind
  /// `store`.
  enum class Kind : std::uint8_t { load, store, atomic, prefetch, copy, bulk_load, bulk_prefetch };

  Kind kind = Kind::load;
  bool local = false;
  bool bypass = false;      ///< true: the access bypasses L1
  bool contiguous = false;  ///< true: consecutive lanes are at consecutive addresses
  std::uint8_t warp = 0;
  std::uint8_t stride = 4;  ///< bytes from one lane to the next
  std::uint8_t groups = 0, next = 0;
  /// Number of this 32-bit word of a local memory access, and number of all its words.
  std::uint8_t part = 0, parts = 1;
  std::uint16_t flight = 0xffff;
  std::uint16_t parked = 0xffff;      ///< index of the parked copy, if lines have been parked
  std::uint8_t tenant = 0, grid = 0;  ///< tenant number, and place of the grid
  std::uint32_t pc = 0;
  /// Phase of the warp's block at issue, since a barrier may pass before the access goes. Prefetch:
  /// see hint().
  std::uint32_t phase = 0;
  std::uint32_t active = 0;
  /// Holders of a parked copy: lines, and the queue while it has the original.
  std::uint16_t holders = 0;
  std::uint16_t member = 0xffff;  ///< number among accesses that may fault (FaultableAccesses)
  std::array<LineGroup, 32> group{};
  std::array<std::uint8_t, 32> offset{};  ///< place of each lane in the line; unused if contiguous
  /// Stores: the lanes' bytes, `stride` each.  Atomics: an AtomicWord for every 8 bytes of a lane.
  /// Copies: a CopyTarget.
  std::array<std::byte, 1024> data{};
  std::array<std::uint32_t, 32> local_offset{};

  const CopyTarget& copy_target() const {
    return *std::launder(reinterpret_cast<const CopyTarget*>(data.data()));
  }
  void set(const CopyTarget& target) { std::memcpy(data.data(), &target, sizeof target); }
  /// Returns the hint of a prefetch to the L2, as in Instruction::detail. The access holds the
  /// hint, since the prefetch may be under way for longer than its warp.
  std::uint16_t hint() const { return static_cast<std::uint16_t>(phase); }
  void set_hint(std::uint16_t hint) { phase = hint; }
  bool writes() const { return kind == Kind::store || kind == Kind::atomic; }
  bool prefetches() const { return kind == Kind::prefetch || kind == Kind::bulk_prefetch; }
  bool copies() const { return kind == Kind::copy || kind == Kind::bulk_load; }
  bool is_bulk_load() const { return kind >= Kind::bulk_load; }
  /// Returns how many bytes of `data` the access uses.
  std::size_t data_bytes() const {
    if (kind == Kind::store) return std::size_t{32} * stride;
    if (copies()) return sizeof(CopyTarget);
    if (kind != Kind::atomic) return 0;
    const std::size_t words = stride > 8 ? 2 : 1;
    return 32 * words * sizeof(isa::AtomicWord);
  }

  /// Copies a global access, as far as `other` is filled in.  The function reads nothing of this
  /// object: this computer would wait until the cache line has come.
  void take_global(const Access& other) {
    std::memcpy(static_cast<void*>(this), &other,
                offsetof(Access, group) + other.groups * sizeof(LineGroup));
    if (!other.contiguous) offset = other.offset;
    if (other.data_bytes() != 0) std::memcpy(data.data(), other.data.data(), other.data_bytes());
  }

  /// Writes or reads the access as far as it is filled in.
  template <class Archive>
  void serialize(Archive& archive) {
    archive(kind, local, bypass, contiguous, warp, stride, groups, next, part, parts, flight,
            parked, tenant, grid, pc, phase, active, holders, member);
    for (unsigned i = 0; i < groups; ++i) archive(group[i]);
    if (!contiguous) archive(offset);
    archive.bytes(data.data(), data_bytes());
    if (local) archive(local_offset);
  }
};
static_assert(offsetof(Access, group) == 32 && offsetof(Access, data) % 64 == 0);

}  // namespace lockstep
