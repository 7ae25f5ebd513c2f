/// Shared memory: 32-bit banks, conflicts, broadcast; constant and parameter memory.
///
/// Lanes that use different words of one bank are served one after the other; lanes that use the
/// same word together.  64- and 128-bit accesses go by half and quarter warps.  What an
/// instruction's pattern of lane addresses costs is remembered, because it nearly always repeats;
/// the memory of it is scratch of the host thread and changes no result. Source: gpu-parameters.md,
/// sections 3 and 10; CUDA programming guide, "Shared Memory"; hot-path.md
/// ("Remembering the address pattern per instruction").
///
/// Simplified: an access reads and writes when it issues; the banks only decide when its result is
/// there.  Atomics to one word are served one lane after the other.
#include <algorithm>
#include <array>
#include <cstring>

#include "models/isa/atomic.hpp"
#include "models/isa/lane_mask.hpp"
#include "models/sm/issue_path.hpp"
#include "models/sm/lane_data.hpp"

namespace lockstep {

using isa::Category;
using isa::for_each_lane;
using isa::Instruction;

namespace {

using LaneOffsets = std::array<std::uint32_t, 32>;

/// Cycles that the banks need for these lanes; `serial`: same words are not served together.
unsigned conflict_degree(const LaneOffsets& offset, std::uint32_t lanes, unsigned bytes,
                         unsigned banks, bool serial) {
  const unsigned words = std::max(1u, bytes / 4);
  const unsigned group = 32 / words;  // lanes served together
  unsigned degree = 0;
  for (unsigned first = 0; first < 32; first += group) {
    std::array<std::uint8_t, 32> load{};
    std::array<std::uint32_t, 32 * 4> seen;
    unsigned distinct = 0, most = 0;
    for (unsigned lane = first; lane < first + group; ++lane) {
      if (!((lanes >> lane) & 1)) continue;
      for (unsigned w = 0; w < words; ++w) {
        const std::uint32_t word = offset[lane] / 4 + w;
        const auto* end = seen.begin() + distinct;
        if (!serial && std::find(seen.begin(), seen.begin() + distinct, word) != end) continue;
        seen[distinct++] = word;
        most = std::max<unsigned>(most, ++load[word % banks]);
      }
    }
    degree += most;
  }
  return std::max(1u, degree);
}

/// What an instruction's lane addresses look like from the first active lane.
struct Pattern {
  enum Shape : std::uint8_t { scattered, quads_of_neighbours, quads_of_one };

  /// All that the rest follows from, together with `relative`.
  struct Key {
    std::uint32_t lanes = 0;
    std::uint16_t banks = 0;  ///< 0: not to be remembered
    std::uint8_t bytes = 0;
    bool serial = false;  ///< lanes at one word are not served together
    bool operator==(const Key&) const = default;
  };

