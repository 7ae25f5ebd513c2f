#include <algorithm>
#include <bit>
#include <cstring>

#include "core/error/error.hpp"
#include "models/isa/atomic.hpp"
#include "models/isa/barriers/mbarrier.hpp"
#include "models/isa/interpreter/block_runner.hpp"
#include "models/isa/interpreter/lane_address.hpp"
#include "models/isa/lane_mask.hpp"
#include "models/isa/matrix/matrix_rows.hpp"
#include "models/isa/semantics/whole_access.hpp"
#include "models/isa/text/copy_mistakes.hpp"
#include "models/isa/text/kernel_title.hpp"

namespace lockstep::isa {
namespace {

std::string hexadecimal(std::uint64_t value) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  do {
    text.insert(text.begin(), digits[value & 15]);
    value >>= 4;
  } while (value != 0);
  return "0x" + text;
}

const char* name_of(Space space) {
  switch (space) {
    case Space::shared:
      return "shared";
    case Space::shared_cluster:
      return "shared::cluster";
    case Space::local:
      return "local";
    case Space::constant:
      return "constant";
    case Space::parameter:
      return "parameter";
    default:
      return "global";
  }
}

/// Returns the state space a generic address lies in.
Space space_of(std::uint64_t address) {
  if (address - shared_window_base < shared_window_bytes) return Space::shared;
  if (address - local_window_base < local_window_bytes) return Space::local;
  if (address - constant_window_base < constant_window_bytes) return Space::constant;
  if (address - parameter_window_base < parameter_window_bytes) return Space::parameter;
  return Space::global;
}

/// The most bytes that a lane accesses, aligned so that this computer moves them at once.
struct alignas(16) LaneBytes : std::array<std::byte, 32> {};

std::byte* within(std::vector<std::byte>& bytes, std::uint64_t offset, unsigned size) {
  return offset < bytes.size() && size <= bytes.size() - offset ? bytes.data() + offset : nullptr;
}

/// Returns the value that a load puts into a register lane.
std::uint64_t extended(std::uint64_t value, Type type, unsigned register_bytes) {
  const unsigned bits = 8 * bytes_of(type);
  if (is_signed(type) && bits < 64)
    value =
        static_cast<std::uint64_t>(static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits));
  return register_bytes == 2 ? value & 0xffff : value;
}

}  // namespace

std::byte* BlockRunner::shared_bytes(std::uint64_t offset, std::uint64_t bytes) {
  return offset <= shared_.size() && bytes <= shared_.size() - offset ? shared_.data() + offset
                                                                      : nullptr;
}

std::uint64_t BlockRunner::address_of(const Warp& warp, const Instruction& instruction,
                                      unsigned lane) const {
  const Operand base = instruction.source[0];
  return isa::address_of(instruction, base.valid() ? row(warp, base) : nullptr, lane);
}

void BlockRunner::memory(Warp& warp, const Instruction& instruction, std::uint32_t active) {
  if (instruction.category == Category::bulk_copy) [[unlikely]]
    return BulkCopies(*this).copy(warp, instruction, active);
  if (instruction.category == Category::async_store) [[unlikely]]
    return AsyncStores(*this).store(warp, instruction, active);
  if (state_.is_watched) [[unlikely]]
    watch_.access(warp, instruction, active);
  context_.active = active;
  if (move_lanes(warp, instruction, state_.straight.steps()[warp.paths.pc()].moves)) return;
  switch (instruction.category) {
    case Category::load:
      load(warp, instruction, active);
      break;
    case Category::store:
      store(warp, instruction, active);
      break;
    case Category::copy:
      copy(warp, instruction, active);
      break;
    default:
      if (is_of_mbarrier(instruction.memory.atomic))
        return phase_waits_.change(warp, instruction, active);
      atomic(warp, instruction, active);
  }
}

std::byte* BlockRunner::local_bytes(Warp& warp, unsigned lane, std::uint64_t offset,
                                    unsigned bytes) {
  if (offset + bytes > state_.program.local_bytes) return nullptr;
  warp.local.resize(warp_size);
  std::vector<std::byte>& mine = warp.local[lane];
  if (offset + bytes > mine.size())
    mine.resize(std::min<std::uint64_t>(2 * (offset + bytes) + 256, state_.program.local_bytes));
  return mine.data() + offset;
}

