#include "models/isa/semantics/word_moves.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <vector>

namespace lockstep::isa {
namespace {

struct Form {
  Space space;
  Type type;
  std::uint8_t elements, register_bytes;
};

std::vector<Form> forms() {
  std::vector<Form> all;
  for (const Space space : {Space::shared, Space::global, Space::generic})
    for (const std::uint8_t elements : {1, 2, 4}) {
      for (const Type type : {Type::u8, Type::b16, Type::f32})
        all.push_back({space, type, elements, 4});
      all.push_back({space, Type::f16, elements, 2});
      all.push_back({space, Type::b64, elements, 8});
    }
  return all;
}

/// Addresses of lanes in units of what a lane accesses.
enum class Pattern { run, one, tile, tile_of_ones, strided, any, count };

constexpr std::uint64_t memory_bytes = 8192, global_base = 0x7'0000'0040;

/// A warp with rows of random bits, and an instruction that accesses a memory of 8 KiB.
struct Access {
  Access(const Form& form, Category category, std::mt19937& random)
      : form_(form), registers(24 * warp_size), memory(memory_bytes) {
    for (std::uint32_t& lane : registers) lane = random();
    for (std::byte& byte : memory) byte = static_cast<std::byte>(random());
    instruction.category = category;
    instruction.memory.space = form.space;
    instruction.memory.type = form.type;
    instruction.memory.elements = form.elements;
    instruction.memory.register_bytes = form.register_bytes;
    instruction.offset = 16 * static_cast<int>(random() % 3) - 16;
    if (is_wide()) instruction.flags |= flag_address_wide;
    instruction.source[0] = Operand(Operand::registers, 0);
    for (std::uint16_t e = 0; e < form.elements; ++e) {
      const Operand data(Operand::registers, static_cast<std::uint16_t>(4 + 2 * e));
      category == Category::load ? instruction.destination[e] = data
                                 : instruction.source[e + 1U] = data;
    }
  }

  bool is_wide() const { return form_.space != Space::shared; }
  unsigned bytes() const { return bytes_of(form_.type) * form_.elements; }
  std::uint64_t base() const { return is_wide() ? global_base : 0; }

  void place(Pattern pattern, std::mt19937& random) {
    const auto room = static_cast<std::uint32_t>(memory_bytes / bytes());
    const std::uint32_t first = random() % (room - 32 - 32 * 3);
    for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
      const std::array<std::uint32_t, 6> unit{first + lane,
                                              first,
                                              first + lane % 16 + 40 * (lane / 16),
                                              first + lane / 8 * 9,
                                              first + 3 * lane,
                                              static_cast<std::uint32_t>(random() % room)};
      set_address(lane, base() + std::uint64_t{unit[static_cast<std::size_t>(pattern)]} * bytes());
    }
  }
  void set_address(unsigned lane, std::uint64_t address) {
    offsets[lane] = address - base();
    const std::uint64_t register_value =
        address - static_cast<std::uint64_t>(std::int64_t{instruction.offset});
    if (is_wide())
      std::memcpy(registers.data() + 2 * lane, &register_value, 8);
    else
      registers[lane] = static_cast<std::uint32_t>(register_value);
  }

  /// Executes the access lane by lane.
  void by_lane(std::uint32_t active) {
    const unsigned size = bytes_of(form_.type), width = form_.register_bytes == 8 ? 2 : 1;
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      if ((active >> lane & 1) == 0) continue;
      for (unsigned e = 0; e < form_.elements; ++e) {
        std::uint32_t* const data = registers.data() + (4 + 2 * e) * warp_size + width * lane;
        std::byte* const place = memory.data() + offsets[lane] + std::size_t{e} * size;
        if (instruction.category == Category::load) {
          std::memset(data, 0, width * sizeof *data);
          std::memcpy(data, place, size);
        } else {
          std::memcpy(place, data, size);
        }
      }
    }
  }

  bool at_once(MoveLanes function, std::uint32_t active) {
    WarpContext context;
    context.bases[Operand::registers] = registers.data();
    context.active = active;
    return function(instruction, context, {base(), memory_bytes, memory.data()});
  }

  bool operator==(const Access& other) const {
    return registers == other.registers && memory == other.memory;
  }

  const Form form_;
  Instruction instruction;
  std::vector<std::uint32_t> registers;
  std::vector<std::byte> memory;
  std::array<std::uint64_t, warp_size> offsets{};
};

