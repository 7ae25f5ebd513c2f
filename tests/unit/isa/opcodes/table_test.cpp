/// The opcode table is complete, and the reader's names agree with it.
#include "models/isa/opcodes/table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "models/isa/opcodes/execution_class.hpp"
#include "models/isa/opcodes/operand_types.hpp"
#include "models/isa/reader/families/instruction_table.hpp"

namespace lockstep::isa::table_test {
namespace {

/// An operation of 32-bit integers with some sources.
ir::Operation operation_of(Opcode opcode) {
  ir::Operation operation;
  operation.opcode = opcode;
  operation.type = operation.source_type = Type::u32;
  operation.sources.resize(4);
  return operation;
}

TEST(OpcodeTable, HasARowForEveryOpcode) {
  EXPECT_EQ(opcode_table.size(), static_cast<std::size_t>(Opcode::fill) + 1);
}

TEST(OpcodeTable, EveryRowIsComplete) {
  for (const OpcodeFacts& facts : opcode_table) {
    EXPECT_FALSE(facts.name.empty()) << static_cast<int>(facts.opcode);
    EXPECT_NE(facts.pipe, Pipe::none) << facts.name;
    ASSERT_FALSE(facts.operands.empty()) << facts.name;
    EXPECT_EQ(facts.operands.find_first_not_of("-twdsbapTWDSB"), std::string_view::npos)
        << facts.name;
    EXPECT_FALSE(facts.operands[0] >= 'A' && facts.operands[0] <= 'Z')
        << facts.name << ": no constant is written to";
    EXPECT_GT(facts.wait, 0) << facts.name;
    for (const unsigned slots :
         {facts.slots.b16, facts.slots.b32, facts.slots.b64, facts.slots.f32, facts.slots.f64})
      EXPECT_GT(slots, 0u) << facts.name;
  }
}

TEST(OpcodeTable, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const OpcodeFacts& facts : opcode_table)
    EXPECT_TRUE(names.insert(facts.name).second) << facts.name;
}

TEST(OpcodeTable, UnitsFitTheCategories) {
  for (const OpcodeFacts& facts : opcode_table) {
    const ExecutionClass where = execution_class(operation_of(facts.opcode));
    const bool memory = is_memory(where.category) || where.category == Category::fence ||
                        where.category == Category::phase_wait ||
                        where.category == Category::bulk_copy ||
                        where.category == Category::async_store;
    const bool computes = where.category == Category::arithmetic ||
                          where.category == Category::shuffle_vote ||
                          where.category == Category::warpgroup_product;
    EXPECT_TRUE(!memory || where.unit == Unit::memory) << facts.name;
    EXPECT_EQ(where.unit == Unit::control, !memory && !computes) << facts.name;
  }
}

TEST(OpcodeTable, WhatLooksAtOtherLanesSaysSo) {
  const std::set<Category> together{
      Category::shuffle_vote, Category::barrier, Category::cluster_barrier,
      Category::warp_barrier, Category::call,    Category::print};
  for (const OpcodeFacts& facts : opcode_table)
    EXPECT_TRUE(!together.contains(facts.category) || has_trait(facts.opcode, depends_on_lanes))
        << facts.name;
}

TEST(OpcodeTable, ConstantsHaveATypeWhereTheyMayStand) {
  for (const OpcodeFacts& facts : opcode_table) {
    const ir::Operation operation = operation_of(facts.opcode);
    for (std::size_t s = 0; s < operation.sources.size(); ++s)
      EXPECT_EQ(accepts_constant(operation, s), constant_type(operation, s) != Type::none)
          << facts.name << " source " << s;
  }
}

TEST(InstructionTable, EveryOpcodeOfPtxIsReadUnderItsName) {
  const auto entries = instruction_table();
  for (const OpcodeFacts& facts : opcode_table) {
    if (facts.origin != Origin::ptx) continue;
    const auto found = std::ranges::find(entries, facts.name, &InstructionEntry::name);
    ASSERT_NE(found, entries.end()) << facts.name;
    EXPECT_EQ(found->opcode, facts.opcode) << facts.name;
  }
}

TEST(InstructionTable, EveryNameIsThatOfItsOpcodeOrAKnownOther) {
  const std::set<std::string_view> others{
      "wmma", "applypriority", "createpolicy", "discard",   "alloca",    "barrier",
      "cp",   "mbarrier",      "membar",       "prefetchu", "stacksave", "stackrestore",
      "suld", "suq",           "sust",         "tensormap", "tex",       "txq"};
  const std::set<Opcode> video{Opcode::video, Opcode::video2, Opcode::video4};
  for (const InstructionEntry& entry : instruction_table()) {
    const bool known = video.contains(entry.opcode) || others.contains(entry.name);
    EXPECT_TRUE(known || facts_of(entry.opcode).name == entry.name) << entry.name;
  }
}

}  // namespace
}  // namespace lockstep::isa::table_test
