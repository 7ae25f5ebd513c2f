#include "tests/unit/isa/semantics/lane_machine.hpp"

namespace lockstep::isa::test::bits_test {
namespace {

using Change = std::function<void(ir::Operation&)>;
constexpr std::uint64_t word_mask = 0xffffffff;

void expect_words(
    Opcode opcode, Type type, std::size_t count, const Reference& reference,
    const Change& change = [](auto&) {}) {
  const std::vector<Slot> words(count, Slot::word);
  expect_lanes(Builder(opcode, type).from(words).to({Slot::word}).with(change),
               std::vector<Type>(count, Type::u32),
               [&](const LaneInput& in) { return reference(in) & word_mask; });
}

TEST(BitSemantics, LogicOfEveryWidth) {
  for (const Type type : {Type::b16, Type::b32, Type::b64}) {
    const Slot slot = slot_of(type);
    const auto two = [&](Opcode opcode, const Reference& reference) {
      expect_lanes(Builder(opcode, type).from({slot, slot}).to({slot}), {type, type}, reference);
    };
    two(Opcode::and_, [](const LaneInput& in) { return in.row[0] & in.row[1]; });
    two(Opcode::or_, [](const LaneInput& in) { return in.row[0] | in.row[1]; });
    two(Opcode::xor_, [](const LaneInput& in) { return in.row[0] ^ in.row[1]; });
    const auto one = [&](Opcode opcode, const Reference& reference) {
      expect_lanes(Builder(opcode, type).from({slot}).to({slot}), {type}, reference);
    };
    one(Opcode::not_, [&](const LaneInput& in) { return ~in.row[0] & width_mask(type); });
    one(Opcode::cnot, [](const LaneInput& in) { return in.row[0] == 0 ? 1 : 0; });
  }
}

TEST(BitSemantics, LogicOfPredicates) {
  const auto two = [](Opcode opcode, const Reference& reference) {
    expect_lanes(
        Builder(opcode, Type::pred).from({Slot::predicate, Slot::predicate}).to({Slot::predicate}),
        {}, reference);
  };
  two(Opcode::and_, [](const LaneInput& in) { return in.predicate[0] && in.predicate[1]; });
  two(Opcode::or_, [](const LaneInput& in) { return in.predicate[0] || in.predicate[1]; });
  two(Opcode::xor_, [](const LaneInput& in) { return in.predicate[0] != in.predicate[1]; });
  expect_lanes(Builder(Opcode::not_, Type::pred).from({Slot::predicate}).to({Slot::predicate}), {},
               [](const LaneInput& in) { return !in.predicate[0]; });
}

TEST(BitSemantics, NegatedAndAbsentPredicateSources) {
  for (const CpuLevel level : levels()) {
    const Builder builder = Builder(Opcode::and_, Type::pred)
                                .from({Slot::predicate, Slot::predicate})
                                .to({Slot::predicate});
    Instruction instruction;
    ASSERT_TRUE(builder.bind(instruction, level));
    LaneMachine machine;
    machine.predicates[0] = 0x12345678;
    machine.predicates[1] = 0x0ff00ff0;
    instruction.flags = flag_source_negated_1;
    instruction.execute(instruction, machine.context);
    EXPECT_EQ(machine.predicates[4], 0x12345678u & ~0x0ff00ff0u);
    instruction.predicate_source[1] = no_predicate;
    instruction.flags = 0;
    instruction.execute(instruction, machine.context);
    EXPECT_EQ(machine.predicates[4], 0x12345678u);
  }
}

std::uint64_t lookup(const LaneInput& in, unsigned table) {
  std::uint64_t result = 0;
  for (unsigned bit = 0; bit < 32; ++bit) {
    const unsigned index = static_cast<unsigned>(
        (in.row[0] >> bit & 1) << 2 | (in.row[1] >> bit & 1) << 1 | (in.row[2] >> bit & 1));
    result |= static_cast<std::uint64_t>(table >> index & 1) << bit;
  }
  return result;
}
TEST(BitSemantics, EveryTableOfLop3) {
  for (unsigned table = 0; table < 256; ++table)
    expect_lanes(
        Builder(Opcode::lop3, Type::b32)
            .from({Slot::word, Slot::word, Slot::word})
            .to({Slot::word})
            .with([=](auto& op) { op.immediate = table; }),
        {Type::u32, Type::u32, Type::u32}, [=](const LaneInput& in) { return lookup(in, table); },
        3);
}
TEST(BitSemantics, Lop3WithPredicate) {
  for (const Combination combination :
       {Combination::logical_and, Combination::logical_or, Combination::logical_xor})
    for (const bool to_predicate : {false, true})
      expect_lanes(Builder(Opcode::lop3, Type::b32)
                       .from({Slot::word, Slot::word, Slot::word, Slot::predicate})
                       .to(to_predicate ? std::vector{Slot::predicate, Slot::word}
                                        : std::vector{Slot::word, Slot::predicate})
                       .with([=](auto& op) {
                         op.immediate = 0x80;
                         op.combination = combination;
                       }),
                   {Type::u32, Type::u32, Type::u32}, [=](const LaneInput& in) -> std::uint64_t {
                     const std::uint64_t d = lookup(in, 0x80);
                     if (!to_predicate) return d;
                     const bool p = d != 0, q = in.predicate[0];
                     if (combination == Combination::logical_and) return p && q;
                     return combination == Combination::logical_or ? p || q : p != q;
                   });
}

TEST(BitSemantics, ShiftsClampTheirAmount) {
  for (const Type type : {Type::b16, Type::b32, Type::b64, Type::s16, Type::u16, Type::s32,
                          Type::u32, Type::s64, Type::u64}) {
    const Slot slot = slot_of(type);
    const unsigned width = 8 * bytes_of(type);
    expect_lanes(Builder(Opcode::shl, type).from({slot, Slot::word}).to({slot}), {type, Type::u32},
                 [&](const LaneInput& in) {
                   return in.row[1] >= width ? 0 : in.row[0] << in.row[1] & width_mask(type);
                 });
    expect_lanes(Builder(Opcode::shr, type).from({slot, Slot::word}).to({slot}), {type, Type::u32},
                 [&](const LaneInput& in) -> std::uint64_t {
                   if (is_signed(type)) {
                     const std::uint64_t amount = in.row[1] >= width ? width - 1 : in.row[1];
                     return static_cast<std::uint64_t>(signed_value(in.row[0], type) >> amount) &
                            width_mask(type);
                   }
                   return in.row[1] >= width ? 0 : in.row[0] >> in.row[1];
                 });
  }
}

TEST(BitSemantics, FunnelShifts) {
  for (const bool wrap : {false, true})
    for (const ShiftDirection direction : {ShiftDirection::left, ShiftDirection::right})
      expect_words(
          Opcode::shf, Type::b32, 3,
          [=](const LaneInput& in) -> std::uint64_t {
            const std::uint64_t n = wrap ? in.row[2] & 31 : std::min<std::uint64_t>(in.row[2], 32);
            const std::uint64_t a = in.row[0], b = in.row[1];
            if (direction == ShiftDirection::left) return n == 0 ? b : b << n | a >> (32 - n);
            return n == 0 ? a : b << (32 - n) | a >> n;
          },
          [=](ir::Operation& op) {
            op.wrap = wrap;
            op.mode = static_cast<std::uint16_t>(direction);
          });
}

TEST(BitSemantics, CountingBits) {
  for (const Type type : {Type::b32, Type::b64, Type::u32, Type::s32, Type::u64, Type::s64}) {
    const int width = static_cast<int>(8 * bytes_of(type));
    const auto expect = [&](Opcode opcode, const Reference& reference, bool amount = false) {
      expect_lanes(Builder(opcode, type).from({slot_of(type)}).to({Slot::word}).with([=](auto& op) {
        op.shift_amount = amount;
      }),
                   {type}, [&](const LaneInput& in) { return reference(in) & word_mask; });
    };
    const auto highest = [=](std::uint64_t bits) {
      const std::uint64_t sign = is_signed(type) ? bits >> (width - 1) & 1 : 0;
      for (int at = width - 1; at >= 0; --at)
        if ((bits >> at & 1) != sign) return at;
      return -1;
    };
    if (type == Type::b32 || type == Type::b64) {
      expect(Opcode::popc, [](const LaneInput& in) {
        std::uint64_t count = 0;
        for (unsigned bit = 0; bit < 64; ++bit) count += in.row[0] >> bit & 1;
        return count;
      });
      expect(Opcode::clz, [&](const LaneInput& in) {
        return static_cast<std::uint64_t>(width - 1 - highest(in.row[0]));
      });
    } else {
      expect(Opcode::bfind,
             [&](const LaneInput& in) { return static_cast<std::uint64_t>(highest(in.row[0])); });
      expect(
          Opcode::bfind,
          [&](const LaneInput& in) {
            const int at = highest(in.row[0]);
            return static_cast<std::uint64_t>(at < 0 ? -1 : width - 1 - at);
          },
          true);
    }
  }
}

TEST(BitSemantics, FindNthSet) {
  Values values(7);
  for (unsigned round = 0; round < 200; ++round)
    for (const CpuLevel level : levels()) {
      const Builder builder =
          Builder(Opcode::fns, Type::b32).from(std::vector(3, Slot::word)).to({Slot::word});
      Instruction instruction;
      ASSERT_TRUE(builder.bind(instruction, level));
      LaneMachine machine;
      Lanes mask, base, offset;
      for (unsigned i = 0; i < warp_size; ++i) {
        mask[i] = values.raw() & values.raw() & word_mask;
        base[i] = values.raw() % 32;
        offset[i] = (values.raw() % 11 - 5) & word_mask;
      }
      machine.set(0, Slot::word, mask);
      machine.set(2, Slot::word, base);
      machine.set(4, Slot::word, offset);
      instruction.execute(instruction, machine.context);
      const Lanes found = machine.get(16, Slot::word);
      for (unsigned i = 0; i < warp_size; ++i) {
        const int n = static_cast<std::int32_t>(offset[i]);
        int at = static_cast<int>(base[i]), left = std::abs(n);
        if (n == 0) {
          at = (mask[i] >> at & 1) != 0 ? at : -1;
        } else {
          const int step = n > 0 ? 1 : -1;
          at -= step;
          while (left > 0) {
            at += step;
            if (at < 0 || at > 31) break;
            if ((mask[i] >> at & 1) != 0) --left;
          }
          if (at < 0 || at > 31) at = -1;
        }
        ASSERT_EQ(found[i], static_cast<std::uint32_t>(at))
            << mask[i] << " " << base[i] << " " << n;
      }
    }
}

TEST(BitSemantics, ReversedBits) {
  for (const Type type : {Type::b32, Type::b64}) {
    const unsigned width = 8 * bytes_of(type);
    expect_lanes(Builder(Opcode::brev, type).from({slot_of(type)}).to({slot_of(type)}), {type},
                 [&](const LaneInput& in) {
                   std::uint64_t result = 0;
                   for (unsigned bit = 0; bit < width; ++bit)
                     result |= (in.row[0] >> bit & 1) << (width - 1 - bit);
                   return result;
                 });
  }
}

TEST(BitSemantics, FieldsExtractedAndInserted) {
  for (const Type type : {Type::u32, Type::s32, Type::u64, Type::s64}) {
    const Slot slot = slot_of(type);
    const unsigned top = 8 * bytes_of(type) - 1;
    expect_lanes(
        Builder(Opcode::bfe, type).from({slot, Slot::word, Slot::word}).to({slot}),
        {type, Type::u32, Type::u32},
        [&](const LaneInput& in) {
          const unsigned position = in.row[1] & 0xff, length = in.row[2] & 0xff;
          const std::uint64_t sign = !is_signed(type) || length == 0
                                         ? 0
                                         : in.row[0] >> std::min(position + length - 1, top) & 1;
          std::uint64_t result = 0;
          for (unsigned i = 0; i <= top; ++i)
            result |= (i < length && position + i <= top ? in.row[0] >> (position + i) & 1 : sign)
                      << i;
          return result;
        },
        200);
    if (is_signed(type)) continue;
    const Type bits = type == Type::u32 ? Type::b32 : Type::b64;
    expect_lanes(
        Builder(Opcode::bfi, bits).from({slot, slot, Slot::word, Slot::word}).to({slot}),
        {bits, bits, Type::u32, Type::u32},
        [&](const LaneInput& in) {
          const unsigned position = in.row[2] & 0xff, length = in.row[3] & 0xff;
          std::uint64_t result = in.row[1];
          for (unsigned i = 0; i < length && position + i <= top; ++i) {
            result &= ~(std::uint64_t{1} << (position + i));
            result |= (in.row[0] >> i & 1) << (position + i);
          }
          return result;
        },
        200);
  }
}

TEST(BitSemantics, SignExtensionAndBitMask) {
  for (const bool wrap : {false, true}) {
    const auto change = [=](ir::Operation& op) { op.wrap = wrap; };
    for (const Type type : {Type::u32, Type::s32})
      expect_words(
          Opcode::szext, type, 2,
          [=](const LaneInput& in) -> std::uint64_t {
            const std::uint64_t n = wrap ? in.row[1] & 31 : in.row[1];
            if (n >= 32) return in.row[0];
            if (n == 0) return 0;
            const std::uint64_t low = in.row[0] & ((std::uint64_t{1} << n) - 1);
            const bool negative = is_signed(type) && (low >> (n - 1) & 1) != 0;
            return negative ? low | ~std::uint64_t{0} << n : low;
          },
          change);
    expect_words(
        Opcode::bmsk, Type::b32, 2,
        [=](const LaneInput& in) {
          const std::uint64_t from = wrap ? in.row[0] & 31 : in.row[0];
          const std::uint64_t count = wrap ? in.row[1] & 31 : in.row[1];
          std::uint64_t result = 0;
          for (std::uint64_t bit = from; bit < 32 && bit - from < count; ++bit)
            result |= std::uint64_t{1} << bit;
          return result;
        },
        change);
  }
}

/// The bytes that each mode takes, most significant first, by selector: the table of the manual.
TEST(BitSemantics, PermutationModes) {
  static constexpr unsigned tables[][4][4] = {
      {{3, 2, 1, 0}, {4, 3, 2, 1}, {5, 4, 3, 2}, {6, 5, 4, 3}},  // f4e
      {{5, 6, 7, 0}, {6, 7, 0, 1}, {7, 0, 1, 2}, {0, 1, 2, 3}},  // b4e
      {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}},  // rc8
      {{3, 2, 1, 0}, {3, 2, 1, 1}, {3, 2, 2, 2}, {3, 3, 3, 3}},  // ecl
      {{0, 0, 0, 0}, {1, 1, 1, 0}, {2, 2, 1, 0}, {3, 2, 1, 0}},  // ecr
      {{1, 0, 1, 0}, {3, 2, 3, 2}, {1, 0, 1, 0}, {3, 2, 3, 2}},  // rc16
  };
  for (std::uint16_t mode = 1; mode <= 6; ++mode)
    expect_words(
        Opcode::prmt, Type::b32, 3,
        [=](const LaneInput& in) {
          std::uint64_t result = 0;
          for (unsigned k = 0; k < 4; ++k) {
            const unsigned choice = tables[mode - 1][in.row[2] & 3][k];
            result = result << 8 | ((in.row[1] << 32 | in.row[0]) >> (8 * choice) & 0xff);
          }
          return result;
        },
        [=](ir::Operation& op) { op.mode = mode; });
}
TEST(BitSemantics, PermutationByIndexWithSigns) {
  expect_words(Opcode::prmt, Type::b32, 3, [](const LaneInput& in) {
    std::uint64_t result = 0;
    for (unsigned k = 0; k < 4; ++k) {
      const std::uint64_t choice = in.row[2] >> (4 * k) & 15;
      std::uint64_t byte = (in.row[1] << 32 | in.row[0]) >> (8 * (choice & 7)) & 0xff;
      if (choice >= 8) byte = byte >= 0x80 ? 0xff : 0;
      result |= byte << (8 * k);
    }
    return result;
  });
}

}  // namespace
}  // namespace lockstep::isa::test::bits_test
