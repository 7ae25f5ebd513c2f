#include "models/sm/tables/issue_tables.hpp"

#include <gtest/gtest.h>

#include "models/isa/encode/encode.hpp"
#include "models/sm/tables/no_effect.hpp"
#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::issue_tables_test {
namespace {

/// Each thread adds 3 to its word; the program's registers are more than what is touched: special
/// registers and addresses are computed where they are used.
isa::Module add_three() {
  return kernel_of(R"(
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    mul.wide.s32 %rd2, %r4, 4;
    add.s64 %rd3, %rd1, %rd2;
    add.s64 %rd4, %rd0, %rd2;
    ld.global.u32 %r5, [%rd3];
    add.s32 %r5, %r5, 3;
    st.global.u32 [%rd4], %r5;
    ret;)");
}

TEST(IssueTables, AskForRowsThatAWarpHas) {
  const isa::Module module = add_three();
  const IssueTables tables(IdealMachine::Options().parameters, {&module});
  const IssueTable& table = tables.of(0, 0);
  const isa::Program& program = module.kernels[0].lowered;
  ASSERT_EQ(table.records.size(), program.instructions.size());
  EXPECT_LT(table.rows, program.rows);
  std::size_t without_effect = 0;
  for (std::size_t pc = 0; pc < table.records.size(); ++pc) {
    for (const std::uint32_t row : table.records[pc].touches)
      EXPECT_LE(row, table.rows) << "the row behind them holds predicates; pc " << pc;
    without_effect += !has_effect(table.instructions[pc]);
  }
  EXPECT_GE(without_effect, 5u) << "three special registers and two addresses";
}

TEST(IssueTables, KeepTheScoreboardOfTheProgram) {
  const isa::Module module = add_three();
  const IssueTables tables(IdealMachine::Options().parameters, {&module});
  const isa::Program& program = module.kernels[0].lowered;
  for (std::size_t pc = 0; pc < program.instructions.size(); ++pc) {
    const isa::Operand destination = program.instructions[pc].destination[0];
    if (!destination.is_register()) continue;
    const IssueRecord& record = tables.of(0, 0).records[pc];
    ASSERT_EQ(record.releases, 1u);
    EXPECT_EQ(WarpEvent::place(record.release[0]), destination.row());
    Scoreboard pending;
    pending.mark(record.release[0]);
    EXPECT_TRUE(pending.meets(record.needs));
  }
}

/// The first instruction names eight pairs that it writes and twelve words that it reads.
isa::Module with_operand_list() {
  isa::Module module = add_three();
  isa::Program& program = module.kernels[0].lowered;
  program.rows = 48;
  program.pair_rows = 24;
  isa::OperandList list;
  for (std::uint16_t i = 0; i < 8; ++i)
    list.destinations.emplace_back(isa::Operand::registers, static_cast<std::uint16_t>(2 * i));
  for (std::uint16_t i = 0; i < 12; ++i)
    list.sources.emplace_back(isa::Operand::registers, static_cast<std::uint16_t>(30 + i));
  program.operand_lists = {list};
  isa::Instruction& listed = program.instructions[0];
  listed = {};
  listed.flags = isa::flag_listed;
  isa::find_needs(program);
  return module;
}

TEST(IssueTables, ReleaseManyDestinationsAsAGroup) {
  const isa::Module module = with_operand_list();
  const IssueTables tables(IdealMachine::Options().parameters, {&module});
  const IssueTable& table = tables.of(0, 0);
  ASSERT_EQ(table.records[0].releases, IssueRecord::grouped);
  const Scoreboard written = table.written_by(table.records[0]);
  EXPECT_EQ(written.places[0], 0xffffu) << "both rows of each pair";
  EXPECT_TRUE(written.meets(table.records[0].needs));
  EXPECT_EQ(table.records[0].needs.places[0], 0xffffu | 0xfffull << 30);
}

TEST(IssueTables, KeepAllSourcesForThoseThatReadThemLate) {
  const isa::Module module = with_operand_list();
  const IssueTables tables(IdealMachine::Options().parameters, {&module}, IssueDetail::precise);
  const IssueTable& table = tables.of(0, 0);
  const PreciseRecord& record = table.precise[0];
  EXPECT_EQ(record.source_count, record.sources.size());
  ASSERT_NE(record.more, 0) << "ten of twelve";
  EXPECT_EQ(table.precise[record.more].source_count, 2);
  EXPECT_EQ(table.precise[record.more].sources[1], 41);
  EXPECT_EQ(table.precise[record.more].flags, record.flags);
}

TEST(Liveness, SeesTheRowsOfOperandLists) {
  isa::Module module = with_operand_list();
  isa::Program& program = module.kernels[0].lowered;
  isa::find_live_rows(program);
  EXPECT_TRUE(program.live_before(0, 30));
  EXPECT_TRUE(program.live_before(0, 41));
  EXPECT_FALSE(program.live_before(1, 41)) << "nobody reads it again";
  EXPECT_FALSE(program.live_before(0, 0)) << "it is written first";
}

}  // namespace
}  // namespace lockstep::issue_tables_test
