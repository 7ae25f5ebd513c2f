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
#include "models/sm/lane_data.hpp"
#include "models/sm/sm_state.hpp"

namespace lockstep {

using isa::Category;
using isa::Instruction;

namespace {

/// Cycles that the banks need for these lanes.
unsigned conflict_degree(const LaneAddresses& address, std::uint32_t lanes, unsigned bytes,
                         unsigned banks, bool serial) {
  const unsigned words = std::max(1u, bytes / 4);
  const unsigned group = 32 / words;  // lanes served together
  unsigned degree = 0;
  for (unsigned first = 0; first < 32; first += group) {
    std::array<std::uint8_t, 32> load{};
    std::array<std::uint64_t, 32 * 4> seen;
    unsigned distinct = 0, most = 0;
    for (unsigned lane = first; lane < first + group; ++lane) {
      if (!((lanes >> lane) & 1)) continue;
      for (unsigned w = 0; w < words; ++w) {
        const std::uint64_t word = address[lane] / 4 + w;
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

/// Patterns of lane addresses relative to the first, by instruction.
struct Pattern {
  const Instruction* instruction = nullptr;
  std::uint32_t lanes = 0;
  std::uint32_t banks = 0;
  std::array<std::uint32_t, 32> relative{};
  std::uint32_t degree = 0;
  std::uint32_t least = 0, most = 0;  ///< of relative, as signed numbers
};

const Pattern& pattern_of(const Instruction& instruction, const LaneAddresses& address,
                          std::uint32_t lanes, unsigned bytes, unsigned banks) {
  thread_local std::array<Pattern, 512> patterns;
  std::array<std::uint32_t, 32> relative;
  const auto base =
      static_cast<std::uint32_t>(address[static_cast<unsigned>(std::countr_zero(lanes))]);
  for (unsigned lane = 0; lane < 32; ++lane)
    relative[lane] = static_cast<std::uint32_t>(address[lane]) - base;
  const auto number = reinterpret_cast<std::uintptr_t>(&instruction) / sizeof(Instruction);
  Pattern& pattern = patterns[number % patterns.size()];
  // Banks see the same picture when the base moves by whole words.
  if (pattern.instruction == &instruction && pattern.lanes == lanes && pattern.banks == banks &&
      std::memcmp(pattern.relative.data(), relative.data(), sizeof relative) == 0 && base % 4 == 0)
      [[likely]]
    return pattern;
  pattern.instruction = &instruction;
  pattern.lanes = lanes;
  pattern.banks = base % 4 == 0 ? banks : 0;
  pattern.relative = relative;
  pattern.degree =
      conflict_degree(address, lanes, bytes, banks, instruction.category == Category::atomic);
  std::int32_t least = 0, most = 0;
  for (std::uint32_t r : relative) {
    least = std::min(least, static_cast<std::int32_t>(r));
    most = std::max(most, static_cast<std::int32_t>(r));
  }
  pattern.least = static_cast<std::uint32_t>(least);
  pattern.most = static_cast<std::uint32_t>(most);
  return pattern;
}

template <class Function>
void for_each_lane(std::uint32_t lanes, Function&& function) {
  for (; lanes != 0; lanes &= lanes - 1) function(static_cast<unsigned>(std::countr_zero(lanes)));
}

void load_lanes(const Instruction& instruction, const isa::WarpContext& context,
                std::uint32_t lanes, const std::byte* base, const LaneAddresses& address,
                const Pattern& pattern) {
  const isa::MemoryFields& memory = instruction.memory;
  const unsigned bytes = isa::bytes_of(memory.type);
  if (lanes == 0xffffffff && memory.elements == 1 && bytes == 4 && memory.register_bytes == 4) {
    if (!instruction.destination[0].valid()) return;
    std::uint32_t* row = context.row(instruction.destination[0]);
    const std::byte* first = base + address[0];
    for (unsigned lane = 0; lane < 32; ++lane)
      std::memcpy(row + lane, first + static_cast<std::int32_t>(pattern.relative[lane]), 4);
    return;
  }
  for_each_lane(lanes, [&](unsigned lane) {
    for (unsigned e = 0; e < memory.elements; ++e)
      write_element(instruction, context, e, lane, base + address[lane] + e * bytes);
  });
}

void store_lanes(const Instruction& instruction, const isa::WarpContext& context,
                 std::uint32_t lanes, std::byte* base, const LaneAddresses& address) {
  const isa::MemoryFields& memory = instruction.memory;
  const unsigned bytes = isa::bytes_of(memory.type);
  if (memory.elements == 1 && bytes == 4 && memory.register_bytes == 4) {
    const std::uint32_t* row = context.row(instruction.source[1]);
    for_each_lane(lanes, [&](unsigned lane) { std::memcpy(base + address[lane], row + lane, 4); });
    return;
  }
  for_each_lane(lanes, [&](unsigned lane) {
    for (unsigned e = 0; e < memory.elements; ++e) {
      const std::uint64_t value = read_element(instruction, context, 1 + e, lane);
      std::memcpy(base + address[lane] + e * bytes, &value, bytes);
    }
  });
}

void atomic_lanes(const Instruction& instruction, const isa::WarpContext& context,
                  std::uint32_t lanes, std::byte* base, const LaneAddresses& address) {
  const isa::MemoryFields& memory = instruction.memory;
  const unsigned bytes = isa::bytes_of(memory.type);
  const bool two = instruction.source[2].valid();
  for_each_lane(lanes, [&](unsigned lane) {
    const std::uint64_t a = read_element(instruction, context, 1, lane);
    const std::uint64_t b = two ? read_element(instruction, context, 2, lane) : 0;
    std::uint64_t old = 0;
    std::memcpy(&old, base + address[lane], bytes);
    const std::uint64_t next = isa::apply(memory.atomic, memory.type, old, a, b);
    std::memcpy(base + address[lane], &next, bytes);
    if (memory.returns)
      write_element(instruction, context, 0, lane, reinterpret_cast<const std::byte*>(&old));
  });
}

}  // namespace

void SmState::issue_shared(unsigned slot, const Instruction& instruction, const IssueRecord& record,
                           std::uint32_t active, const LaneAddresses& address, bool commits,
                           std::int64_t now) {
  Warp& warp = warps[slot];
  const BlockSlot& block = blocks[warp.block];
  const unsigned bytes = lane_bytes(instruction.memory);
  if (instruction.category == Category::prefetch) return;
  const Pattern& pattern = pattern_of(instruction, address, active, bytes, parameters.shared.banks);
  const std::uint64_t base = address[static_cast<unsigned>(std::countr_zero(active))];
  const auto least = static_cast<std::int64_t>(base) + static_cast<std::int32_t>(pattern.least);
  const auto most = static_cast<std::int64_t>(base) + static_cast<std::int32_t>(pattern.most);
  if (least < 0 || most + bytes > block.shared_bytes) [[unlikely]]
    outside_shared(warp, address, active, bytes);

  std::byte* memory = shared.data() + block.shared_base;
  if (instruction.category == Category::load) {
    load_lanes(instruction, warp.context, active, memory, address, pattern);
  } else if (instruction.category == Category::store) {
    store_lanes(instruction, warp.context, active, memory, address);
  } else {
    atomic_lanes(instruction, warp.context, active, memory, address);
  }
  ++statistics.shared_accesses[warp.tenant];
  statistics.shared_conflict_cycles[warp.tenant] += pattern.degree - 1;
  shared_free = std::max(shared_free, now) + pattern.degree;
  if (commits) commit_at(warp, record, shared_free - 1 + record.latency);
  if (shared_free - now >= parameters.memory_queue) {
    memory_open = 0;
    wheel.add(shared_free - parameters.memory_queue + 1,
              WarpEvent::code(WarpEvent::resume, memory_gate_event));
  }
}

void SmState::issue_constant(unsigned slot, const Instruction& instruction,
                             const IssueRecord& record, std::uint32_t active,
                             const LaneAddresses& address, std::int64_t now) {
  Warp& warp = warps[slot];
  const GridSlot& grid = grids[warp.grid];
  const std::vector<std::byte>& bank = instruction.memory.space == isa::Space::parameter
                                           ? grid.parameters
                                       : grid.relocated_image.empty() ? grid.module->constant_image
                                                                      : grid.relocated_image;
  const unsigned bytes = isa::bytes_of(instruction.memory.type);
  // Different words are served one after the other.
  std::array<std::uint64_t, 32> words;
  unsigned distinct = 0;
  for_each_lane(active, [&](unsigned lane) {
    if (address[lane] + lane_bytes(instruction.memory) > bank.size()) [[unlikely]]
      user_error(warp, warp.paths.pc(), lane,
                 "constant address " + hexadecimal(address[lane]) + " is outside of its " +
                     std::to_string(bank.size()) + " bytes",
                 "an index runs over a constant array");
    for (unsigned e = 0; e < instruction.memory.elements; ++e)
      write_element(instruction, warp.context, e, lane, bank.data() + address[lane] + e * bytes);
    const std::uint64_t word = address[lane] / 4;
    const auto* end = words.begin() + distinct;
    if (std::find(words.begin(), words.begin() + distinct, word) == end) words[distinct++] = word;
  });
  commit_at(warp, record, now + record.latency + std::max(1u, distinct) - 1);
}

void SmState::outside_shared(const Warp& warp, const LaneAddresses& address, std::uint32_t active,
                             unsigned bytes) const {
  const std::uint32_t limit = blocks[warp.block].shared_bytes;
  for (unsigned lane = 0; lane < isa::warp_size; ++lane)
    if (((active >> lane) & 1) && address[lane] + bytes > limit)
      user_error(warp, warp.paths.pc(), lane,
                 "shared address " + hexadecimal(address[lane]) + " is outside of the block's " +
                     std::to_string(limit) + " bytes",
                 "an index runs over a shared array, or the launch's `shared:` is too small");
  internal_error(__FILE__, __LINE__, "outside", "no lane is outside of shared memory");
}

}  // namespace lockstep
