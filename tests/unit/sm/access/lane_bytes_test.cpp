/// Bytes and addresses of lanes, handled in runs, in vectors or one by one, are those of each lane.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>

#include "models/sm/access/coalescer.hpp"
#include "models/sm/access/lane_data.hpp"
#include "models/sm/access/line_image.hpp"
#include "tests/unit/sm/access/addresses_in_runs.hpp"

namespace lockstep::lane_bytes_test {
namespace {

using isa::Instruction;
using isa::Operand;
using isa::warp_size;
using Row = std::array<std::uint32_t, warp_size>;

/// Lanes of any number, most of them in runs.
std::uint32_t some_lanes(std::mt19937& random) {
  std::uint32_t lanes = 0;
  switch (random() % 4) {
    case 0:
      return ~0u;
    case 1:
      return random() | 1u << random() % 32;
    case 2:
      return (random() & random() & random()) | 1u << random() % 32;
    default:
      for (unsigned run = 0; run < 3; ++run)
        lanes |= ((1u << (1 + random() % 20)) - 1) << random() % 12;
      return lanes;
  }
}

TEST(LaneBytes, OfAStoreStandWhereTheLanesPutThem) {
  std::mt19937 random(5);
  for (int round = 0; round < 20'000; ++round) {
    const unsigned bytes = 1u << random() % 5;
    const LaneAddresses address = addresses_in_runs(random, bytes, 3);
    Access access;
    access.kind = Access::Kind::store;
    access.active = some_lanes(random);
    access.stride = static_cast<std::uint8_t>(bytes);
    for (std::byte& b : access.data) b = static_cast<std::byte>(random());
    coalesce(access, address, bytes);
    for (unsigned g = 0; g < access.groups; ++g) {
      const LineGroup& group = access.group[g];
      std::array<std::byte, line_bytes> image{}, expected{};
      LineBytes mask{};
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned b = 0; b < bytes && ((group.lanes >> lane) & 1) != 0; ++b) {
          const std::size_t at = address[lane] + b - group.line;
          expected[at] = access.data[lane * bytes + b];
          mask[at / 32] |= 1u << at % 32;
        }
      ASSERT_EQ(store_image(access, group, image.data()), mask) << "round " << round;
      for (std::size_t at = 0; at < line_bytes; ++at)
        if (((mask[at / 32] >> at % 32) & 1) != 0) {
          ASSERT_EQ(image[at], expected[at]) << round;
        }
    }
  }
}

TEST(LaneBytes, OfALoadComeToTheirLanesOnly) {
  std::mt19937 random(6);
  Instruction load;
  load.memory.type = isa::Type::b32;
  load.memory.register_bytes = 4;
  load.memory.elements = 1;
  load.destination[0] = Operand(Operand::registers, 0);
  std::array<std::byte, line_bytes> line;
  for (std::byte& b : line) b = static_cast<std::byte>(random());
  for (int round = 0; round < 20'000; ++round) {
    const LaneAddresses address = addresses_in_runs(random, 4, 3);
    const std::uint32_t lanes = some_lanes(random);
    std::array<std::uint8_t, 32> offset;
    for (unsigned lane = 0; lane < 32; ++lane)
      offset[lane] = static_cast<std::uint8_t>(address[lane] % line_bytes);
    Row row;
    for (std::uint32_t& word : row) word = random();
    Row expected = row;
    for (unsigned lane = 0; lane < 32; ++lane)
      if (((lanes >> lane) & 1) != 0) std::memcpy(&expected[lane], &line[offset[lane]], 4);
    isa::WarpContext context;
    context.bases[Operand::registers] = row.data();
    scatter_load(load, context, lanes, line.data(), offset.data());
    ASSERT_EQ(row, expected) << "round " << round;
  }
}

TEST(LaneBytes, OfSmallTypesAreExtendedToTheirRegisters) {
  std::mt19937 random(8);
  std::array<std::byte, line_bytes> line;
  for (std::byte& b : line) b = static_cast<std::byte>(random());
  using isa::Type;
  for (const Type type : {Type::u8, Type::s8, Type::u16, Type::s16, Type::b16})
    for (const unsigned register_bytes : {2u, 4u, 8u}) {
      Instruction load;
      load.memory.type = type;
      load.memory.register_bytes = static_cast<std::uint8_t>(register_bytes);
      load.memory.elements = 2;
      load.destination[0] = Operand(Operand::registers, 0);
      load.destination[1] = Operand(Operand::registers, 2);
      const std::uint32_t lanes = some_lanes(random);
      std::array<std::uint8_t, 32> offset;
      for (std::uint8_t& of_lane : offset) of_lane = static_cast<std::uint8_t>(random() % 31 * 4);
      std::array<std::uint32_t, 4 * warp_size> rows{}, expected{};
      isa::WarpContext context;
      context.bases[Operand::registers] = expected.data();
      for (unsigned lane = 0; lane < 32; ++lane)
        if (((lanes >> lane) & 1) != 0)
          write_elements(load, context, lane, line.data() + offset[lane]);
      context.bases[Operand::registers] = rows.data();
      scatter_load(load, context, lanes, line.data(), offset.data());
      ASSERT_EQ(rows, expected) << isa::bytes_of(type) << " in " << register_bytes;

      // The same of consecutive lanes.
      const unsigned stride = 2 * isa::bytes_of(type);
      const auto first = static_cast<unsigned>(std::countr_zero(lanes));
      rows = expected = {};
      context.bases[Operand::registers] = expected.data();
      for (unsigned lane = first; lane < 32; ++lane)
        if (((lanes >> lane) & 1) != 0)
          write_elements(load, context, lane, line.data() + (lane - first) * stride);
      context.bases[Operand::registers] = rows.data();
      scatter_contiguous(load, context, lanes, line.data());
      ASSERT_EQ(rows, expected) << isa::bytes_of(type) << " in " << register_bytes;
    }
}

TEST(LaneBytes, OfStoresAreTheLowOnesOfTheirRegisters) {
  std::mt19937 random(9);
  std::array<std::uint32_t, 8 * warp_size> rows;
  isa::WarpContext context;
  context.bases[Operand::registers] = rows.data();
  using isa::Type;
  for (const Type type : {Type::u8, Type::b16, Type::b32, Type::f32, Type::b64})
    for (const unsigned register_bytes : {2u, 4u, 8u})
      for (const unsigned elements : {1u, 2u, 4u}) {
        const unsigned bytes = isa::bytes_of(type);
        if (bytes > register_bytes || bytes * elements > 16) continue;
        for (std::uint32_t& word : rows) word = random();
        Instruction store;
        store.memory.type = type;
        store.memory.register_bytes = static_cast<std::uint8_t>(register_bytes);
        store.memory.elements = static_cast<std::uint8_t>(elements);
        for (unsigned e = 0; e < elements; ++e)
          store.source[1 + e] = Operand(Operand::registers, static_cast<std::uint16_t>(2 * e));
        const std::uint32_t lanes = some_lanes(random);
        std::array<std::byte, 1024> data{}, expected{};
        gather_store_data(store, context, lanes, data.data());
        for (unsigned lane = 0; lane < 32; ++lane)
          for (unsigned e = 0; e < elements && ((lanes >> lane) & 1) != 0; ++e) {
            const std::uint64_t value = read_element(store, context, 1 + e, lane);
            std::memcpy(&expected[(lane * elements + e) * bytes], &value, bytes);
          }
        for (unsigned lane = 0; lane < 32; ++lane)
          for (unsigned b = 0; b < bytes * elements && ((lanes >> lane) & 1) != 0; ++b)
            ASSERT_EQ(data[lane * bytes * elements + b], expected[lane * bytes * elements + b])
                << bytes << " of " << register_bytes << " times " << elements;
      }
}

TEST(LaneBytes, OfVectorsComeToTheRowsOfTheirWords) {
  std::mt19937 random(10);
  std::array<std::byte, 256> memory;
  for (std::byte& b : memory) b = static_cast<std::byte>(random());
  for (int round = 0; round < 2000; ++round) {
    Instruction load;
    load.memory.type = isa::Type::b32;
    load.memory.register_bytes = 4;
    load.memory.elements = static_cast<std::uint8_t>(2 + round % 2 * 2);
    for (unsigned e = 0; e < load.memory.elements; ++e)
      if (random() % 8 != 0)
        load.destination[e] = Operand(Operand::registers, static_cast<std::uint16_t>(e));
    const std::uint32_t lanes = some_lanes(random);
    const unsigned stride = 4 * load.memory.elements;
    std::array<std::uint8_t, 32> offset;
    for (std::uint8_t& of_lane : offset)
      of_lane = static_cast<std::uint8_t>(random() % (128 / stride) * stride);
    std::array<std::uint32_t, 4 * warp_size> rows, expected;
    for (std::uint32_t& word : rows) word = random();
    expected = rows;
    isa::WarpContext context;
    context.bases[Operand::registers] = expected.data();
    for (unsigned lane = 0; lane < 32; ++lane)
      if (((lanes >> lane) & 1) != 0)
        write_elements(load, context, lane, memory.data() + offset[lane]);
    context.bases[Operand::registers] = rows.data();
    scatter_load(load, context, lanes, memory.data(), offset.data());
    ASSERT_EQ(rows, expected) << "round " << round;
  }
}

TEST(LaneBytes, InactiveLanesHaveTheAddressOfTheFirstActiveOne) {
  std::mt19937 random(7);
  std::array<std::uint32_t, 2 * warp_size> rows;
  isa::WarpContext context;
  context.bases[Operand::registers] = rows.data();
  for (int round = 0; round < 5'000; ++round) {
    const bool wide = round % 2 != 0;
    Instruction access;
    access.source[0] = Operand(Operand::registers, 0);
    access.offset = static_cast<std::int32_t>(random() % 64) - 32;
    if (wide) access.flags |= isa::flag_address_wide;
    for (std::uint32_t& word : rows) word = random();
    const std::uint32_t lanes = some_lanes(random);
    LaneAddresses address;
    lane_addresses(access, context, lanes, address);
    const auto of = [&](unsigned lane) -> std::uint64_t {
      std::uint64_t base = rows[lane];
      if (wide) std::memcpy(&base, &rows[2 * std::size_t{lane}], sizeof base);
      base += static_cast<std::uint64_t>(std::int64_t{access.offset});
      return wide ? base : static_cast<std::uint32_t>(base);
    };
    const auto first = static_cast<unsigned>(std::countr_zero(lanes));
    for (unsigned lane = 0; lane < 32; ++lane)
      ASSERT_EQ(address[lane], of(((lanes >> lane) & 1) != 0 ? lane : first)) << round;
  }
}

}  // namespace
}  // namespace lockstep::lane_bytes_test
