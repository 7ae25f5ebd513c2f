/// Lane data between registers and memory, for every width and signedness.
#pragma once

#include <array>
#include <cstring>

#include "models/isa/atomic.hpp"
#include "models/isa/instruction.hpp"
#include "models/sm/access/coalescer.hpp"

namespace lockstep {

/// Returns the bytes of one lane in memory.
inline unsigned lane_bytes(const isa::MemoryFields& memory) {
  return isa::bytes_of(memory.type) * memory.elements;
}

/// Returns whether elements and registers have 32 bits, so that lanes move without conversion.
inline bool moves_words(const isa::MemoryFields& memory) {
  return isa::bytes_of(memory.type) == 4 && memory.register_bytes == 4;
}

/// Returns the destination of an asynchronous copy's data for these lanes, and how much each lane
/// reads.
CopyTarget copy_target(const isa::Instruction& instruction, const isa::WarpContext& context,
                       std::uint32_t lanes);

/// Returns the low `bytes` (1, 2, 4, 8) bytes at `from`.
inline std::uint64_t load_bytes(const std::byte* from, unsigned bytes) {
  const auto as = [from]<class T>(T value) -> std::uint64_t {
    std::memcpy(&value, from, sizeof value);
    return value;
  };
  switch (bytes) {
    case 1:
      return as(std::uint8_t{});
    case 2:
      return as(std::uint16_t{});
    case 4:
      return as(std::uint32_t{});
    default:
      return as(std::uint64_t{});
  }
}
inline void store_bytes(std::byte* to, std::uint64_t value, unsigned bytes) {
  const auto as = [to]<class T>(T v) { std::memcpy(to, &v, sizeof v); };
  switch (bytes) {
    case 1:
      return as(static_cast<std::uint8_t>(value));
    case 2:
      return as(static_cast<std::uint16_t>(value));
    case 4:
      return as(static_cast<std::uint32_t>(value));
    default:
      return as(value);
  }
}

/// Writes element `e` of a lane, read from memory at `from`, to its register.
inline void write_element(const isa::Instruction& instruction, const isa::WarpContext& context,
                          unsigned e, unsigned lane, const std::byte* from) {
  const isa::MemoryFields& memory = instruction.memory;
  if (!instruction.destination[e].valid()) return;
  std::uint32_t* row = context.row(instruction.destination[e]);
  const unsigned bytes = isa::bytes_of(memory.type);
  std::uint64_t value = load_bytes(from, bytes);
  if (isa::is_signed(memory.type) && bytes < 8) {
    const unsigned shift = 64 - 8 * bytes;
    value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << shift) >> shift);
  }
  if (memory.register_bytes == 8) {
    std::memcpy(row + 2 * lane, &value, 8);
  } else {
    row[lane] = static_cast<std::uint32_t>(memory.register_bytes < 4 ? value & 0xffff : value);
  }
}

/// Writes all elements of a lane.
inline void write_elements(const isa::Instruction& instruction, const isa::WarpContext& context,
                           unsigned lane, const std::byte* from) {
  const unsigned bytes = isa::bytes_of(instruction.memory.type);
  for (unsigned e = 0; e < instruction.memory.elements; ++e)
    write_element(instruction, context, e, lane, from + e * bytes);
}

/// Returns the bytes of an element of a lane's register that go to memory.
inline std::uint64_t read_element(const isa::Instruction& instruction,
                                  const isa::WarpContext& context, unsigned source, unsigned lane) {
  const std::uint32_t* row = context.row(instruction.source[source]);
  if (instruction.memory.register_bytes != 8) return row[lane];
  std::uint64_t value;
  std::memcpy(&value, row + 2 * lane, 8);
  return value;
}

inline isa::AtomicShape atomic_shape(const isa::Instruction& instruction) {
  const isa::MemoryFields& memory = instruction.memory;
  return {memory.atomic, memory.type, memory.elements};
}

/// Gathers the lanes' store data, `lane_bytes` each, by lane.
void gather_store_data(const isa::Instruction& instruction, const isa::WarpContext& context,
                       std::uint32_t active, std::byte* data);
/// Returns the operands of one lane of an atomic, one word for every 8 bytes of its value.
std::array<isa::AtomicWord, 2> atomic_operands(const isa::Instruction& instruction,
                                               const isa::WarpContext& context, unsigned lane);
/// Gathers the operands of all active lanes, one or two words each.
void gather_atomic_operands(const isa::Instruction& instruction, const isa::WarpContext& context,
                            std::uint32_t active, std::byte* data);

/// Writes the loaded data of `lanes` to registers: lane l's bytes stand at base + offset[l].
void scatter_load(const isa::Instruction& instruction, const isa::WarpContext& context,
                  std::uint32_t lanes, const std::byte* base, const std::uint8_t* offset);
/// Writes the loaded data of consecutive lanes, whose bytes stand one after the other from `base`
/// on.
void scatter_contiguous(const isa::Instruction& instruction, const isa::WarpContext& context,
                        std::uint32_t lanes, const std::byte* base);
/// Writes only word `part` of each lane's data (local memory).
void scatter_part(const isa::Instruction& instruction, const isa::WarpContext& context,
                  std::uint32_t lanes, const std::byte* base, const std::uint8_t* offset,
                  unsigned part);

/// Fills in the addresses of all lanes, `offset` added.  Inactive lanes get the first active
/// lane's.
void lane_addresses(const isa::Instruction& instruction, const isa::WarpContext& context,
                    std::uint32_t active, LaneAddresses& address);

}  // namespace lockstep
