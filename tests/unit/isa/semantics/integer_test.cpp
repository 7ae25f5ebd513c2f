#include "tests/unit/isa/semantics/lane_machine.hpp"

namespace lockstep::isa::test::integer_test {
namespace {

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;

constexpr Type signed_types[] = {Type::s16, Type::s32, Type::s64};
constexpr Type all_types[] = {Type::u16, Type::s16, Type::u32, Type::s32, Type::u64, Type::s64};

Wide value(std::uint64_t bits, Type type) {
  return is_signed(type) ? Wide{signed_value(bits, type)} : Wide{bits & width_mask(type)};
}
std::uint64_t wrap(Wide v, Type type) {
  return static_cast<std::uint64_t>(v) & width_mask(type);
}
/// a * b + c modulo 2^128: products of two u64 exceed the signed range.
Wide multiply_add(Wide a, Wide b, Wide c) {
  return static_cast<Wide>(static_cast<UnsignedWide>(a) * static_cast<UnsignedWide>(b) +
                           static_cast<UnsignedWide>(c));
}
Wide lowest(Type type) {
  return is_signed(type) ? -(Wide{1} << (8 * bytes_of(type) - 1)) : 0;
}
Wide highest(Type type) {
  return is_signed(type) ? (Wide{1} << (8 * bytes_of(type) - 1)) - 1 : Wide{width_mask(type)};
}
std::uint64_t clamp(Wide v, Type type) {
  return wrap(v < lowest(type) ? lowest(type) : v > highest(type) ? highest(type) : v, type);
}

using Binary = std::function<std::uint64_t(Wide, Wide, Type)>;
void expect_binary(
    Opcode opcode, Type type, const Binary& reference,
    const std::function<void(ir::Operation&)>& change = [](auto&) {}) {
  const Slot slot = slot_of(type);
  expect_lanes(Builder(opcode, type).from({slot, slot}).to({slot}).with(change), {type, type},
               [&](const LaneInput& in) {
                 return reference(value(in.row[0], type), value(in.row[1], type), type);
               });
}
using Ternary = std::function<std::uint64_t(Wide, Wide, Wide)>;
void expect_ternary(const Builder& builder, Type a, Type c, const Ternary& reference) {
  Builder complete = builder;
  complete.from({slot_of(a), slot_of(a), slot_of(c)}).to({slot_of(c)});
  expect_lanes(complete, {a, a, c}, [&](const LaneInput& in) {
    return reference(value(in.row[0], a), value(in.row[1], a), value(in.row[2], c));
  });
}

TEST(IntegerSemantics, AddAndSubtractWrap) {
  for (const Type type : all_types) {
    expect_binary(Opcode::add, type, [](Wide a, Wide b, Type t) { return wrap(a + b, t); });
    expect_binary(Opcode::sub, type, [](Wide a, Wide b, Type t) { return wrap(a - b, t); });
  }
}

TEST(IntegerSemantics, SaturatingAddAndSubtractClamp) {
  const auto saturate = [](ir::Operation& op) { op.saturate = true; };
  expect_binary(
      Opcode::add, Type::s32, [](Wide a, Wide b, Type t) { return clamp(a + b, t); }, saturate);
  expect_binary(
      Opcode::sub, Type::s32, [](Wide a, Wide b, Type t) { return clamp(a - b, t); }, saturate);
}

TEST(IntegerSemantics, MinimumMaximumAndRelu) {
  for (const Type type : all_types) {
    expect_binary(Opcode::min, type, [](Wide a, Wide b, Type t) { return wrap(a < b ? a : b, t); });
    expect_binary(Opcode::max, type, [](Wide a, Wide b, Type t) { return wrap(a > b ? a : b, t); });
  }
  const auto relu = [](ir::Operation& op) { op.relu = true; };
  const auto positive = [](Wide v, Type t) { return wrap(v < 0 ? 0 : v, t); };
  expect_binary(
      Opcode::min, Type::s32, [&](Wide a, Wide b, Type t) { return positive(a < b ? a : b, t); },
      relu);
  expect_binary(
      Opcode::max, Type::s32, [&](Wide a, Wide b, Type t) { return positive(a > b ? a : b, t); },
      relu);
}

TEST(IntegerSemantics, DivisionTruncatesAndIsDefinedEverywhere) {
  for (const Type type : all_types) {
    expect_binary(Opcode::div, type,
                  [](Wide a, Wide b, Type t) { return b == 0 ? width_mask(t) : wrap(a / b, t); });
    expect_binary(Opcode::rem, type,
                  [](Wide a, Wide b, Type t) { return wrap(b == 0 ? a : a % b, t); });
  }
}

TEST(IntegerSemantics, AbsoluteAndNegated) {
  for (const Type type : signed_types) {
    const Slot slot = slot_of(type);
    expect_lanes(Builder(Opcode::abs, type).from({slot}).to({slot}), {type},
                 [&](const LaneInput& in) {
                   const Wide a = value(in.row[0], type);
                   return wrap(a < 0 ? -a : a, type);
                 });
    expect_lanes(Builder(Opcode::neg, type).from({slot}).to({slot}), {type},
                 [&](const LaneInput& in) { return wrap(-value(in.row[0], type), type); });
  }
}

TEST(IntegerSemantics, SumOfAbsoluteDifference) {
  for (const Type type : all_types)
    expect_ternary(Builder(Opcode::sad, type), type, type,
                   [&](Wide a, Wide b, Wide c) { return wrap(c + (a < b ? b - a : a - b), type); });
}

Builder with_part(Opcode opcode, Type type, ir::MulPart part) {
  return Builder(opcode, type).with([=](ir::Operation& op) { op.part = part; });
}

TEST(IntegerSemantics, ProductsLowHighAndWide) {
  for (const Type type : all_types) {
    const unsigned width = 8 * bytes_of(type);
    // A product of two u64 needs 128 unsigned bits; their low half is the same either way.
    const auto high = [&](Wide a, Wide b) {
      using Unsigned = UnsignedWide;
      return is_signed(type) ? wrap(a * b >> width, type)
                             : wrap(Wide(Unsigned(a) * Unsigned(b) >> width), type);
    };
    expect_binary(
        Opcode::mul, type, [](Wide a, Wide b, Type t) { return wrap(multiply_add(a, b, 0), t); },
        [](ir::Operation& op) { op.part = ir::MulPart::lo; });
    expect_binary(
        Opcode::mul, type, [&](Wide a, Wide b, Type) { return high(a, b); },
        [](ir::Operation& op) { op.part = ir::MulPart::hi; });
    expect_ternary(with_part(Opcode::mad, type, ir::MulPart::lo), type, type,
                   [&](Wide a, Wide b, Wide c) { return wrap(multiply_add(a, b, c), type); });
    expect_ternary(
        with_part(Opcode::mad, type, ir::MulPart::hi), type, type,
        [&](Wide a, Wide b, Wide c) { return wrap(static_cast<Wide>(high(a, b)) + c, type); });
    if (bytes_of(type) == 8) continue;
    const Type wide = doubled(type);
    expect_lanes(with_part(Opcode::mul, type, ir::MulPart::wide)
                     .from({Slot::word, Slot::word})
                     .to({slot_of(wide)}),
                 {type, type}, [&](const LaneInput& in) {
                   return wrap(value(in.row[0], type) * value(in.row[1], type), wide);
                 });
    expect_ternary(with_part(Opcode::mad, type, ir::MulPart::wide), type, wide,
                   [&](Wide a, Wide b, Wide c) { return wrap(a * b + c, wide); });
  }
}

TEST(IntegerSemantics, SaturatingMultiplyAddOfUpperHalf) {
  expect_ternary(
      with_part(Opcode::mad, Type::s32, ir::MulPart::hi).with([](auto& op) { op.saturate = true; }),
      Type::s32, Type::s32,
      [](Wide a, Wide b, Wide c) { return clamp((a * b >> 32) + c, Type::s32); });
}

TEST(IntegerSemantics, ProductsOf24Bits) {
  for (const Type type : {Type::u32, Type::s32}) {
    const auto product = [=](Wide a, Wide b) {
      const auto narrow = [=](Wide v) {
        const std::int64_t low = static_cast<std::int64_t>(v) & 0xffffff;
        return is_signed(type) && (low & 0x800000) != 0 ? low - 0x1000000 : low;
      };
      return Wide{narrow(a)} * narrow(b);
    };
    for (const ir::MulPart part : {ir::MulPart::lo, ir::MulPart::hi}) {
      const unsigned shift = part == ir::MulPart::lo ? 0 : 16;
      expect_binary(
          Opcode::mul24, type,
          [&](Wide a, Wide b, Type t) { return wrap(product(a, b) >> shift, t); },
          [=](ir::Operation& op) { op.part = part; });
      expect_ternary(with_part(Opcode::mad24, type, part), type, type, [&](Wide a, Wide b, Wide c) {
        return wrap((product(a, b) >> shift) + c, type);
      });
    }
    if (type == Type::s32)
      expect_ternary(with_part(Opcode::mad24, type, ir::MulPart::hi).with([](auto& op) {
        op.saturate = true;
      }),
                     type, type, [&](Wide a, Wide b, Wide c) {
                       return clamp(Wide{static_cast<std::int32_t>(product(a, b) >> 16)} + c,
                                    Type::s32);
                     });
  }
}

/// Checks value and condition code; `exact` gives the sum without wrapping.
void expect_carry(Opcode opcode, Type type, bool reads, bool writes,
                  const std::function<Wide(Wide, Wide, Wide, Wide)>& exact, std::size_t rows,
                  ir::MulPart part = ir::MulPart::none) {
  const Slot slot = slot_of(type);
  std::vector<Slot> from(rows, slot);
  if (reads) from.push_back(Slot::predicate);
  const auto change = [=](ir::Operation& op) {
    op.carry_out = writes;
    op.part = part;
  };
  const auto sum = [&](const LaneInput& in) {
    const auto bits = [&](unsigned k) { return Wide{in.row[k] & width_mask(type)}; };
    return exact(bits(0), bits(1), rows > 2 ? bits(2) : 0, reads && in.predicate[0] ? 1 : 0);
  };
  const std::vector<Type> types(rows, type);
  std::vector<Slot> to{slot};
  if (writes) to.push_back(Slot::predicate);
  expect_lanes(Builder(opcode, type).from(from).to(to).with(change), types,
               [&](const LaneInput& in) { return wrap(sum(in), type); });
  if (writes)
    expect_lanes(
        Builder(opcode, type).from(from).to({Slot::predicate, slot}).with(change), types,
        [&](const LaneInput& in) -> std::uint64_t { return sum(in) > Wide{width_mask(type)}; });
}

TEST(IntegerSemantics, CarryChains) {
  for (const Type type : {Type::u32, Type::s32, Type::u64, Type::s64}) {
    const auto add = [](Wide a, Wide b, Wide, Wide carry) { return a + b + carry; };
    // a - b is a plus b's complement plus one, or plus the carry before.
    const auto subc = [=](Wide a, Wide b, Wide, Wide carry) {
      return a + (Wide{width_mask(type)} - b) + carry;
    };
    const auto sub = [=](Wide a, Wide b, Wide c, Wide) { return subc(a, b, c, 1); };
    expect_carry(Opcode::add, type, false, true, add, 2);
    expect_carry(Opcode::addc, type, true, true, add, 2);
    expect_carry(Opcode::addc, type, true, false, add, 2);
    expect_carry(Opcode::sub, type, false, true, sub, 2);
    expect_carry(Opcode::subc, type, true, true, subc, 2);
    expect_carry(Opcode::subc, type, true, false, subc, 2);
    for (const ir::MulPart part : {ir::MulPart::lo, ir::MulPart::hi}) {
      const auto mad = [=](Wide a, Wide b, Wide c, Wide carry) {
        using Unsigned = UnsignedWide;
        const Unsigned product =
            is_signed(type) ? Unsigned(Wide{signed_value(static_cast<std::uint64_t>(a), type)} *
                                       Wide{signed_value(static_cast<std::uint64_t>(b), type)})
                            : Unsigned(a) * Unsigned(b);
        const unsigned shift = part == ir::MulPart::lo ? 0 : 8 * bytes_of(type);
        return Wide(product >> shift & width_mask(type)) + c + carry;
      };
      expect_carry(Opcode::mad, type, false, true, mad, 3, part);
      expect_carry(Opcode::madc, type, true, true, mad, 3, part);
      expect_carry(Opcode::madc, type, true, false, mad, 3, part);
    }
  }
}

TEST(IntegerSemantics, DotProducts) {
  for (const Type a : {Type::u32, Type::s32})
    for (const Type b : {Type::u32, Type::s32}) {
      const auto part = [](std::uint64_t word, unsigned index, unsigned bits, Type type) {
        const std::uint64_t field = word >> (bits * index) & ((1U << bits) - 1);
        return is_signed(type) ? signed_value(field, bits == 8 ? Type::s8 : Type::s16)
                               : static_cast<std::int64_t>(field);
      };
      const std::vector<Slot> words(3, Slot::word);
      expect_lanes(Builder(Opcode::dp4a, a, b).from(words).to({Slot::word}), {a, b, Type::u32},
                   [&](const LaneInput& in) {
                     std::int64_t sum = static_cast<std::int64_t>(in.row[2]);
                     for (unsigned k = 0; k < 4; ++k)
                       sum += part(in.row[0], k, 8, a) * part(in.row[1], k, 8, b);
                     return wrap(sum, Type::u32);
                   });
      for (const std::uint16_t mode : {0, 1})
        expect_lanes(Builder(Opcode::dp2a, a, b).from(words).to({Slot::word}).with([=](auto& op) {
          op.mode = mode;
        }),
                     {a, b, Type::u32}, [&](const LaneInput& in) {
                       std::int64_t sum = static_cast<std::int64_t>(in.row[2]);
                       for (unsigned k = 0; k < 2; ++k)
                         sum += part(in.row[0], k, 16, a) * part(in.row[1], k + 2u * mode, 8, b);
                       return wrap(sum, Type::u32);
                     });
    }
}

TEST(IntegerSemantics, OperationsMadeByLowering) {
  for (const Type type : {Type::u32, Type::s64}) {
    expect_ternary(Builder(Opcode::iadd3, type), type, type,
                   [&](Wide a, Wide b, Wide c) { return wrap(a + b + c, type); });
    expect_ternary(Builder(Opcode::iadd3, type).with([](auto& op) { op.mode = 5; }), type, type,
                   [&](Wide a, Wide b, Wide c) { return wrap(b - a - c, type); });
    expect_binary(
        Opcode::lea, type, [](Wide a, Wide b, Type t) { return wrap((a << 3) + b, t); },
        [](ir::Operation& op) { op.immediate = 3; });
  }
  for (const Type type : {Type::u32, Type::s32})
    expect_ternary(Builder(Opcode::mad_wide_add, type), type, doubled(type),
                   [&](Wide a, Wide b, Wide c) { return wrap(a * b + c, Type::u64); });
}

TEST(IntegerSemantics, ResultMayOverlapSourcesOfAnotherWidth) {
  // mul.wide into the two rows of which the second holds a factor.
  for (const CpuLevel level : levels()) {
    Builder builder = with_part(Opcode::mul, Type::s32, ir::MulPart::wide);
    builder.from({Slot::word, Slot::word}).to({Slot::pair});
    Instruction instruction;
    ASSERT_TRUE(builder.bind(instruction, level));
    instruction.source[0] = Operand(Operand::registers, 17);
    LaneMachine machine;
    Lanes a, b;
    for (unsigned i = 0; i < warp_size; ++i) {
      a[i] = 3 * i + 1;
      b[i] = 7 * i + 1000;
    }
    machine.set(17, Slot::word, a);
    machine.set(2, Slot::word, b);
    instruction.execute(instruction, machine.context);
    const Lanes result = machine.get(16, Slot::pair);
    for (unsigned i = 0; i < warp_size; ++i) EXPECT_EQ(result[i], a[i] * b[i]) << i;
  }
}

}  // namespace
}  // namespace lockstep::isa::test::integer_test
