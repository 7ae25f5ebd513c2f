#include "models/sm/tables/deferred_values.hpp"

#include <gtest/gtest.h>

#include "models/isa/encode/encode.hpp"
#include "models/isa/ir.hpp"
#include "models/sm/tables/no_effect.hpp"

namespace lockstep::deferred_values_test {
namespace {

using isa::Category;
using isa::Instruction;
using isa::Operand;
using isa::Program;

void compute(const Instruction&, isa::WarpContext&) {}

// Rows 0 to 5 hold three addresses of 64 bits, those behind them words.
constexpr Operand address{Operand::registers, 0}, other{Operand::registers, 2};
constexpr Operand index_row{Operand::registers, 6}, value{Operand::registers, 7};

Instruction arithmetic(Operand destination, Operand source) {
  Instruction i;
  i.execute = compute;
  i.destination[0] = destination;
  i.source[0] = source;
  return i;
}

Instruction memory(Category category, Operand at, Operand data) {
  Instruction i;
  i.category = category;
  i.flags = isa::flag_address_wide;
  i.memory.space = isa::Space::global;
  i.source[0] = at;
  (category == Category::load ? i.destination[0] : i.source[1]) = data;
  return i;
}
Instruction load(Operand to, Operand at) {
  return memory(Category::load, at, to);
}
Instruction store(Operand at, Operand data) {
  return memory(Category::store, at, data);
}

Instruction control(Category category, std::uint32_t target = 0) {
  Instruction i;
  i.category = category;
  i.target = target;
  return i;
}

DeferredValues defer(std::vector<Instruction> instructions) {
  Program program;
  program.instructions = std::move(instructions);
  program.instructions.push_back(control(Category::exit));
  program.rows = 9;
  program.pair_rows = 6;
  program.function_entries = {0};
  isa::find_live_rows(program);
  return defer_values(program);
}

bool is_deferred(const DeferredValues& result, std::size_t pc) {
  return !has_effect(result.instructions[pc]);
}

TEST(DeferredValues, AreComputedByTheLoadThatUsesThem) {
  const DeferredValues result = defer({arithmetic(address, index_row), load(value, address)});
  EXPECT_TRUE(is_deferred(result, 0));
  EXPECT_NE(result.instructions[0].execute, &compute);
  EXPECT_EQ(result.instructions[0].destination[0], address) << "it is what commits";
  ASSERT_TRUE(result.computes_address[1]);
  ASSERT_EQ(result.instructions.size(), 4u);
  EXPECT_EQ(result.instructions[1].target, 3u);
  EXPECT_EQ(result.instructions[3].execute, &compute);
  EXPECT_EQ(result.instructions[3].source[0], index_row);
  EXPECT_EQ(result.instructions[3].destination[0], result.instructions[1].source[0]);
  EXPECT_FALSE(result.instructions[1].source[0].is_register());
}

TEST(DeferredValues, MayBeUsedTwiceButNotThrice) {
  const Instruction first = arithmetic(address, index_row);
  const DeferredValues twice = defer({first, load(value, address), store(address, value)});
  EXPECT_TRUE(is_deferred(twice, 0));
  EXPECT_EQ(twice.instructions[1].target, twice.instructions[2].target);
  EXPECT_FALSE(is_deferred(
      defer({first, load(value, address), store(address, value), load(value, address)}), 0));
}

TEST(DeferredValues, StayWhereSomethingElseReadsThem) {
  const Instruction first = arithmetic(address, index_row);
  EXPECT_FALSE(is_deferred(
      defer({first, load(value, address), arithmetic(other, address), store(other, value)}), 0));
  Instruction stored = store(other, address);
  stored.memory.register_bytes = 8;
  EXPECT_FALSE(is_deferred(defer({first, load(value, address), stored}), 0));
  EXPECT_FALSE(is_deferred(defer({first, store(address, address)}), 0));
}

TEST(DeferredValues, StayWhenTheirSourceChangesBeforeTheUse) {
  const Instruction first = arithmetic(address, index_row);
  EXPECT_FALSE(is_deferred(defer({first, arithmetic(index_row, value), load(value, address)}), 0));
  EXPECT_FALSE(is_deferred(defer({first, load(index_row, address), store(address, value)}), 0));
  EXPECT_TRUE(is_deferred(defer({first, load(index_row, address)}), 0))
      << "read before it is written";
  EXPECT_FALSE(is_deferred(defer({arithmetic(address, address), load(value, address)}), 0));
}

TEST(DeferredValues, StayWhenControlMayComeOrGoBetween) {
  const Instruction first = arithmetic(address, index_row);
  // 0: first; 1: a branch that may be taken; 2: load
  Instruction branch = control(Category::branch, 3);
  branch.guard = 0;
  EXPECT_FALSE(is_deferred(defer({first, branch, load(value, address)}), 0));
  // 0: branch to 2 or on to 1; 1: first; 2: load, where both meet
  branch.target = 2;
  EXPECT_FALSE(is_deferred(defer({branch, first, load(value, address)}), 1));
  EXPECT_FALSE(is_deferred(defer({first, control(Category::barrier), load(value, address)}), 0));
}

TEST(DeferredValues, StayWhenSomeLanesKeepAnOlderOne) {
  Instruction guarded = arithmetic(address, index_row);
  guarded.guard = 0;
  EXPECT_FALSE(is_deferred(defer({guarded, load(value, address)}), 0));
  EXPECT_FALSE(
      is_deferred(defer({arithmetic(address, index_row), guarded, load(value, address)}), 0));
}

TEST(DeferredValues, StayInSharedMemory) {
  Instruction shared = load(value, address);
  shared.memory.space = isa::Space::shared;
  EXPECT_FALSE(is_deferred(defer({arithmetic(address, index_row), shared}), 0));
}

Instruction special(Operand destination, isa::ir::SpecialRegister which) {
  Instruction i = arithmetic(destination, {});
  i.opcode = isa::Opcode::mov;
  i.offset = static_cast<std::int32_t>(which);
  return i;
}

Instruction sum(Operand destination, Operand a, Operand b) {
  Instruction i = arithmetic(destination, a);
  i.opcode = isa::Opcode::add;
  i.source[1] = b;
  return i;
}

constexpr auto thread = isa::ir::SpecialRegister::tid_x, block = isa::ir::SpecialRegister::ctaid_x;

TEST(DeferredValues, SpecialRegistersAreReadByTheArithmeticThatUsesThem) {
  std::vector<const Instruction*> executed;
  static std::vector<const Instruction*>* log;
  log = &executed;
  const auto note = [](const Instruction& i, isa::WarpContext&) { log->push_back(&i); };
  std::vector<Instruction> code{special(value, thread), special(index_row, block),
                                sum(value, value, index_row), store(address, value)};
  for (Instruction& instruction : code) instruction.execute = note;
  const DeferredValues result = defer(code);
  EXPECT_TRUE(is_deferred(result, 0));
  EXPECT_TRUE(is_deferred(result, 1));
  EXPECT_FALSE(result.reads_special[0]);
  EXPECT_TRUE(result.reads_special[2]);
  const Instruction& issued = result.instructions[2];
  EXPECT_EQ(issued.destination[0], value);
  EXPECT_FALSE(issued.source[0].is_register() || issued.source[1].is_register());
  isa::WarpContext context;
  issued.execute(issued, context);
  ASSERT_EQ(executed.size(), 3u) << "both special registers, then the sum";
  EXPECT_EQ(executed[0]->offset, static_cast<std::int32_t>(thread));
  EXPECT_EQ(executed[1]->offset, static_cast<std::int32_t>(block));
  EXPECT_EQ(executed[2]->opcode, isa::Opcode::add);
  EXPECT_EQ(executed[2]->source[0], executed[0]->destination[0]);
  EXPECT_EQ(executed[2]->source[1], executed[1]->destination[0]);
  EXPECT_NE(executed[0]->destination[0], executed[1]->destination[0]);
  EXPECT_EQ(executed[2]->destination[0], value);
}

TEST(DeferredValues, SpecialRegistersOfSomeLanesStay) {
  Instruction guarded = special(value, thread);
  guarded.guard = 0;
  EXPECT_FALSE(is_deferred(defer({guarded, sum(value, value, value), store(address, value)}), 0));
}

TEST(DeferredValues, ClocksAreReadWhereTheyStand) {
  const Instruction clock = special(value, isa::ir::SpecialRegister::clock);
  const DeferredValues result = defer({clock, sum(value, value, value), store(address, value)});
  EXPECT_FALSE(is_deferred(result, 0));
  EXPECT_TRUE(result.reads_special[0]);
  EXPECT_FALSE(result.reads_special[1]);
}

TEST(DeferredValues, SpecialRegistersStayWhereMemoryOrADeferredAddressUsesThem) {
  EXPECT_FALSE(is_deferred(defer({special(value, thread), store(address, value)}), 0));
  EXPECT_FALSE(is_deferred(
      defer({special(value, thread), arithmetic(address, value), load(value, address)}), 0));
}

}  // namespace
}  // namespace lockstep::deferred_values_test
