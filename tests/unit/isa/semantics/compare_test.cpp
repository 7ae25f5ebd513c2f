#include "tests/unit/isa/semantics/lane_machine.hpp"

namespace lockstep::isa::test::compare_test {
namespace {

using enum Comparison;
constexpr Comparison ordered[] = {eq, ne, lt, le, gt, ge};
constexpr Comparison unsigned_only[] = {lo, ls, hi, hs};
constexpr Comparison float_only[] = {equ, neu, ltu, leu, gtu, geu, num, nan};

double half_value(std::uint64_t bits, bool brain) {
  bits &= 0xffff;
  if (brain) return as_float(bits << 16);
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const double fraction = static_cast<double>(bits & 1023), sign = (bits >> 15) != 0 ? -1 : 1;
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  return sign * std::ldexp(fraction + (exponent != 0 ? 1024 : 0), std::max(exponent, 1) - 25);
}
/// -1, 0, 1 or 2 for unordered.
int order(std::uint64_t a, std::uint64_t b, Type type, bool flush) {
  const auto compare = [](auto x, auto y) { return x < y ? -1 : x > y ? 1 : x == y ? 0 : 2; };
  const auto read32 = [&](std::uint64_t bits) {
    return as_float(flush && (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits);
  };
  const auto read16 = [&](std::uint64_t bits) {
    return half_value(flush && (bits & 0x7c00) == 0 ? bits & 0x8000 : bits, type == Type::bf16);
  };
  switch (type) {
    case Type::f16:
    case Type::bf16:
      return compare(read16(a), read16(b));
    case Type::f32:
      return compare(read32(a), read32(b));
    case Type::f64:
      return compare(as_double(a), as_double(b));
    default:
      return is_signed(type) ? compare(signed_value(a, type), signed_value(b, type))
                             : compare(a, b);
  }
}
bool holds(Comparison comparison, int order) {
  switch (comparison) {
    case eq:
      return order == 0;
    case ne:
      return order == -1 || order == 1;
    case lt:
    case lo:
      return order == -1;
    case le:
    case ls:
      return order == -1 || order == 0;
    case gt:
    case hi:
      return order == 1;
    case ge:
    case hs:
      return order == 0 || order == 1;
    case equ:
      return order == 0 || order == 2;
    case neu:
      return order != 0;
    case ltu:
      return order == -1 || order == 2;
    case leu:
      return order != 1;
    case gtu:
      return order == 1 || order == 2;
    case geu:
      return order != -1;
    case num:
      return order != 2;
    default:
      return order == 2;
  }
}
bool combine(Combination combination, bool a, bool p) {
  switch (combination) {
    case Combination::logical_and:
      return a && p;
    case Combination::logical_or:
      return a || p;
    case Combination::logical_xor:
      return a != p;
    default:
      return a;
  }
}
std::vector<Comparison> comparisons(Type type) {
  std::vector<Comparison> result;
  for (const Comparison comparison : ordered) result.push_back(comparison);
  if (is_float(type)) {
    for (const Comparison comparison : float_only) result.push_back(comparison);
  } else if (!is_signed(type)) {
    for (const Comparison comparison : unsigned_only) result.push_back(comparison);
  }
  return result;
}

constexpr Type types[] = {Type::u16, Type::s16, Type::u32,  Type::s32, Type::u64,
                          Type::s64, Type::f16, Type::bf16, Type::f32, Type::f64};
constexpr Combination combinations[] = {Combination::none, Combination::logical_and,
                                        Combination::logical_or, Combination::logical_xor};

TEST(CompareSemantics, SetpWithCombinationAndComplement) {
  for (const Type type : types)
    for (const Comparison comparison : comparisons(type))
      for (const Combination combination : combinations)
        for (const bool flush : {false, true}) {
          if (flush && type != Type::f32 && type != Type::f16) continue;
          const Slot slot = slot_of(type);
          const auto result = [&](const LaneInput& in, bool complement) -> std::uint64_t {
            const bool a = holds(comparison, order(in.row[0], in.row[1], type, flush));
            return combine(combination, a != complement, in.predicate[0]);
          };
          Builder builder(Opcode::setp, type);
          builder.from({slot, slot, Slot::predicate}).with([=](ir::Operation& op) {
            op.comparison = comparison;
            op.combination = combination;
            op.flush = flush;
          });
          builder.to({Slot::predicate, Slot::predicate});
          expect_lanes(
              builder, {type, type}, [&](const LaneInput& in) { return result(in, false); }, 6);
        }
}

TEST(CompareSemantics, SecondPredicateIsTheComplement) {
  for (const CpuLevel level : levels()) {
    Builder builder(Opcode::setp, Type::s32);
    builder.from({Slot::word, Slot::word})
        .to({Slot::predicate, Slot::predicate})
        .with([](ir::Operation& op) { op.comparison = lt; });
    Instruction instruction;
    ASSERT_TRUE(builder.bind(instruction, level));
    LaneMachine machine;
    Lanes a{}, b{};
    for (unsigned i = 0; i < warp_size; ++i) b[i] = i % 3;
    machine.set(0, Slot::word, a);
    machine.set(2, Slot::word, b);
    machine.context.active = 0x0fffffff;
    machine.predicates[4] = machine.predicates[5] = 0xf0000000;
    instruction.execute(instruction, machine.context);
    EXPECT_EQ(machine.predicates[4] ^ machine.predicates[5], 0x0fffffffu);
    EXPECT_EQ(machine.predicates[4] >> 28, 15u) << "lanes that do not execute keep their bits";
    EXPECT_EQ(machine.predicates[4] & 7, 6u);
  }
}

TEST(CompareSemantics, SetWritesOnesOrOne) {
  struct Destination {
    Type type;
    std::uint64_t truth;
  };
  for (const Type type : types)
    for (const Comparison comparison : comparisons(type))
      for (const Destination to :
           {Destination{Type::u32, 0xffffffff}, Destination{Type::f32, 0x3f800000},
            Destination{Type::s16, 0xffff}, Destination{Type::f16, 0x3c00},
            Destination{Type::bf16, 0x3f80}})
        expect_lanes(
            Builder(Opcode::set, to.type, type)
                .from({slot_of(type), slot_of(type), Slot::predicate})
                .to({Slot::word})
                .with([=](ir::Operation& op) {
                  op.comparison = comparison;
                  op.combination = Combination::logical_or;
                }),
            {type, type},
            [&](const LaneInput& in) {
              const bool a = holds(comparison, order(in.row[0], in.row[1], type, false));
              return a || in.predicate[0] ? to.truth : 0;
            },
            3);
}

TEST(CompareSemantics, PairsOfHalves) {
  for (const Type type : {Type::f16x2, Type::bf16x2}) {
    const Type half = type == Type::f16x2 ? Type::f16 : Type::bf16;
    for (const Comparison comparison : comparisons(half)) {
      const auto part = [&](const LaneInput& in, unsigned shift) {
        return holds(comparison,
                     order(in.row[0] >> shift & 0xffff, in.row[1] >> shift & 0xffff, half, false));
      };
      const auto change = [=](ir::Operation& op) { op.comparison = comparison; };
      const std::uint64_t one = half == Type::f16 ? 0x3c00 : 0x3f80;
      expect_lanes(
          Builder(Opcode::set, type, type)
              .from({Slot::word, Slot::word})
              .to({Slot::word})
              .with(change),
          {type, type},
          [&](const LaneInput& in) {
            return (part(in, 0) ? one : 0) | (part(in, 16) ? one << 16 : 0);
          },
          5);
      expect_lanes(
          Builder(Opcode::setp, type)
              .from({Slot::word, Slot::word})
              .to({Slot::predicate, Slot::predicate})
              .with(change),
          {type, type}, [&](const LaneInput& in) -> std::uint64_t { return part(in, 0); }, 5);
    }
  }
}

TEST(CompareSemantics, ClassTests) {
  for (const Type type : {Type::f32, Type::f64})
    for (std::uint16_t mode = 0; mode < 6; ++mode)
      expect_lanes(Builder(Opcode::testp, type)
                       .from({slot_of(type)})
                       .to({Slot::predicate})
                       .with([=](ir::Operation& op) { op.mode = mode; }),
                   {type}, [=](const LaneInput& in) -> std::uint64_t {
                     const int kind = type == Type::f32 ? std::fpclassify(as_float(in.row[0]))
                                                        : std::fpclassify(as_double(in.row[0]));
                     switch (static_cast<ClassTest>(mode)) {
                       case ClassTest::finite:
                         return kind != FP_NAN && kind != FP_INFINITE;
                       case ClassTest::infinite:
                         return kind == FP_INFINITE;
                       case ClassTest::number:
                         return kind != FP_NAN;
                       case ClassTest::notanumber:
                         return kind == FP_NAN;
                       case ClassTest::normal:
                         return kind == FP_NORMAL;
                       default:
                         return kind == FP_SUBNORMAL;
                     }
                   });
}

}  // namespace
}  // namespace lockstep::isa::test::compare_test
