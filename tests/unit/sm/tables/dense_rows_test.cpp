#include "models/sm/tables/dense_rows.hpp"

#include <gtest/gtest.h>

#include "models/isa/encode/encode.hpp"
#include "models/sm/tables/no_effect.hpp"

namespace lockstep::dense_rows_test {
namespace {

using isa::Instruction;
using isa::Operand;
using isa::Program;

constexpr Operand reg(std::uint16_t row) {
  return {Operand::registers, row};
}
constexpr Operand four{Operand::immediates, 0};

Instruction add(Operand destination, Operand a, Operand b) {
  Instruction i;
  i.opcode = isa::Opcode::add;
  i.destination[0] = destination;
  i.source[0] = a;
  i.source[1] = b;
  return i;
}
Instruction without_effect(const Instruction& given) {
  Instruction instruction = given;
  instruction.execute = no_effect;
  return instruction;
}

/// Rows 0 to 5 hold three 64-bit values, 6 to 9 words.
Program program_of(std::vector<Instruction> instructions) {
  Program program;
  program.instructions = std::move(instructions);
  program.instructions.push_back({});
  program.instructions.back().category = isa::Category::exit;
  program.rows = 10;
  program.pair_rows = 6;
  program.function_entries = {0};
  isa::find_live_rows(program);
  return program;
}

TEST(DenseRows, LeaveNoGapsAndKeepPairsBeforeWords) {
  Program program =
      program_of({add(reg(4), four, four), add(reg(9), four, four), add(reg(7), reg(9), reg(9))});
  DeferredValues issued = nothing_deferred(program);
  const DenseRows dense = number_densely(issued, program);
  EXPECT_EQ(dense.rows, 4u);
  EXPECT_EQ(dense.pair_rows, 2u);
  EXPECT_EQ(issued.instructions[0].destination[0], reg(0));
  EXPECT_EQ(issued.instructions[0].source[0], four);
  EXPECT_EQ(issued.instructions[1].destination[0], reg(3));
  EXPECT_EQ(issued.instructions[2].destination[0], reg(2));
  EXPECT_EQ(issued.instructions[2].source[1], reg(3));
  EXPECT_TRUE(dense.read_first.empty());
}

TEST(DenseRows, AreNotTakenByWhatHasNoEffect) {
  Program program = program_of({without_effect(add(reg(6), four, four)), add(reg(8), four, four)});
  DeferredValues issued = nothing_deferred(program);
  const DenseRows dense = number_densely(issued, program);
  EXPECT_EQ(dense.rows, 1u);
  EXPECT_EQ(issued.instructions[0].destination[0], reg(6)) << "the scoreboard's number";
  EXPECT_EQ(issued.instructions[1].destination[0], reg(0));
}

TEST(DenseRows, SayWhatIsReadBeforeItIsWritten) {
  Program program = program_of({add(reg(7), reg(2), reg(8)), add(reg(8), reg(7), reg(7))});
  DeferredValues issued = nothing_deferred(program);
  const DenseRows dense = number_densely(issued, program);
  EXPECT_EQ(dense.pair_rows, 2u);
  EXPECT_EQ(dense.read_first, (std::vector<std::uint8_t>{0, 1, 3})) << "both rows of the pair";
}

TEST(DenseRows, MayAllBePairsOrNone) {
  Program pairs = program_of({add(reg(2), reg(4), reg(4))});
  pairs.rows = pairs.pair_rows;
  DeferredValues issued_pairs = nothing_deferred(pairs);
  EXPECT_EQ(number_densely(issued_pairs, pairs).pair_rows, 4u);
  Program words = program_of({add(reg(6), reg(6), reg(7))});
  DeferredValues issued_words = nothing_deferred(words);
  EXPECT_EQ(number_densely(issued_words, words).pair_rows, 0u);
}

TEST(DenseRows, AreThoseOfOperandListsToo) {
  Program program = program_of({Instruction()});
  program.instructions[0].flags = isa::flag_listed;
  program.operand_lists = {{{reg(4), reg(9)}, {reg(2), four, reg(8), reg(7), reg(7), reg(7)}}};
  isa::find_live_rows(program);
  DeferredValues issued = nothing_deferred(program);
  const DenseRows dense = number_densely(issued, program);
  EXPECT_EQ(dense.rows, 7u);
  EXPECT_EQ(dense.pair_rows, 4u);
  EXPECT_EQ(issued.operand_lists[0].destinations, (std::vector<Operand>{reg(2), reg(6)}));
  EXPECT_EQ(issued.operand_lists[0].sources,
            (std::vector<Operand>{reg(0), four, reg(5), reg(4), reg(4), reg(4)}));
  EXPECT_EQ(dense.read_first, (std::vector<std::uint8_t>{0, 1, 4, 5}));
}

}  // namespace
}  // namespace lockstep::dense_rows_test
