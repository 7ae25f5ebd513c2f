/// Moves the elements of lanes between registers and the lanes' places, of global or of shared
/// memory.  The kind of element is asked for once, and not for each lane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "models/isa/lane_mask.hpp"
#include "models/sm/access/lane_data.hpp"
#include "models/sm/access/lane_vectors.hpp"

namespace lockstep {

/// Writes values of one type to registers of at most 32 bits, as write_element() does.
template <class Value, class Place>
void load_values(std::uint32_t* row, std::uint32_t mask, std::uint32_t lanes, const Place& place) {
  isa::for_each_lane(lanes, [&](unsigned lane) {
    Value value;
    std::memcpy(&value, place(lane), sizeof value);
    row[lane] = static_cast<std::uint32_t>(value) & mask;
  });
}

/// Does what load_values() does for the instruction's type, of one or two bytes.
template <class Place>
void load_small(const isa::MemoryFields& memory, std::uint32_t* row, std::uint32_t lanes,
                const Place& place) {
  const std::uint32_t mask = memory.register_bytes < 4 ? 0xffff : 0xffffffff;
  const bool is_signed = isa::is_signed(memory.type);
  if (isa::bytes_of(memory.type) == 1)
    is_signed ? load_values<std::int8_t>(row, mask, lanes, place)
              : load_values<std::uint8_t>(row, mask, lanes, place);
  else
    is_signed ? load_values<std::int16_t>(row, mask, lanes, place)
              : load_values<std::uint16_t>(row, mask, lanes, place);
}

/// Loads the elements of these lanes, which stand one behind the other at place(lane).
template <class Place>
void load_elements(const isa::Instruction& instruction, const isa::WarpContext& context,
                   std::uint32_t lanes, const Place& place) {
  const isa::MemoryFields& memory = instruction.memory;
  if (moves_vectors(memory)) return load_vectors(instruction, context, lanes, place);
  const unsigned bytes = isa::bytes_of(memory.type);
  for (unsigned e = 0; e < memory.elements; ++e) {
    if (!instruction.destination[e].valid()) continue;
    const auto of_element = [&](unsigned lane) { return place(lane) + e * bytes; };
    std::uint32_t* const row = context.row(instruction.destination[e]);
    if (moves_words(memory)) {
      load_values<std::uint32_t>(row, 0xffffffff, lanes, of_element);
    } else if (bytes < 4 && memory.register_bytes != 8) {
      load_small(memory, row, lanes, of_element);
    } else {
      isa::for_each_lane(lanes, [&](unsigned lane) {
        write_element(instruction, context, e, lane, of_element(lane));
      });
    }
  }
}

/// Writes the low bytes of each lane's register.
template <class Value, class Place>
void store_values(const std::uint32_t* row, std::uint32_t lanes, const Place& place) {
  isa::for_each_lane(lanes, [&](unsigned lane) {
    const auto value = static_cast<Value>(row[lane]);
    std::memcpy(place(lane), &value, sizeof value);
  });
}

/// Stores the elements of these lanes one behind the other at place(lane).  A later lane writes
/// over an earlier one.
template <class Place>
void store_elements(const isa::Instruction& instruction, const isa::WarpContext& context,
                    std::uint32_t lanes, const Place& place) {
  const isa::MemoryFields& memory = instruction.memory;
  if (moves_vectors(memory)) return store_vectors(instruction, context, lanes, place);
  const unsigned bytes = isa::bytes_of(memory.type);
  for (unsigned e = 0; e < memory.elements; ++e) {
    const std::uint32_t* row = context.row(instruction.source[1 + e]);
    const auto of_element = [&](unsigned lane) { return place(lane) + e * bytes; };
    if (bytes <= 4 && memory.register_bytes != 8) {
      bytes == 1   ? store_values<std::uint8_t>(row, lanes, of_element)
      : bytes == 2 ? store_values<std::uint16_t>(row, lanes, of_element)
                   : store_values<std::uint32_t>(row, lanes, of_element);
    } else {
      isa::for_each_lane(lanes, [&](unsigned lane) {
        store_bytes(of_element(lane), read_element(instruction, context, 1 + e, lane), bytes);
      });
    }
  }
}

}  // namespace lockstep