template <class Function>
void for_all(Function&& function) {
  std::mt19937 random(1);
  for (int level = 2; level <= static_cast<int>(best_cpu_level()); ++level)
    for (const Form& form : forms())
      for (const Category category : {Category::load, Category::store})
        for (int round = 0; round < 40; ++round) {
          Access access(form, category, random);
          access.place(static_cast<Pattern>(round % static_cast<int>(Pattern::count)), random);
          const std::uint32_t active = round % 3 == 0 ? random() | 1U << random() % 32 : 0xffffffff;
          const Moves moves = select_moves(access.instruction, static_cast<CpuLevel>(level));
          ASSERT_NE(moves.move, nullptr);
          function(access, moves, active, random);
        }
}

TEST(WordMoves, DoWhatLanesDoOneByOneAtEveryLevel) {
  for_all([](Access& access, const Moves& moves, std::uint32_t active, std::mt19937&) {
    Access expected = access;
    expected.by_lane(active);
    ASSERT_TRUE(access.at_once(moves.move, active));
    ASSERT_TRUE(access == expected);
  });
}

TEST(WordMoves, MoveNothingIfAnActiveLaneIsOutsideOrMisaligned) {
  for_all([](Access& access, const Moves& moves, std::uint32_t active, std::mt19937& random) {
    unsigned lane = random() % 32;
    while ((active >> lane & 1) == 0) lane = random() % 32;
    const std::uint64_t bytes = access.bytes(), end = access.base() + memory_bytes;
    const std::array<std::uint64_t, 5> wrong{
        end, access.base() - bytes, end + (std::uint64_t{1} << 31) - memory_bytes,
        bytes > 1 ? access.base() + bytes / 2 : end,
        access.base() + (std::uint64_t{3} << 40) + memory_bytes};
    const std::size_t which = random() % (access.is_wide() ? 5 : 4);
    access.set_address(lane, wrong[which]);
    const Access before = access;
    ASSERT_FALSE(access.at_once(moves.move, active)) << which;
    ASSERT_TRUE(access == before);
    access.at_once(moves.move, active & ~(1U << lane) ? active & ~(1U << lane) : 0xffffffff);
  });
}

TEST(WordMoves, ARunThatLeavesTheMemoryIsNotMoved) {
  for_all([](Access& access, const Moves& moves, std::uint32_t, std::mt19937& random) {
    const std::uint64_t first = memory_bytes - access.bytes() * (random() % 31 + 1);
    for (unsigned lane = 0; lane < warp_size; ++lane)
      access.set_address(lane, access.base() + first + std::uint64_t{lane} * access.bytes());
    const Access before = access;
    ASSERT_FALSE(access.at_once(moves.move, 0xffffffff));
    ASSERT_TRUE(access == before);
  });
}

TEST(WordMoves, TellWhetherAStoreChangesTheMemory) {
  for_all([](Access& access, const Moves& moves, std::uint32_t active, std::mt19937& random) {
    if (access.instruction.category == Category::load) {
      ASSERT_EQ(moves.has, nullptr);
      return;
    }
    for (unsigned lane = 0; lane < warp_size; ++lane)  // no two lanes at one place
      access.set_address(lane, access.base() + std::uint64_t{(lane * 7 + 5) % 32} * access.bytes());
    access.by_lane(active);
    ASSERT_TRUE(access.at_once(moves.has, active));
    unsigned lane = random() % 32;
    while ((active >> lane & 1) == 0) lane = random() % 32;
    access.memory[access.offsets[lane] + random() % access.bytes()] ^= std::byte{0x10};
    const Access before = access;
    ASSERT_FALSE(access.at_once(moves.has, active));
    ASSERT_TRUE(access == before);
  });
}

TEST(WordMoves, OtherAccessesAreLeftToTheInterpreter) {
  std::mt19937 random(1);
  const auto has_none = [&](const Form& form, Category category, std::uint16_t flags) {
    Access access(form, category, random);
    access.instruction.flags = flags;
    return select_moves(access.instruction).move == nullptr;
  };
  EXPECT_TRUE(
      has_none({Space::shared, Type::s8, 1, 4}, Category::load, 0));  // extended by the sign
  EXPECT_TRUE(has_none({Space::shared, Type::f32, 1, 8}, Category::load, 0));
  EXPECT_TRUE(has_none({Space::local, Type::f32, 1, 4}, Category::load, 0));
  EXPECT_TRUE(has_none({Space::global, Type::f32, 1, 4}, Category::load, 0));  // 32-bit addresses
  EXPECT_TRUE(has_none({Space::shared, Type::f32, 1, 4}, Category::atomic, 0));
  EXPECT_FALSE(has_none({Space::shared, Type::s16, 1, 4}, Category::store, 0));
}

}  // namespace
}  // namespace lockstep::isa
