/// Loads and stores of single register words within shared memory or one allocation: the most
/// frequent accesses of kernels.  All other accesses go lane by lane (memory_access.cpp).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "models/isa/instruction.hpp"
#include "models/isa/interpreter/flat_memory.hpp"
#include "models/isa/interpreter/whole_access.hpp"
#include "models/isa/lane_mask.hpp"

namespace lockstep::isa {

/// Returns the address of a lane's access; `base`: row of the address register, nullptr if there is
/// none.
inline std::uint64_t address_of(const Instruction& instruction, const std::uint32_t* base,
                                unsigned lane) {
  const auto offset = static_cast<std::uint64_t>(static_cast<std::int64_t>(instruction.offset));
  if (base == nullptr) return offset;
  if ((instruction.flags & flag_address_wide) == 0)
    return static_cast<std::uint32_t>(base[lane] + offset);
  std::uint64_t address = 0;
  std::memcpy(&address, base + std::size_t{2} * lane, sizeof address);
  return address + offset;
}

/// A warp's access. `base`: row of the address register; null if there is none.
struct WordAccess {
  const Instruction& instruction;
  const std::uint32_t* base;
  std::uint32_t active;
  FlatMemory& global;
  std::span<std::byte> shared;

  std::array<std::uint64_t, warp_size> addresses() const {
    std::array<std::uint64_t, warp_size> result;
    const auto offset = static_cast<std::uint64_t>(static_cast<std::int64_t>(instruction.offset));
    if ((instruction.flags & flag_address_wide) != 0) {
      std::memcpy(result.data(), base, sizeof result);
      for (std::uint64_t& address : result) address += offset;
    } else {
      for (unsigned lane = 0; lane < warp_size; ++lane)
        result[lane] = static_cast<std::uint32_t>(base[lane] + offset);
    }
    return result;
  }
};

/// Calls `move(place, lane)` for each lane.  Returns false, without a call, if the access is of
/// another kind.
template <class Word, class Move>
bool move_words(const WordAccess& access, const Move& move) {
  const MemoryFields& fields = access.instruction.memory;
  const bool is_global = fields.space == Space::global;
  if (fields.elements != 1 || fields.register_bytes != sizeof(Word) ||
      bytes_of(fields.type) != sizeof(Word) || access.base == nullptr ||
      (!is_global && fields.space != Space::shared))
    return false;
  std::array<std::uint64_t, warp_size> addresses = access.addresses();
  FlatMemory::Range range{0, access.shared.size(), access.shared.data()};
  if (is_global)
    range = access.global.range(addresses[static_cast<unsigned>(std::countr_zero(access.active))]);
  if (range.bytes < sizeof(Word) || range.base % sizeof(Word) != 0) return false;
  const std::uint64_t last = range.bytes - sizeof(Word);
  bool all = true;
  for_each_lane(access.active, [&](unsigned lane) {
    addresses[lane] -= range.base;
    all &= addresses[lane] <= last && addresses[lane] % sizeof(Word) == 0;
  });
  if (all) for_each_lane(access.active, [&](unsigned l) { move(range.data + addresses[l], l); });
  return all;
}

template <class Word>
bool load_words(const WordAccess& access, std::uint32_t* to) {
  return move_words<Word>(access, [to](const std::byte* from, unsigned lane) {
    copy_word<Word>(reinterpret_cast<std::byte*>(to) + lane * sizeof(Word), from);
  });
}

template <class Word>
bool store_words(const WordAccess& access, const std::uint32_t* from) {
  return move_words<Word>(access, [from](std::byte* to, unsigned lane) {
    copy_word<Word>(to, reinterpret_cast<const std::byte*>(from) + lane * sizeof(Word));
  });
}

}  // namespace lockstep::isa