std::byte* BlockRunner::locate_anywhere(Warp& warp, const Instruction& instruction, unsigned lane,
                                        std::uint64_t address, unsigned bytes) {
  Space space = instruction.memory.space;
  std::uint64_t offset = address;
  if (space == Space::generic) {
    space = space_of(address);
    offset -= space == Space::shared  ? shared_window_base
              : space == Space::local ? local_window_base
                                      : 0;
    // Code 1 is the block itself where it has no cluster.
    const std::uint64_t code = offset >> ClusterAddress::offset_bits;
    if (space == Space::shared && code != ClusterAddress::own &&
        (code == 1 || state_.launch.is_explicit_cluster))
      space = Space::shared_cluster;
  }
  const char* kind = instruction.category == Category::load    ? "load"
                     : instruction.category == Category::copy  ? "copy"
                     : instruction.category == Category::store ? "store"
                                                               : "atomic";
  const auto what = [&] {
    return std::string(name_of(space)) + " " + kind + " of " + std::to_string(bytes) +
           " bytes at " + hexadecimal(address);
  };
  if (address % bytes != 0)
    fail(warp, lane, "misaligned " + what(), "addresses are multiples of the access size");
  std::byte* found = nullptr;
  const bool writes =
      instruction.category != Category::load && instruction.category != Category::copy;
  switch (space) {
    case Space::shared:
      found = within(shared_, offset, bytes);
      break;
    case Space::shared_cluster:
      found = in_cluster_.bytes(warp, lane, static_cast<std::uint32_t>(offset), bytes, what());
      break;
    case Space::local:
      found = local_bytes(warp, lane, offset, bytes);
      break;
    case Space::constant:
      if (!writes) found = within(state_.constant_memory, offset - constant_window_base, bytes);
      break;
    case Space::parameter:
      // The interpreter never writes through it.
      if (!writes)
        found = within(const_cast<std::vector<std::byte>&>(state_.launch.parameters),
                       offset - parameter_window_base, bytes);
      break;
    default:
      found = state_.memory.find(address, bytes);
      if (found != nullptr && state_.memory.is_fresh()) touch_fresh(warp, instruction, address);
  }
  if (found == nullptr)
    fail(warp, lane, "out-of-bounds " + what(),
         "check the index, and the size of what it goes into");
  return found;
}

/// Notes an access to memory that was never written. Atomics may rely on its being zero.
void BlockRunner::touch_fresh(const Warp& warp, const Instruction& instruction,
                              std::uint64_t address) {
  const bool reads =
      instruction.category == Category::load || instruction.category == Category::copy;
  if (reads && state_.launch.fresh_read)
    state_.launch.fresh_read(address,
                             place_of(warp) + ": kernel " + kernel_title(state_.program.name));
  state_.memory.end_freshness();
}

bool BlockRunner::move_lanes(const Warp& warp, const Instruction& instruction, const Moves& moves) {
  if (moves.move == nullptr) return false;
  PlacedBytes bytes{0, shared_.size(), shared_.data()};
  if (instruction.memory.space != Space::shared) {
    const auto first = static_cast<unsigned>(std::countr_zero(context_.active));
    bytes = state_.memory.range(address_of(warp, instruction, first));
  }
  const bool is_first_store = moves.has != nullptr && !state_.changed;
  if (is_first_store && moves.has(instruction, context_, bytes)) return true;
  if (!moves.move(instruction, context_, bytes)) return false;
  state_.changed |= is_first_store;
  return true;
}

void BlockRunner::load(Warp& warp, const Instruction& instruction, std::uint32_t active) {
  const MemoryFields& fields = instruction.memory;
  const unsigned size = bytes_of(fields.type);
  for_each_lane(active, [&](unsigned lane) {
    LaneBytes bytes;
    const std::byte* from = locate(warp, instruction, lane, address_of(warp, instruction, lane),
                                   size * fields.elements);
    copy_whole(bytes.data(), from, size * fields.elements);
    for (unsigned e = 0; e < fields.elements; ++e) {
      std::uint64_t value = 0;
      std::memcpy(&value, bytes.data() + std::size_t{e} * size, size);
      value = extended(value, fields.type, fields.register_bytes);
      auto* to = const_cast<std::uint32_t*>(row(warp, instruction.destination[e]));
      if (fields.register_bytes == 8) {
        std::memcpy(to + 2 * lane, &value, 8);
      } else {
        to[lane] = static_cast<std::uint32_t>(value);
      }
    }
  });
}

bool BlockRunner::changes(Warp& warp, const Instruction& instruction, std::uint32_t active) {
  const MemoryFields& fields = instruction.memory;
  const unsigned size = bytes_of(fields.type);
  bool any = false;
  for_each_lane(active, [&](unsigned lane) {
    const std::byte* to = locate(warp, instruction, lane, address_of(warp, instruction, lane),
                                 size * fields.elements);
    for (unsigned e = 0; e < fields.elements; ++e) {
      const std::uint32_t* from = row(warp, instruction.source[e + 1]);
      any |= std::memcmp(to + std::size_t{e} * size,
                         from + (fields.register_bytes == 8 ? 2 * lane : lane), size) != 0;
    }
  });
  return any;
}

