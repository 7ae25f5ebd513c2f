#include "models/sm/access/lane_data.hpp"

#include <smmintrin.h>

#include <bit>
#include <cstring>

#include "models/isa/lane_mask.hpp"
#include "models/sm/access/lane_elements.hpp"
#include "models/sm/access/lane_runs.hpp"

namespace lockstep {

using isa::for_each_lane;
using isa::Instruction;
using isa::warp_size;
using isa::WarpContext;

namespace {

/// Does what lane_addresses() does.
void few_addresses(const std::uint32_t* row, const Instruction& instruction, std::uint32_t active,
                   LaneAddresses& address) {
  const auto offset = static_cast<std::uint64_t>(std::int64_t{instruction.offset});
  const bool wide = (instruction.flags & isa::flag_address_wide) != 0;
  const auto address_of = [&](unsigned lane) -> std::uint64_t {
    if (!wide) return static_cast<std::uint32_t>(row[lane] + offset);
    std::uint64_t base;
    std::memcpy(&base, row + 2 * lane, sizeof base);
    return base + offset;
  };
  address.fill(address_of(static_cast<unsigned>(std::countr_zero(active))));
  for_each_lane(active & (active - 1), [&](unsigned lane) { address[lane] = address_of(lane); });
}

}  // namespace

void lane_addresses(const Instruction& instruction, const WarpContext& context,
                    std::uint32_t active, LaneAddresses& address) {
  const auto offset = static_cast<std::uint64_t>(std::int64_t{instruction.offset});
  if (!instruction.source[0].valid()) {
    address.fill(offset);
    return;
  }
  const std::uint32_t* row = context.row(instruction.source[0]);
  if (std::popcount(active) <= few_lanes) return few_addresses(row, instruction, active, address);
  if (instruction.flags & isa::flag_address_wide) {
    std::array<std::uint64_t, warp_size> base;
    std::memcpy(base.data(), row, sizeof base);
    for (unsigned lane = 0; lane < warp_size; ++lane) address[lane] = base[lane] + offset;
  } else {
    for (unsigned lane = 0; lane < warp_size; ++lane)
      address[lane] = static_cast<std::uint32_t>(row[lane] + offset);
  }
  if (active == 0xffffffff) return;
  const std::uint64_t first = address[static_cast<unsigned>(std::countr_zero(active))];
  const __m128i firsts = _mm_set1_epi64x(static_cast<std::int64_t>(first));
  const __m128i mask = _mm_set1_epi64x(active);
  __m128i bits = _mm_set_epi64x(2, 1);  // bits of the two lanes of a pair
  for (unsigned lane = 0; lane < warp_size; lane += 2, bits = _mm_slli_epi64(bits, 2)) {
    auto* pair = reinterpret_cast<__m128i*>(&address[lane]);
    const __m128i runs = _mm_cmpeq_epi64(_mm_and_si128(mask, bits), bits);
    _mm_storeu_si128(pair, _mm_blendv_epi8(firsts, _mm_loadu_si128(pair), runs));
  }
}

CopyTarget copy_target(const Instruction& instruction, const WarpContext& context,
                       std::uint32_t lanes) {
  CopyTarget target;
  const auto size = static_cast<std::uint8_t>(lane_bytes(instruction.memory));
  const std::uint32_t* to = context.row(instruction.source[1]);
  const std::uint32_t* given =
      instruction.source[2].valid() ? context.row(instruction.source[2]) : nullptr;
  for_each_lane(lanes, [&](unsigned lane) {
    target.to[lane] = to[lane];
    target.bytes[lane] =
        given == nullptr || given[lane] > size ? size : static_cast<std::uint8_t>(given[lane]);
  });
  return target;
}

void gather_store_data(const Instruction& instruction, const WarpContext& context,
                       std::uint32_t active, std::byte* data) {
  const unsigned bytes = isa::bytes_of(instruction.memory.type);
  const unsigned elements = instruction.memory.elements;
  if (elements == 1 && bytes == instruction.memory.register_bytes && bytes >= 4) {
    std::memcpy(data, context.row(instruction.source[1]), std::size_t{bytes} * warp_size);
    return;
  }
  const std::size_t stride = std::size_t{bytes} * elements;
  store_elements(instruction, context, active, [&](unsigned lane) { return data + lane * stride; });
}

std::array<isa::AtomicWord, 2> atomic_operands(const Instruction& instruction,
                                               const WarpContext& context, unsigned lane) {
  const unsigned elements = instruction.memory.elements;
  if (elements == 1) [[likely]] {
    const bool two = instruction.source[2].valid();
    return {isa::AtomicWord{read_element(instruction, context, 1, lane),
                            two ? read_element(instruction, context, 2, lane) : 0}};
  }
  const unsigned bytes = isa::bytes_of(instruction.memory.type);
  std::array<std::array<std::byte, 16>, 2> value{};
  for (unsigned source = 0; source < 2 * elements; ++source) {
    if (source + 1 >= instruction.source.size() || !instruction.source[source + 1].valid()) break;
    store_bytes(value[source / elements].data() + source % elements * bytes,
                read_element(instruction, context, source + 1, lane), bytes);
  }
  std::array<isa::AtomicWord, 2> words;
  for (unsigned w = 0; w < 2; ++w)
    words[w] = {load_bytes(value[0].data() + 8 * w, 8), load_bytes(value[1].data() + 8 * w, 8)};
  return words;
}

void gather_atomic_operands(const Instruction& instruction, const WarpContext& context,
                            std::uint32_t active, std::byte* data) {
  const bool one_word = atomic_shape(instruction).words() == 1;
  for_each_lane(active, [&](unsigned lane) {
    const auto words = atomic_operands(instruction, context, lane);
    if (one_word)
      std::memcpy(data + lane * sizeof words[0], words.data(), sizeof words[0]);
    else
      std::memcpy(data + lane * sizeof words, words.data(), sizeof words);
  });
}

void scatter_load(const Instruction& instruction, const WarpContext& context, std::uint32_t lanes,
                  const std::byte* base, const std::uint8_t* offset) {
  const isa::MemoryFields& memory = instruction.memory;
  constexpr int long_run = 12;  // copied at once in less time than lane by lane
  if (moves_words(memory) && memory.elements == 1 && std::popcount(lanes) >= long_run) {
    const std::uint32_t followers = followers_in_lines(offset, 4);
    if (are_long_runs(lanes, followers, long_run)) {
      if (!instruction.destination[0].valid()) return;
      std::uint32_t* row = context.row(instruction.destination[0]);
      return for_each_run(lanes, followers, [&](unsigned lane, unsigned count) {
        std::memcpy(row + lane, base + offset[lane], std::size_t{4} * count);
      });
    }
  }
  load_elements(instruction, context, lanes, [&](unsigned lane) { return base + offset[lane]; });
}

void scatter_contiguous(const Instruction& instruction, const WarpContext& context,
                        std::uint32_t lanes, const std::byte* base) {
  const isa::MemoryFields& memory = instruction.memory;
  const unsigned bytes = isa::bytes_of(memory.type);
  const unsigned stride = bytes * memory.elements;
  const unsigned first = static_cast<unsigned>(std::countr_zero(lanes));
  if (memory.elements == 1 && bytes == memory.register_bytes && bytes >= 4) {
    if (!instruction.destination[0].valid()) return;
    auto* row = reinterpret_cast<std::byte*>(context.row(instruction.destination[0]));
    // Loads run by run: some sectors in the middle may come later.
    for (std::uint32_t left = lanes; left != 0;) {
      const unsigned lane = static_cast<unsigned>(std::countr_zero(left));
      const unsigned count = static_cast<unsigned>(std::countr_one(left >> lane));
      std::memcpy(row + std::size_t{lane} * bytes, base + std::size_t{lane - first} * bytes,
                  std::size_t{count} * bytes);
      left &= ~isa::lanes_from(lane, count);
    }
    return;
  }
  load_elements(instruction, context, lanes,
                [&](unsigned lane) { return base + std::size_t{lane - first} * stride; });
}

void scatter_part(const Instruction& instruction, const WarpContext& context, std::uint32_t lanes,
                  const std::byte* base, const std::uint8_t* offset, unsigned part) {
  const isa::MemoryFields& memory = instruction.memory;
  const unsigned bytes = isa::bytes_of(memory.type);
  if (bytes == 8) {  // the word is half of an element
    if (!instruction.destination[part / 2].valid()) return;
    std::uint32_t* row = context.row(instruction.destination[part / 2]);
    for_each_lane(lanes, [&](unsigned lane) {
      std::memcpy(row + 2 * lane + part % 2, base + offset[lane], 4);
    });
    return;
  }
  for (unsigned e = 0; e < memory.elements; ++e) {
    if (e * bytes / 4 != part) continue;
    for_each_lane(lanes, [&](unsigned lane) {
      write_element(instruction, context, e, lane, base + offset[lane] + e * bytes % 4);
    });
  }
}

}  // namespace lockstep