  Key key;
  LaneOffsets relative{};  ///< bytes, signed; zero for inactive lanes
  std::int32_t least = 0, most = 0;
  std::uint32_t low_bits = 0;  ///< of all of relative
  std::uint32_t degree = 1;
  Shape shape = scattered;  ///< of 32-bit accesses: how each four lanes lie
};

Pattern::Shape shape_of(const LaneOffsets& relative, std::uint32_t lanes) {
  if (lanes != 0xffffffff) return Pattern::scattered;
  bool neighbours = true, one = true;
  for (unsigned lane = 0; lane < 32; ++lane) {
    neighbours &= relative[lane] == relative[lane & ~3u] + 4 * (lane & 3);
    one &= relative[lane] == relative[lane & ~3u];
  }
  return neighbours ? Pattern::quads_of_neighbours
         : one      ? Pattern::quads_of_one
                    : Pattern::scattered;
}

/// Difference of a lane's address to the first active one's, zero where inactive.
LaneOffsets relative_to_first(const std::uint32_t* address, std::uint32_t lanes) {
  const std::uint32_t base = address[std::countr_zero(lanes)];
  LaneOffsets relative;
  for (unsigned lane = 0; lane < 32; ++lane)
    relative[lane] = (lanes >> lane) & 1 ? address[lane] - base : 0;
  return relative;
}

bool lie_like(const LaneOffsets& relative, const std::uint32_t* address, std::uint32_t lanes) {
  if (lanes != 0xffffffff) return relative_to_first(address, lanes) == relative;
  const std::uint32_t base = address[0];
  std::uint32_t different = 0;
  for (unsigned lane = 0; lane < 32; ++lane) different |= (address[lane] - base) ^ relative[lane];
  return different == 0;
}

Pattern make_pattern(const Pattern::Key& key, const std::uint32_t* address, std::uint32_t base) {
  Pattern pattern;
  pattern.key = key;
  if (base % 4 != 0) pattern.key.banks = 0;
  pattern.relative = relative_to_first(address, key.lanes);
  pattern.shape = shape_of(pattern.relative, key.lanes);
  LaneOffsets offset;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const std::uint32_t relative = pattern.relative[lane];
    offset[lane] = base + relative;
    pattern.low_bits |= relative;
    pattern.least = std::min(pattern.least, static_cast<std::int32_t>(relative));
    pattern.most = std::max(pattern.most, static_cast<std::int32_t>(relative));
  }
  pattern.degree = conflict_degree(offset, key.lanes, key.bytes, key.banks, key.serial);
  return pattern;
}

/// `base`: the first active lane's address.  Banks see the same picture when it moves by words.
const Pattern& pattern_of(const Instruction& instruction, const std::uint32_t* address,
                          std::uint32_t base, std::uint32_t lanes, unsigned bytes, unsigned banks) {
  // The address only chooses the place: another module's instruction may come to stand there.
  thread_local std::array<Pattern, 512> patterns;
  const auto number = reinterpret_cast<std::uintptr_t>(&instruction) / sizeof(Instruction);
  Pattern& pattern = patterns[number % patterns.size()];
  const Pattern::Key key{lanes, static_cast<std::uint16_t>(banks), static_cast<std::uint8_t>(bytes),
                         instruction.category == Category::atomic};
  if (pattern.key != key || base % 4 != 0 || !lie_like(pattern.relative, address, lanes))
      [[unlikely]]
    pattern = make_pattern(key, address, base);
  return pattern;
}

/// Access of 32-bit registers by all lanes.
bool is_plain(const isa::MemoryFields& memory, std::uint32_t lanes) {
  return lanes == 0xffffffff && isa::bytes_of(memory.type) == 4 && memory.register_bytes == 4;
}

/// Lane l's 32 bits stand at first + relative[l].
void load_plain(std::uint32_t* row, const std::byte* first, const Pattern& pattern,
                unsigned elements) {
  const auto at = [&](unsigned lane) {
    return first + static_cast<std::int32_t>(pattern.relative[lane]);
  };
  if (pattern.shape == Pattern::quads_of_neighbours && elements == 1) {
    for (unsigned lane = 0; lane < 32; lane += 4) std::memcpy(row + lane, at(lane), 16);
  } else if (pattern.shape == Pattern::quads_of_one) {
    for (unsigned lane = 0; lane < 32; lane += 4) {
      std::uint32_t value;
      std::memcpy(&value, at(lane), 4);
      const std::array<std::uint32_t, 4> four{value, value, value, value};
      std::memcpy(row + lane, four.data(), 16);
    }
  } else {
    for (unsigned lane = 0; lane < 32; ++lane) std::memcpy(row + lane, at(lane), 4);
  }
}

void store_plain(const std::uint32_t* row, std::byte* first, const Pattern& pattern) {
  const auto at = [&](unsigned lane) {
    return first + static_cast<std::int32_t>(pattern.relative[lane]);
  };
  if (pattern.shape == Pattern::quads_of_neighbours) {
    for (unsigned lane = 0; lane < 32; lane += 4) std::memcpy(at(lane), row + lane, 16);
  } else {
    for (unsigned lane = 0; lane < 32; ++lane) std::memcpy(at(lane), row + lane, 4);
  }
}

void load_lanes(const Instruction& instruction, const isa::WarpContext& context,
                std::uint32_t lanes, const std::byte* first, const Pattern& pattern) {
  const isa::MemoryFields& memory = instruction.memory;
  const unsigned bytes = isa::bytes_of(memory.type);
  if (is_plain(memory, lanes)) {
    for (unsigned e = 0; e < memory.elements; ++e)
      if (instruction.destination[e].valid())
        load_plain(context.row(instruction.destination[e]), first + 4 * e, pattern,
                   memory.elements);
    return;
  }
  for_each_lane(lanes, [&](unsigned lane) {
    const std::byte* from = first + static_cast<std::int32_t>(pattern.relative[lane]);
    for (unsigned e = 0; e < memory.elements; ++e)
      write_element(instruction, context, e, lane, from + e * bytes);
  });
}

void store_lanes(const Instruction& instruction, const isa::WarpContext& context,
                 std::uint32_t lanes, std::byte* first, const Pattern& pattern) {
  const isa::MemoryFields& memory = instruction.memory;
  const unsigned bytes = isa::bytes_of(memory.type);
  if (is_plain(memory, lanes) && memory.elements == 1) {
    store_plain(context.row(instruction.source[1]), first, pattern);
    return;
  }
  for_each_lane(lanes, [&](unsigned lane) {
    std::byte* to = first + static_cast<std::int32_t>(pattern.relative[lane]);
    for (unsigned e = 0; e < memory.elements; ++e) {
      const std::uint64_t value = read_element(instruction, context, 1 + e, lane);
      store_bytes(to + e * bytes, value, bytes);
    }
  });
}

void atomic_lanes(const Instruction& instruction, const isa::WarpContext& context,
                  std::uint32_t lanes, std::byte* first, const Pattern& pattern) {
  const isa::AtomicShape shape = atomic_shape(instruction);
  for_each_lane(lanes, [&](unsigned lane) {
    std::byte* at = first + static_cast<std::int32_t>(pattern.relative[lane]);
    const auto operands = atomic_operands(instruction, context, lane);
    std::array<std::uint64_t, 2> old;
    isa::modify(shape, at, operands.data(), old.data());
    if (instruction.memory.returns)
      write_elements(instruction, context, lane, reinterpret_cast<const std::byte*>(old.data()));
  });
}

}  // namespace