void BlockRunner::store(Warp& warp, const Instruction& instruction, std::uint32_t active) {
  if (!state_.changed) [[unlikely]]
    state_.changed = changes(warp, instruction, active);
  const MemoryFields& fields = instruction.memory;
  const unsigned size = bytes_of(fields.type);
  for_each_lane(active, [&](unsigned lane) {
    LaneBytes bytes;
    std::byte* to = locate(warp, instruction, lane, address_of(warp, instruction, lane),
                           size * fields.elements);
    for (unsigned e = 0; e < fields.elements; ++e) {
      const std::uint32_t* from = row(warp, instruction.source[e + 1]);
      std::memcpy(bytes.data() + std::size_t{e} * size,
                  from + (fields.register_bytes == 8 ? 2 * lane : lane), size);
    }
    copy_whole(to, bytes.data(), size * fields.elements);
  });
}

/// Copies at once: a legal outcome, as no thread may look before the wait.
void BlockRunner::copy(Warp& warp, const Instruction& instruction, std::uint32_t active) {
  const unsigned size = 4 * instruction.memory.elements;
  const std::uint32_t* to = row(warp, instruction.source[1]);
  const Operand given = instruction.source[2];
  for_each_lane(active, [&](unsigned lane) {
    const std::uint32_t read = given.valid() ? std::min(row(warp, given)[lane], size) : size;
    std::byte* place = within(shared_, to[lane], size);
    if (place == nullptr || to[lane] % size != 0)
      fail(warp, lane, copy_target_mistake(to[lane], size, shared_.size()), copy_target_advice);
    LaneBytes bytes{};
    if (read > 0) {
      const std::uint64_t address = address_of(warp, instruction, lane);
      // A partial access is checked too: it must be aligned to the full size.
      if (read == size || address % size != 0) {
        copy_whole(bytes.data(), locate(warp, instruction, lane, address, size), size);
      } else {
        for (unsigned b = 0; b < read; ++b)
          bytes[b] = *locate(warp, instruction, lane, address + b, 1);
      }
    }
    if (!state_.changed) state_.changed = std::memcmp(place, bytes.data(), size) != 0;
    copy_whole(place, bytes.data(), size);
  });
}

void BlockRunner::atomic(Warp& warp, const Instruction& instruction, std::uint32_t active) {
  const MemoryFields& fields = instruction.memory;
  const AtomicShape shape{fields.atomic, fields.type, fields.elements};
  const unsigned size = bytes_of(fields.type);
  const unsigned stride = size == 8 ? 2 : 1;
  for_each_lane(active, [&](unsigned lane) {
    std::byte* place =
        locate(warp, instruction, lane, address_of(warp, instruction, lane), shape.bytes());
    std::array<std::uint64_t, 2> old{}, a{}, b{};
    const auto read = [&](unsigned first, std::array<std::uint64_t, 2>& value) {
      for (unsigned e = 0; e < fields.elements; ++e)
        std::memcpy(reinterpret_cast<std::byte*>(value.data()) + std::size_t{e} * size,
                    row(warp, instruction.source[first + e]) + stride * lane, size);
    };
    read(1, a);
    if (fields.atomic == AtomicOperation::cas) read(1u + fields.elements, b);
    const std::array<AtomicWord, 2> operands{AtomicWord{a[0], b[0]}, AtomicWord{a[1], b[1]}};
    std::array<std::byte, 16> before;
    if (!state_.changed) std::memcpy(before.data(), place, shape.bytes());
    modify(shape, place, operands.data(), old.data());
    if (!state_.changed) state_.changed = std::memcmp(before.data(), place, shape.bytes()) != 0;
    if (!fields.returns) return;
    for (unsigned e = 0; e < fields.elements; ++e) {
      if (!instruction.destination[e].valid()) continue;
      std::uint64_t value = 0;
      std::memcpy(&value, reinterpret_cast<std::byte*>(old.data()) + std::size_t{e} * size, size);
      auto* to = const_cast<std::uint32_t*>(row(warp, instruction.destination[e]));
      if (stride == 2) {
        std::memcpy(to + 2 * lane, &value, 8);
      } else {
        to[lane] = static_cast<std::uint32_t>(value);
      }
    }
  });
}

}  // namespace lockstep::isa
