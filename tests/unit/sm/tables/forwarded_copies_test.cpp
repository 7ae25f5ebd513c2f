#include "models/sm/tables/forwarded_copies.hpp"

#include <gtest/gtest.h>

#include "models/sm/tables/no_effect.hpp"

namespace lockstep::forwarded_copies_test {
namespace {

using isa::Category;
using isa::Instruction;
using isa::Operand;
using isa::Program;

constexpr Operand four{Operand::immediates, 0}, five{Operand::immediates, 1};
constexpr Operand parameter{Operand::constants, 0};
// Rows 0 and 1 hold a 64-bit value, those behind them words.
constexpr Operand wide{Operand::registers, 0}, a{Operand::registers, 2}, b{Operand::registers, 3};

void compute(const Instruction&, isa::WarpContext&) {}

Instruction copy(Operand destination, Operand source) {
  Instruction i;
  i.execute = compute;
  i.opcode = isa::Opcode::mov;
  i.destination[0] = destination;
  i.source[0] = source;
  return i;
}
Instruction use(Operand operand, Category category = Category::arithmetic) {
  Instruction i;
  i.execute = compute;
  i.opcode = isa::Opcode::add;
  i.category = category;
  i.destination[0] = b;
  i.source[0] = operand;
  return i;
}
Instruction branch(std::uint32_t target) {
  Instruction i;
  i.category = Category::branch;
  i.guard = 0;
  i.target = target;
  return i;
}
Instruction guarded(const Instruction& instruction) {
  Instruction result = instruction;
  result.guard = 0;
  return result;
}

Program forward(std::vector<Instruction> instructions) {
  Program program;
  program.instructions = std::move(instructions);
  program.instructions.push_back({});
  program.instructions.back().category = Category::exit;
  program.rows = 4;
  program.pair_rows = 2;
  program.function_entries = {0};
  forward_copies(program);
  return program;
}

TEST(ForwardedCopies, AreReadWhereTheOriginalStands) {
  const Program program =
      forward({copy(a, four), copy(wide, parameter), use(a), use(wide), use(a, Category::store)});
  EXPECT_EQ(program.instructions[2].source[0], four);
  EXPECT_EQ(program.instructions[3].source[0], parameter);
  EXPECT_EQ(program.instructions[4].source[0], four);
  EXPECT_FALSE(has_effect(program.instructions[0]));
  EXPECT_FALSE(has_effect(program.instructions[1]));
  EXPECT_EQ(program.instructions[0].destination[0], a) << "it is what commits";
}

TEST(ForwardedCopies, EndWhereTheRegisterIsWritten) {
  const Program program = forward({copy(b, four), use(b), use(b)});
  EXPECT_EQ(program.instructions[1].source[0], four);
  EXPECT_EQ(program.instructions[2].source[0], b);
}

TEST(ForwardedCopies, HoldOnlyIfTheyDoOnAllWays) {
  // 0: copy; 1: branch to 3; 2: another copy; 3: use, where both meet
  EXPECT_EQ(forward({copy(a, four), branch(3), copy(a, four), use(a)}).instructions[3].source[0],
            four);
  const Program other = forward({copy(a, four), branch(3), copy(a, five), use(a)});
  EXPECT_EQ(other.instructions[3].source[0], a);
  EXPECT_TRUE(has_effect(other.instructions[0]));
  EXPECT_TRUE(has_effect(other.instructions[2]));
  // around a loop: 1: use; 2: back to 1
  EXPECT_EQ(forward({copy(a, four), use(a), branch(1)}).instructions[1].source[0], four);
  EXPECT_EQ(forward({copy(b, four), use(b), branch(1)}).instructions[1].source[0], b);
  // not on the way that does not come through the copy: 0: branch to 2; 1: copy
  EXPECT_EQ(forward({branch(2), copy(a, four), use(a)}).instructions[2].source[0], a);
}

TEST(ForwardedCopies, AreNotThoseOfSomeLanes) {
  const Program program = forward({guarded(copy(a, four)), use(a)});
  EXPECT_EQ(program.instructions[1].source[0], a);
  EXPECT_TRUE(has_effect(program.instructions[0]));
  const Program over = forward({copy(a, four), guarded(copy(a, five)), use(a)});
  EXPECT_EQ(over.instructions[2].source[0], a);
}

TEST(ForwardedCopies, KeepTheirEffectForWhatLooksAtOtherLanes) {
  const Program program = forward({copy(a, four), use(a, Category::shuffle_vote), use(a)});
  EXPECT_EQ(program.instructions[1].source[0], a);
  EXPECT_EQ(program.instructions[2].source[0], four);
  EXPECT_TRUE(has_effect(program.instructions[0]));
}

}  // namespace
}  // namespace lockstep::forwarded_copies_test
