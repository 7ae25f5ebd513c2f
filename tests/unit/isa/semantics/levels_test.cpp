#include <set>

#include "tests/unit/isa/semantics/lane_machine.hpp"

namespace lockstep::isa::test::levels_test {
namespace {

constexpr Type all_types[] = {Type::none,  Type::pred, Type::b8,     Type::b16, Type::b32,
                              Type::b64,   Type::u8,   Type::u16,    Type::u32, Type::u64,
                              Type::s8,    Type::s16,  Type::s32,    Type::s64, Type::f16,
                              Type::f16x2, Type::bf16, Type::bf16x2, Type::f32, Type::f64};

bool has_source_type(Opcode opcode) {
  return opcode == Opcode::cvt || opcode == Opcode::cvt_pack || opcode == Opcode::set ||
         opcode == Opcode::slct || opcode == Opcode::dp4a || opcode == Opcode::dp2a;
}

/// All settings of the modifiers that can matter to an opcode.
void for_modifiers(Opcode opcode, const std::function<void(const ir::Operation&)>& visit) {
  ir::Operation base;
  base.opcode = opcode;
  for (unsigned rounding = 0; rounding <= static_cast<unsigned>(Rounding::rpi); ++rounding)
    for (unsigned bits = 0; bits < 64; ++bits) {
      ir::Operation operation = base;
      operation.rounding = static_cast<Rounding>(rounding);
      operation.flush = (bits & 1) != 0;
      operation.saturate = (bits & 2) != 0;
      operation.approximate = (bits & 4) != 0;
      operation.full = (bits & 8) != 0;
      operation.relu = (bits & 16) != 0;
      operation.nan = (bits & 32) != 0;
      visit(operation);
    }
  for (unsigned part = 0; part <= 3; ++part)
    for (unsigned bits = 0; bits < 16; ++bits)
      for (std::uint16_t mode = 0; mode < 8; ++mode) {
        ir::Operation operation = base;
        operation.part = static_cast<ir::MulPart>(part);
        operation.carry_out = (bits & 1) != 0;
        operation.saturate = (bits & 2) != 0;
        operation.wrap = (bits & 4) != 0;
        operation.shift_amount = (bits & 8) != 0;
        operation.mode = mode;
        operation.immediate = 0x96 + 0x1fu * mode;
        operation.space = static_cast<Space>(mode % 7);
        visit(operation);
      }
  for (unsigned comparison = 0; comparison <= static_cast<unsigned>(Comparison::nan); ++comparison)
    for (unsigned bits = 0; bits < 8; ++bits) {
      ir::Operation operation = base;
      operation.comparison = static_cast<Comparison>(comparison);
      operation.combination = static_cast<Combination>(bits & 3);
      operation.flush = (bits & 4) != 0;
      visit(operation);
    }
  for (unsigned atomic = 0; atomic <= static_cast<unsigned>(AtomicOperation::max); ++atomic) {
    ir::Operation operation = base;
    operation.atomic = static_cast<AtomicOperation>(atomic);
    visit(operation);
  }
}
/// Types, and how many registers it has where that decides.
void for_operations(Opcode opcode, const std::function<void(const ir::Operation&)>& visit) {
  const bool by_count = opcode == Opcode::mov_pack || opcode == Opcode::mov_unpack ||
                        opcode == Opcode::cvt || opcode == Opcode::cvt_pack;
  for_modifiers(opcode, [&](const ir::Operation& modified) {
    for (const Type type : all_types)
      for (const Type source_type : all_types) {
        if (source_type != Type::none && !has_source_type(opcode)) continue;
        for (unsigned count = 1; count <= (by_count ? 4 : 1); ++count) {
          ir::Operation operation = modified;
          operation.type = type;
          operation.source_type = source_type;
          operation.sources.resize(count);
          operation.destinations.resize(count);
          for (ir::Operand& operand : operation.sources) operand.kind = ir::Operand::Kind::reg;
          for (ir::Operand& operand : operation.destinations) operand.kind = ir::Operand::Kind::reg;
          visit(operation);
        }
      }
  });
}

LaneMachine filled(std::uint64_t seed) {
  Values values(seed);
  LaneMachine machine;
  const Type kinds[] = {Type::f32, Type::f64, Type::u32, Type::s64, Type::f16x2, Type::bf16x2};
  for (unsigned row = 0; row < 32; row += 2) {
    const Type type = kinds[(row / 2 + seed) % std::size(kinds)];
    if (bytes_of(type) == 8) {
      machine.set(row, Slot::pair, values.lanes(type));
    } else {
      machine.set(row, Slot::word, values.lanes(type));
      machine.set(row + 1, Slot::word, values.lanes(type));
    }
  }
  for (std::uint32_t& p : machine.predicates) p = static_cast<std::uint32_t>(values.raw());
  machine.context.active = values.mask();
  return machine;
}
struct State {
  std::array<std::uint32_t, 32 * warp_size> rows;
  std::array<std::uint32_t, 8> predicates;
  bool operator==(const State&) const = default;
};
State run(const Instruction& bound, const LaneMachine& start, std::uint32_t active) {
  Instruction instruction = bound;
  for (unsigned k = 0; k < 5; ++k)
    instruction.source[k] = Operand(Operand::registers, static_cast<std::uint16_t>(2 * k));
  for (unsigned k = 0; k < 4; ++k)
    instruction.destination[k] =
        Operand(Operand::registers, static_cast<std::uint16_t>(16 + 2 * k));
  instruction.predicate_source = {0, 1};
  instruction.predicate_destination = {4, 5};
  LaneMachine machine;
  machine.rows = start.rows;
  machine.predicates = start.predicates;
  machine.context.active = active;
  machine.identity.block_size = {32, 1, 1};
  instruction.execute(instruction, machine.context);
  return {machine.rows, machine.predicates};
}

/// Every operation that has semantics is executed: the levels agree on which there are and on every
/// bit, and with no lane active nothing changes.
class EveryOpcode : public ::testing::TestWithParam<Opcode> {};
TEST_P(EveryOpcode, GivesTheSameBitsAtEveryLevel) {
  std::vector<LaneMachine> machines;
  for (std::uint64_t seed = 0; seed < 6; ++seed) machines.push_back(filled(seed));
  // Functions with equal fields need to run once only.
  std::set<std::tuple<Execute, std::uint16_t, std::int32_t>> seen;
  for_operations(GetParam(), [&](const ir::Operation& operation) {
    Instruction reference;
    const bool exists = bind_semantics(operation, reference, CpuLevel::v2);
    for (const CpuLevel level : levels()) {
      Instruction instruction;
      ASSERT_EQ(bind_semantics(operation, instruction, level), exists) << describe(operation);
    }
    if (!exists || !seen.insert({reference.execute, reference.detail, reference.offset}).second)
      return;
    for (const LaneMachine& machine : machines) {
      const State start{machine.rows, machine.predicates};
      const State expected = run(reference, machine, machine.context.active);
      for (const CpuLevel level : levels()) {
        Instruction instruction;
        ASSERT_TRUE(bind_semantics(operation, instruction, level));
        ASSERT_TRUE(run(instruction, machine, machine.context.active) == expected)
            << describe(operation) << " level " << static_cast<int>(level);
        ASSERT_TRUE(run(instruction, machine, 0) == start) << describe(operation);
      }
    }
  });
  EXPECT_FALSE(seen.empty()) << "no semantics at all";
}
INSTANTIATE_TEST_SUITE_P(
    Semantics, EveryOpcode,
    ::testing::Values(
        Opcode::add, Opcode::addc, Opcode::sub, Opcode::subc, Opcode::mul, Opcode::mad,
        Opcode::madc, Opcode::mul24, Opcode::mad24, Opcode::sad, Opcode::div, Opcode::rem,
        Opcode::abs, Opcode::neg, Opcode::min, Opcode::max, Opcode::and_, Opcode::or_, Opcode::xor_,
        Opcode::not_, Opcode::cnot, Opcode::lop3, Opcode::shl, Opcode::shr, Opcode::shf,
        Opcode::popc, Opcode::clz, Opcode::bfind, Opcode::fns, Opcode::brev, Opcode::bfe,
        Opcode::bfi, Opcode::szext, Opcode::bmsk, Opcode::prmt, Opcode::dp4a, Opcode::dp2a,
        Opcode::fma, Opcode::rcp, Opcode::sqrt, Opcode::rsqrt, Opcode::sin, Opcode::cos,
        Opcode::lg2, Opcode::ex2, Opcode::tanh, Opcode::copysign, Opcode::testp, Opcode::set,
        Opcode::setp, Opcode::selp, Opcode::slct, Opcode::mov, Opcode::mov_pack, Opcode::mov_unpack,
        Opcode::cvt, Opcode::cvt_pack, Opcode::cvta, Opcode::isspacep, Opcode::shfl, Opcode::vote,
        Opcode::match, Opcode::activemask, Opcode::redux, Opcode::elect, Opcode::iadd3, Opcode::lea,
        Opcode::mad_wide_add, Opcode::tex_index, Opcode::tex_row, Opcode::tex_address,
        Opcode::tex_decode, Opcode::tex_mix, Opcode::surf_address),
    [](const auto& tested) { return "opcode_" + std::to_string(static_cast<int>(tested.param)); });

TEST(Levels, MachineRunsAtLeastWhatIsChosen) {
  EXPECT_LE(cpu_level(), best_cpu_level());
  EXPECT_GE(cpu_level(), CpuLevel::v2);
}

TEST(Levels, OperationsWithoutSemanticsAreRefused) {
  const auto refused = [](Opcode opcode, Type type,
                          const std::function<void(ir::Operation&)>& change) {
    ir::Operation operation;
    operation.opcode = opcode;
    operation.type = type;
    change(operation);
    return select_semantics(operation) == nullptr;
  };
  EXPECT_TRUE(refused(Opcode::ld, Type::u32, [](auto&) {}));
  EXPECT_TRUE(refused(Opcode::bra, Type::none, [](auto&) {}));
  EXPECT_TRUE(refused(Opcode::add, Type::pred, [](auto&) {}));
  EXPECT_TRUE(refused(Opcode::add, Type::u32, [](auto& op) { op.saturate = true; }));
  EXPECT_TRUE(refused(Opcode::mul, Type::s32, [](auto&) {})) << "neither lo, hi nor wide";
  EXPECT_TRUE(refused(Opcode::sin, Type::f32, [](auto&) {})) << "only .approx";
  EXPECT_TRUE(refused(Opcode::setp, Type::s32, [](auto& op) { op.comparison = Comparison::lo; }));
  EXPECT_TRUE(refused(Opcode::setp, Type::s32, [](auto& op) { op.comparison = Comparison::nan; }));
}

}  // namespace
}  // namespace lockstep::isa::test::levels_test
