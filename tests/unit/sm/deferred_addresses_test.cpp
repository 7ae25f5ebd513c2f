#include "models/sm/deferred_addresses.hpp"

#include <gtest/gtest.h>

#include "models/isa/encode/encode.hpp"

namespace lockstep::deferred_addresses_test {
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

DeferredAddresses defer(std::vector<Instruction> instructions) {
  Program program;
  program.instructions = std::move(instructions);
  program.instructions.push_back(control(Category::exit));
  program.rows = 9;
  program.pair_rows = 6;
  program.function_entries = {0};
  isa::find_live_rows(program);
  return defer_addresses(program);
}

TEST(DeferredAddresses, AreComputedByTheLoadThatUsesThem) {
  const DeferredAddresses result = defer({arithmetic(address, index_row), load(value, address)});
  EXPECT_TRUE(result.deferred[0]);
  EXPECT_NE(result.instructions[0].execute, &compute);
  EXPECT_EQ(result.instructions[0].destination[0], address) << "it is what commits";
  ASSERT_TRUE(result.computes_first[1]);
  ASSERT_EQ(result.instructions.size(), 4u);
  EXPECT_EQ(result.instructions[1].target, 3u);
  EXPECT_EQ(result.instructions[3].execute, &compute);
  EXPECT_EQ(result.instructions[3].source[0], index_row);
  EXPECT_EQ(result.instructions[3].destination[0], result.instructions[1].source[0]);
  EXPECT_FALSE(result.instructions[1].source[0].is_register());
}

TEST(DeferredAddresses, MayBeUsedTwiceButNotThrice) {
  const Instruction first = arithmetic(address, index_row);
  const DeferredAddresses twice = defer({first, load(value, address), store(address, value)});
  EXPECT_TRUE(twice.deferred[0]);
  EXPECT_EQ(twice.instructions[1].target, twice.instructions[2].target);
  EXPECT_FALSE(defer({first, load(value, address), store(address, value), load(value, address)})
                   .deferred[0]);
}

TEST(DeferredAddresses, StayWhereSomethingElseReadsThem) {
  const Instruction first = arithmetic(address, index_row);
  EXPECT_FALSE(defer({first, load(value, address), arithmetic(other, address), store(other, value)})
                   .deferred[0]);
  Instruction stored = store(other, address);
  stored.memory.register_bytes = 8;
  EXPECT_FALSE(defer({first, load(value, address), stored}).deferred[0]);
  EXPECT_FALSE(defer({first, store(address, address)}).deferred[0]);
}

TEST(DeferredAddresses, StayWhenTheirSourceChangesBeforeTheUse) {
  const Instruction first = arithmetic(address, index_row);
  EXPECT_FALSE(defer({first, arithmetic(index_row, value), load(value, address)}).deferred[0]);
  EXPECT_FALSE(defer({first, load(index_row, address), store(address, value)}).deferred[0]);
  EXPECT_TRUE(defer({first, load(index_row, address)}).deferred[0]) << "read before it is written";
  EXPECT_FALSE(defer({arithmetic(address, address), load(value, address)}).deferred[0]);
}

TEST(DeferredAddresses, StayWhenControlMayComeOrGoBetween) {
  const Instruction first = arithmetic(address, index_row);
  // 0: first; 1: a branch that may be taken; 2: load
  Instruction branch = control(Category::branch, 3);
  branch.guard = 0;
  EXPECT_FALSE(defer({first, branch, load(value, address)}).deferred[0]);
  // 0: branch to 2 or on to 1; 1: first; 2: load, where both meet
  branch.target = 2;
  EXPECT_FALSE(defer({branch, first, load(value, address)}).deferred[1]);
  EXPECT_FALSE(defer({first, control(Category::barrier), load(value, address)}).deferred[0]);
}

TEST(DeferredAddresses, StayWhenSomeLanesKeepAnOlderOne) {
  Instruction guarded = arithmetic(address, index_row);
  guarded.guard = 0;
  EXPECT_FALSE(defer({guarded, load(value, address)}).deferred[0]);
  EXPECT_FALSE(defer({arithmetic(address, index_row), guarded, load(value, address)}).deferred[0]);
}

TEST(DeferredAddresses, StayInSharedMemory) {
  Instruction shared = load(value, address);
  shared.memory.space = isa::Space::shared;
  EXPECT_FALSE(defer({arithmetic(address, index_row), shared}).deferred[0]);
}

}  // namespace
}  // namespace lockstep::deferred_addresses_test