void SmState::issue_shared(unsigned slot, const Instruction& instruction, const IssueRecord& record,
                           std::uint32_t active, const std::uint32_t* address, std::int64_t offset,
                           bool commits, std::int64_t now) {
  Warp& warp = warps[slot];
  BlockSlot& block = blocks[warp.block];
  if (instruction.category == Category::prefetch) return;
  const unsigned bytes = lane_bytes(instruction.memory);
  // 32-bit addresses wrap around.
  const std::int64_t base = static_cast<std::uint32_t>(address[std::countr_zero(active)] + offset);
  const Pattern& pattern = pattern_of(instruction, address, static_cast<std::uint32_t>(base),
                                      active, bytes, parameters.shared.banks);
  if (base + pattern.least < 0 || base + pattern.most + bytes > block.shared_bytes ||
      ((static_cast<std::uint32_t>(base) | pattern.low_bits) & (bytes - 1)) != 0) [[unlikely]]
    bad_shared_address(warp, instruction, address, offset, active);

  std::byte* first = shared.data() + block.shared_base + base;
  if (instruction.category == Category::load) {
    load_lanes(instruction, warp.context, active, first, pattern);
  } else if (instruction.category == Category::store) {
    store_lanes(instruction, warp.context, active, first, pattern);
  } else {
    atomic_lanes(instruction, warp.context, active, first, pattern);
    // Whether it was the last arrival is not asked: ordering too much only makes a release wait.
    if (instruction.memory.atomic == isa::AtomicOperation::arrive) [[unlikely]]
      order_stores(block);
  }
  ++statistics.shared_accesses[warp.tenant];
  statistics.shared_conflict_cycles[warp.tenant] += pattern.degree - 1;
  shared_free = std::max(shared_free, now) + pattern.degree;
  if (commits) commit_at(slot, record, shared_free - 1 + record.latency);
  if (shared_free - now >= parameters.memory_queue) {
    memory_open = 0;
    gate_wake = shared_free - parameters.memory_queue + 1;
  }
}

void SmState::issue_constant(unsigned slot, const Instruction& instruction,
                             const IssueRecord& record, std::uint32_t active,
                             const LaneAddresses& address, bool commits, std::int64_t now) {
  Warp& warp = warps[slot];
  const GridSlot& grid = grids[warp.grid];
  const unsigned bytes = isa::bytes_of(instruction.memory.type);
  // Different words are served one after the other.
  std::array<std::uint64_t, 32> words;
  unsigned distinct = 0;
  for_each_lane(active, [&](unsigned lane) {
    const bool is_parameter = address[lane] >= isa::parameter_window_base;
    const std::vector<std::byte>& bank = is_parameter ? grid.parameters
                                         : grid.relocated_image.empty()
                                             ? grid.module->constant_image
                                             : grid.relocated_image;
    const std::uint64_t offset =
        address[lane] - (is_parameter ? isa::parameter_window_base : isa::constant_window_base);
    if (offset >= bank.size() || offset + lane_bytes(instruction.memory) > bank.size() ||
        instruction.category != Category::load) [[unlikely]]
      user_error(warp, warp.paths.pc(), lane,
                 "constant address " + hexadecimal(address[lane]) + " is outside of its " +
                     std::to_string(bank.size()) + " bytes, or written to",
                 "an index runs over a constant array, or constant memory is stored to");
    for (unsigned e = 0; e < instruction.memory.elements; ++e)
      write_element(instruction, warp.context, e, lane, bank.data() + offset + e * bytes);
    const auto end = words.begin() + distinct;
    if (std::find(words.begin(), end, address[lane] / 4) == end)
      words[distinct++] = address[lane] / 4;
  });
  if (commits) commit_at(slot, record, now + record.latency + std::max(1u, distinct) - 1);
}

void SmState::bad_shared_address(const Warp& warp, const Instruction& instruction,
                                 const std::uint32_t* address, std::int64_t offset,
                                 std::uint32_t active) const {
  const std::uint32_t limit = blocks[warp.block].shared_bytes;
  const unsigned bytes = lane_bytes(instruction.memory);
  LaneAddresses wide;
  for (unsigned lane = 0; lane < isa::warp_size; ++lane) {
    wide[lane] = static_cast<std::uint32_t>(address[lane] + offset);
    if (((active >> lane) & 1) && wide[lane] + bytes > limit)
      user_error(warp, warp.paths.pc(), lane,
                 "shared address " + hexadecimal(wide[lane]) + " is outside of the block's " +
                     std::to_string(limit) + " bytes",
                 "an index runs over a shared array, or the launch's `shared:` is too small");
  }
  misaligned(warp, wide, active, bytes);
}

}  // namespace lockstep
