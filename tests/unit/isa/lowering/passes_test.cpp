/// What each pass makes of the code it is for.  That the meaning stays is tested with random
/// kernels (random_test.cpp).
#include <algorithm>

#include "models/isa/lowering/allocation/allocate.hpp"
#include "models/isa/opcodes/issue_slots.hpp"
#include "tests/unit/isa/lowering/lowered.hpp"

namespace lockstep::isa::passes_test {
namespace {

using Kind = ir::Operand::Kind;

const std::string store_r9 = "st.global.u32 [%rd1], %r9;\n";

TEST(LoweringPasses, CopiesAndGlobalAddressConversionsDisappear) {
  const Lowered k(
      "cvta.to.global.u64 %rd3, %rd1;\nmov.u32 %r5, %r3;\nmov.u32 %r6, %r5;\n"
      "st.global.u32 [%rd3], %r6;");
  EXPECT_EQ(k.count(Opcode::cvta), 0u);
  EXPECT_EQ(k.count(Opcode::mov), 2u) << k.text();  // the thread's index, the address
}

TEST(LoweringPasses, ParametersAreOperandsOfTheirUsers) {
  const Lowered k("add.s32 %r9, %r3, %r1;\n" + store_r9);
  EXPECT_EQ(k.only(Opcode::add).sources[1].kind, Kind::parameter) << k.text();
}

TEST(LoweringPasses, AnInstructionTakesOneConstant) {
  const Lowered k("mad.lo.s32 %r9, %r3, 12, %r1;\n" + store_r9);
  const auto mad = k.only(Opcode::mad);
  int constants = 0;
  for (const auto& source : mad.sources) constants += source.kind != Kind::reg ? 1 : 0;
  EXPECT_EQ(constants, 1) << k.text();
}

TEST(LoweringPasses, ZeroTakesNoPlace) {
  const Lowered k("selp.b32 %r9, 0, %r1, %p1;\nst.global.u32 [%rd1], 0;\n");
  EXPECT_EQ(k.only(Opcode::st).sources[1].kind, Kind::immediate) << k.text();
}

TEST(LoweringPasses, ConstantsFold) {
  const Lowered k("mov.u32 %r5, 6;\nmul.lo.s32 %r6, %r5, 7;\nadd.s32 %r9, %r6, %r3;\n" + store_r9);
  EXPECT_EQ(k.count(Opcode::mul), 0u);
  EXPECT_EQ(k.only(Opcode::add).sources[1].value, 42) << k.text();
}

TEST(LoweringPasses, WholeNumbersFoldWhenConverted) {
  const auto converted = [](const std::string& bits) {
    return Lowered("mov.f32 %f1, 0f" + bits +
                   ";\ncvt.rzi.s32.f32 %r5, %f1;\nadd.s32 %r9, %r5, %r3;\n" + store_r9);
  };
  const Lowered k = converted("41000000");
  EXPECT_EQ(k.count(Opcode::cvt), 0u) << k.text();
  EXPECT_EQ(k.only(Opcode::add).sources[1].value, 8) << k.text();
  EXPECT_EQ(converted("41080000").count(Opcode::cvt), 1u) << "8.5 is rounded by the machine";
  EXPECT_EQ(converted("4f000000").count(Opcode::cvt), 1u) << "2^31 is too large";
}

TEST(LoweringPasses, AddedConstantsMoveIntoTheAddress) {
  const Lowered k(
      "mul.wide.u32 %rd4, %r3, 8;\nadd.s64 %rd5, %rd1, %rd4;\nadd.s64 %rd6, %rd5, 16;\n"
      "ld.global.u32 %r9, [%rd6+4];\nst.global.u32 [%rd5+8], %r9;");
  EXPECT_EQ(k.only(Opcode::ld).offset, 20) << k.text();
  EXPECT_EQ(k.count(Opcode::add), 0u) << k.text();
}

TEST(LoweringPasses, FixedPlaceInTheFrameNeedsNoRegister) {
  const Lowered k(
      ".local .align 4 .b8 frame[32];\nmov.u64 %rd4, frame;\nadd.s64 %rd5, %rd4, 24;\n"
      "st.local.u32 [%rd5], %r3;\nld.local.u32 %r9, [%rd4+8];\n" +
      store_r9);
  EXPECT_EQ(k.only(Opcode::ld).sources[0].kind, Kind::local_symbol) << k.text();
  EXPECT_EQ(k.only(Opcode::ld).offset, 8);
  EXPECT_EQ(k.all(Opcode::st)[0].sources[0].kind, Kind::local_symbol) << k.text();
  EXPECT_EQ(k.all(Opcode::st)[0].offset, 24);
}

TEST(LoweringPasses, WideMultiplicationsFuseWithEachAddition) {
  const Lowered k(
      "mul.wide.s32 %rd4, %r3, 4;\nadd.s64 %rd5, %rd1, %rd4;\nadd.s64 %rd6, %rd2, %rd4;\n"
      "ld.global.u32 %r9, [%rd6];\nst.global.u32 [%rd5], %r9;");
  EXPECT_EQ(k.count(Opcode::mad_wide_add), 2u) << k.text();
  EXPECT_EQ(k.count(Opcode::mul), 0u);
}

TEST(LoweringPasses, MultiplyAndAddBecomeMad) {
  const Lowered k("mul.lo.s32 %r5, %r3, %r4;\nadd.s32 %r9, %r5, %r4;\n" + store_r9);
  EXPECT_EQ(k.count(Opcode::mad), 1u) << k.text();
}

TEST(LoweringPasses, AProductThatIsAlsoReadElsewhereIsNotComputedTwice) {
  const Lowered k(
      "mul.lo.s32 %r5, %r3, %r4;\nadd.s32 %r9, %r5, %r4;\nst.global.u32 [%rd1+4], %r5;\n" +
      store_r9);
  EXPECT_EQ(k.count(Opcode::mul), 1u) << k.text();
  EXPECT_EQ(k.count(Opcode::mad), 0u);
}

TEST(LoweringPasses, ShiftAndAddBecomeLea) {
  const Lowered k("shl.b32 %r5, %r3, 4;\nadd.s32 %r9, %r5, %r4;\n" + store_r9);
  EXPECT_EQ(k.only(Opcode::lea).immediate, 4u) << k.text();
}

TEST(LoweringPasses, SumsOfThreeKeepTheirSigns) {
  const Lowered k("sub.s32 %r5, %r3, %r4;\nld.global.u32 %r6, [%rd2];\nsub.s32 %r9, %r6, %r5;\n" +
                  store_r9);
  EXPECT_EQ(k.only(Opcode::iadd3).mode, 1) << k.text();  // -a + b + c
}

TEST(LoweringPasses, TwoLogicOperationsAreOneLop3) {
  const Lowered k("ld.global.u32 %r6, [%rd2];\nand.b32 %r5, %r3, %r4;\nxor.b32 %r9, %r5, %r6;\n" +
                  store_r9);
  EXPECT_EQ(k.only(Opcode::lop3).immediate, (0xf0u & 0xccu) ^ 0xaau) << k.text();
}

TEST(LoweringPasses, AComparisonTakesInThePredicateOperation) {
  const Lowered k(
      "setp.lt.s32 %p1, %r3, %r1;\nsetp.gt.s32 %p2, %r4, %r2;\nand.pred %p3, %p1, %p2;\n"
      "selp.b32 %r9, %r3, %r4, %p3;\n" +
      store_r9);
  EXPECT_EQ(k.count(Opcode::and_), 0u) << k.text();
  EXPECT_EQ(k.all(Opcode::setp)[1].combination, Combination::logical_and) << k.text();
}

TEST(LoweringPasses, NegatedPredicatesMoveIntoTheirReaders) {
  const Lowered k("setp.lt.f32 %p1, %f1, %f2;\nnot.pred %p2, %p1;\nselp.b32 %r9, %r3, %r4, %p2;\n" +
                  store_r9);
  EXPECT_EQ(k.count(Opcode::not_), 0u) << k.text();
  EXPECT_TRUE(k.only(Opcode::selp).sources[2].negated);
}

TEST(LoweringPasses, NegationsOfFloatsMoveIntoTheMultiplyAdd) {
  const Lowered k(
      "ld.global.f32 %f1, [%rd2];\nld.global.f32 %f2, [%rd2+4];\nneg.f32 %f3, %f1;\n"
      "neg.f32 %f4, %f2;\nfma.rn.f32 %f5, %f3, %f2, %f4;\nst.global.f32 [%rd1], %f5;");
  EXPECT_EQ(k.count(Opcode::neg), 0u) << k.text();
  EXPECT_EQ(k.only(Opcode::fma).mode, 3);
}

TEST(LoweringPasses, EqualSubexpressionsAreComputedOnce) {
  const Lowered k("mul.lo.s32 %r5, %r3, %r4;\nmul.lo.s32 %r6, %r3, %r4;\nxor.b32 %r9, %r5, %r6;\n" +
                  store_r9);
  EXPECT_EQ(k.count(Opcode::mul), 1u) << k.text();
}

TEST(LoweringPasses, DeadCodeGoesAndUnreadAtomicsAreReductions) {
  const Lowered k("mul.lo.s32 %r5, %r3, %r4;\natom.global.add.u32 %r6, [%rd1], %r3;\n");
  EXPECT_EQ(k.count(Opcode::mul), 0u);
  EXPECT_EQ(k.count(Opcode::atom), 0u);
  EXPECT_EQ(k.count(Opcode::red), 1u) << k.text();
}

TEST(LoweringPasses, InvariantsLeaveTheLoop) {
  const Lowered k(
      "mov.u32 %r5, 0;\n$top:\nmul.lo.s32 %r6, %r3, %r4;\nxor.b32 %r5, %r5, %r6;\n"
      "setp.lt.s32 %p1, %r5, %r1;\n@%p1 bra $top;\nst.global.u32 [%rd1], %r5;\n");
  EXPECT_EQ(k.count(Opcode::mul), 1u);
  EXPECT_EQ(k.count(Opcode::bra), 1u);
  const auto target = k.only(Opcode::bra).sources[0].index;
  for (const auto& operation : k.function.blocks[target].operations)
    EXPECT_NE(operation.opcode, Opcode::mul) << k.text();
}

TEST(LoweringPasses, AValueOfTheLastRoundIsNotTakenForThisRounds) {
  // %r6 has one definition, but the loop reads it before: it holds what %r5 was a round ago.
  const Lowered k(
      "mov.u32 %r5, 0;\n$top:\nadd.s32 %r7, %r6, %r3;\nst.global.u32 [%rd1], %r7;\n"
      "add.s32 %r5, %r5, 1;\nmov.u32 %r6, %r5;\nsetp.lt.s32 %p1, %r5, %r1;\n"
      "@%p1 bra $top;");
  const auto sums = k.all(Opcode::add);
  ASSERT_EQ(sums.size(), 2u) << k.text();
  const auto counter = sums[1].destinations[0].index;
  EXPECT_TRUE(sums[0].sources[0].index != counter || k.count(Opcode::mov) >= 3) << k.text();
}

const std::string short_branch = "setp.lt.s32 %p1, %r3, %r1;\nmov.u32 %r9, %r4;\n@%p1 bra $past;\n";

TEST(LoweringPasses, ShortBranchesArePredicated) {
  const Lowered k(short_branch + "add.s32 %r9, %r4, %r3;\n$past:\n" + store_r9);
  EXPECT_EQ(k.count(Opcode::bra), 0u) << k.text();
  EXPECT_TRUE(k.only(Opcode::add).guard.negated);
}

TEST(LoweringPasses, BothArmsOfAShortBranchArePredicated) {
  const Lowered k(
      "setp.lt.s32 %p1, %r3, %r1;\n@%p1 bra $else;\nadd.s32 %r9, %r4, %r3;\nbra.uni "
      "$end;\n$else:\nmul.lo.s32 %r9, %r4, %r3;\n$end:\n" +
      store_r9);
  EXPECT_EQ(k.count(Opcode::bra), 0u) << k.text();
  EXPECT_NE(k.only(Opcode::add).guard.negated, k.only(Opcode::mul).guard.negated);
}

TEST(LoweringPasses, WhatDependsOnThePathKeepsItsBranch) {
  for (const std::string inside :
       {"shfl.sync.bfly.b32 %r9, %r4, 1, 31, -1;", "vote.sync.ballot.b32 %r9, %p2, -1;",
        "activemask.b32 %r9;", "bar.sync 0;", "mov.u32 %r9, %clock;",
        "match.any.sync.b32 %r9, %r4, -1;"}) {
    const Lowered k(short_branch + inside + "\n$past:\n" + store_r9);
    EXPECT_EQ(k.count(Opcode::bra), 1u) << inside << "\n" << k.text();
  }
}

TEST(LoweringPasses, ABranchToTheEndIsAGuardedEnd) {
  std::string body = "setp.lt.s32 %p1, %r3, %r1;\n@%p1 bra $out;\n";
  for (int i = 0; i < 20; ++i) body += "st.global.u32 [%rd1+" + std::to_string(4 * i) + "], %r3;\n";
  const Lowered k(body + "$out:\n");
  EXPECT_EQ(k.count(Opcode::bra), 0u) << k.text();
  EXPECT_EQ(k.count(Opcode::ret), 2u);
}

TEST(LoweringMemory, NeighbouringAlignedSharedLoadsAreOneVector) {
  std::string body = "shl.b32 %r5, %r3, 4;\nmov.u32 %r6, room;\nadd.s32 %r7, %r6, %r5;\n";
  for (int i = 0; i < 4; ++i)
    body +=
        "ld.shared.u32 %r" + std::to_string(20 + i) + ", [%r7+" + std::to_string(4 * i) + "];\n";
  body += "st.global.v4.u32 [%rd1], {%r20, %r21, %r22, %r23};\n";
  const Lowered k(body);
  EXPECT_EQ(k.only(Opcode::ld).elements, 4) << k.text();
}

TEST(LoweringMemory, UnalignedOrInterruptedLoadsStayApart) {
  const std::string base = "shl.b32 %r5, %r3, 2;\nmov.u32 %r6, room;\nadd.s32 %r7, %r6, %r5;\n";
  const std::string aligned = "shl.b32 %r5, %r3, 3;\nmov.u32 %r6, room;\nadd.s32 %r7, %r6, %r5;\n";
  const std::string first = "ld.shared.u32 %r20, [%r7];\n",
                    second = "ld.shared.u32 %r21, [%r7+4];\n";
  const std::string use = "add.s32 %r9, %r20, %r21;\n" + store_r9;
  EXPECT_EQ(Lowered(aligned + first + second + use).count(Opcode::ld), 1u);
  EXPECT_EQ(Lowered(base + first + second + use).count(Opcode::ld), 2u);
  EXPECT_EQ(
      Lowered(aligned + first + "st.shared.u32 [%r7+4], %r3;\n" + second + use).count(Opcode::ld),
      2u);
  EXPECT_EQ(Lowered(aligned + first + "bar.sync 0;\n" + second + use).count(Opcode::ld), 2u);
}

/// A slow chain, a store, then a load: does the load go first?
bool load_passes(const std::string& store, const std::string& load) {
  const Lowered k("ld.global.u32 %r5, [%rd2+64];\nmul.lo.s32 %r6, %r5, %r5;\n" + store + load +
                  "st.global.u32 [%rd1+8], %r9;\nst.global.u32 [%rd1+12], %r6;\n");
  return k.place(Opcode::ld, 1) < k.place(Opcode::st, 0);
}

TEST(LoweringMemory, LoadsPassStoresOnlyWhereTheyCannotAlias) {
  EXPECT_FALSE(load_passes("st.global.u32 [%rd1], %r6;\n", "ld.global.u32 %r9, [%rd2];\n"));
  EXPECT_FALSE(load_passes("st.global.u32 [%rd2+4], %r6;\n",
                           "ld.global.u64 %rd9, [%rd2];\n"
                           "cvt.u32.u64 %r9, %rd9;\n"));
  EXPECT_TRUE(load_passes("st.global.u32 [%rd2+4], %r6;\n", "ld.global.u32 %r9, [%rd2];\n"));
  EXPECT_TRUE(load_passes("st.global.u32 [%rd1], %r6;\n", "ld.global.nc.u32 %r9, [%rd2];\n"));
  EXPECT_TRUE(load_passes("st.shared.u32 [room], %r6;\n", "ld.global.u32 %r9, [%rd2];\n"));
  EXPECT_FALSE(load_passes("st.u32 [%rd1], %r6;\n", "ld.shared.u32 %r9, [room];\n"));
}

TEST(LoweringMemory, LoadsPassNoBarrierFenceAtomicOrVolatile) {
  const std::string load = "ld.global.nc.u32 %r9, [%rd2];\n";
  for (const std::string wall :
       {"bar.sync 0;", "membar.gl;", "fence.acq_rel.cta;", "red.global.add.u32 [%rd1], %r6;",
        "ld.volatile.global.u32 %r7, [%rd1];", "ld.acquire.gpu.u32 %r7, [%rd1];"}) {
    const Lowered k("st.global.u32 [%rd1], %r3;\n" + wall + "\n" + load + store_r9);
    std::size_t at = 0, wall_at = 0, load_at = 0;
    for (const auto& block : k.function.blocks)
      for (const auto& o : block.operations) {
        ++at;
        if (o.cache == CacheOperator::non_coherent)
          load_at = at;
        else if (o.opcode != Opcode::st && o.opcode != Opcode::mov && o.opcode != Opcode::ret)
          wall_at = at;
      }
    EXPECT_LT(wall_at, load_at) << wall << "\n" << k.text();
  }
}

TEST(LoweringRegisters, PairsAreEvenAndLiveValuesApart) {
  const Lowered k(
      "ld.global.u64 %rd5, [%rd2];\nld.global.u32 %r5, [%rd2+8];\nld.global.u64 %rd6, "
      "[%rd2+16];\nadd.s64 %rd7, %rd5, %rd6;\nst.global.u64 [%rd1], %rd7;\n"
      "st.global.u32 [%rd1+8], %r5;\n");
  std::vector<std::uint16_t> rows;
  for (const auto& load : k.all(Opcode::ld)) {
    const auto index = load.destinations[0].index;
    const auto row = k.allocation.row_of_register[index];
    rows.push_back(row);
    if (rows_of(k.function.registers[index].type) == 2) {
      EXPECT_EQ(row % 2, 0);
      rows.push_back(static_cast<std::uint16_t>(row + 1));
    }
  }
  std::sort(rows.begin(), rows.end());
  EXPECT_EQ(std::adjacent_find(rows.begin(), rows.end()), rows.end()) << k.text();
}

TEST(LoweringRegisters, WhatDoesNotFitSpillsToLocalMemory) {
  std::string body;
  for (int i = 10; i < 60; ++i)
    body += "ld.volatile.global.u32 %r" + std::to_string(i) + ", [%rd2+" + std::to_string(4 * i) +
            "];\n";
  for (int i = 10; i < 60; ++i)
    body += "st.volatile.global.u32 [%rd1+" + std::to_string(4 * i) + "], %r" + std::to_string(i) +
            ";\n";
  const Lowered all(body);
  EXPECT_EQ(all.count(Opcode::spill), 0u);
  EXPECT_GE(all.allocation.registers_per_thread, 50u);
  LoweringOptions few;
  few.maximum_registers = 32;
  const Lowered spilled(body, few);
  EXPECT_LE(spilled.allocation.registers_per_thread, 32u);
  EXPECT_GT(spilled.count(Opcode::spill), 0u);
  EXPECT_EQ(spilled.function.local_bytes, spilled.allocation.spill_bytes);
}

/// Loads of `count` words into %r10 and following ones, and stores of them.
std::string loads(int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += "ld.volatile.global.u32 %r" + std::to_string(10 + i) + ", [%rd2+" +
            std::to_string(4 * i) + "];\n";
  return text;
}
std::string stores(int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += "st.volatile.global.u32 [%rd1+" + std::to_string(4 * i) + "], %r" +
            std::to_string(10 + i) + ";\n";
  return text;
}

TEST(LoweringRegisters, ConstantsAreMovedAgainInsteadOfSpilled) {
  std::string constants;
  for (int i = 0; i < 5; ++i)
    constants += "st.volatile.global.u32 [%rd1+" + std::to_string(400 + 4 * i) + "], " +
                 std::to_string(1000 + i) + ";\n";
  const std::string body = constants + loads(30) + stores(30) + constants;
  const Lowered all(body);
  ASSERT_GE(all.allocation.rows, 35u) << all.text();
  LoweringOptions few;
  few.maximum_registers = all.allocation.registers_per_thread - 4;
  const Lowered spilled(body, few);
  EXPECT_EQ(spilled.allocation.spill_bytes, 0u) << spilled.text();
  EXPECT_GE(spilled.count(Opcode::mov), all.count(Opcode::mov) + 4) << spilled.text();
}

TEST(LoweringRegisters, ValuesSpillOnlyWhereTooManyAreLive) {
  // %r9 is live for long and read once, but where there is room.
  std::string body = "ld.volatile.global.u32 %r9, [%rd2];\n";
  for (int i = 0; i < 60; ++i) body += loads(1) + stores(1);
  body += "st.volatile.global.u32 [%rd1], %r9;\n" + loads(40) + stores(40);
  const Lowered all(body);
  LoweringOptions few;
  few.maximum_registers = all.allocation.registers_per_thread - 4;
  const Lowered spilled(body, few);
  EXPECT_GT(spilled.count(Opcode::spill), 0u);
  EXPECT_GT(spilled.place(Opcode::spill), spilled.place(Opcode::st, 60)) << spilled.text();
}

TEST(LoweringSchedule, WarpsWithGivenRegistersKeepTwoChainsUnderWay) {
  std::string chains;
  for (const int chain : {0, 1}) {
    const std::string sum = "%r" + std::to_string(60 + chain);
    for (int i = 0; i < 6; ++i)
      chains += "max.s32 " + sum + ", " + (i == 0 ? "%r30" : sum) + ", %r" +
                std::to_string(10 + 6 * chain + i) + ";\n";
  }
  const std::string body = loads(40) + chains + stores(40) +
                           "st.global.u32 [%rd1+512], %r60;\nst.global.u32 [%rd1+516], %r61;\n";
  const auto changes = [](const Lowered& k) {
    unsigned count = 0;
    std::uint32_t last = ir::no_register;
    for (const ir::Operation& operation : k.all(Opcode::max)) {
      if (operation.destinations[0].index != last) ++count;
      last = operation.destinations[0].index;
    }
    return count;
  };
  EXPECT_EQ(changes(Lowered(body)), 2u);
  EXPECT_EQ(changes(Lowered("setmaxnreg.inc.sync.aligned.u32 160;\n" + body)), 12u);
}

TEST(LoweringRegisters, DivisionNeedsRegistersBesidesItsOperands) {
  const std::string loads =
      "ld.volatile.global.f32 %f1, [%rd2];\nld.volatile.global.f32 %f2, [%rd2+4];\n";
  const std::string store = "st.volatile.global.f32 [%rd1], %f3;\n";
  const Lowered sum(loads + "add.f32 %f3, %f1, %f2;\n" + store);
  const Lowered quotient(loads + "div.rn.f32 %f3, %f1, %f2;\n" + store);
  EXPECT_EQ(quotient.allocation.rows, sum.allocation.rows);
  // At the division both operands and the address of the result are live: four rows and eight.
  EXPECT_EQ(quotient.allocation.registers_per_thread, lowering::reserved_registers + 12);
  LoweringOptions few;
  few.maximum_registers = 10;
  const Lowered cramped(loads + "div.rn.f32 %f3, %f1, %f2;\n" + store, few);
  EXPECT_EQ(cramped.allocation.registers_per_thread, 10u);
  EXPECT_EQ(cramped.count(Opcode::spill), 0u);
}

TEST(LoweringSlots, WideAndSlowOperationsTakeSeveralSlots) {
  ir::Operation operation;
  operation.opcode = Opcode::add;
  operation.type = Type::s64;
  operation.sources.resize(2);
  EXPECT_EQ(issue_slots(operation), 2u);
  operation.type = Type::s32;
  EXPECT_EQ(issue_slots(operation), 1u);
  operation.opcode = Opcode::div;
  EXPECT_EQ(issue_slots(operation), 28u);
  operation.type = Type::f32;
  EXPECT_EQ(issue_slots(operation), 10u);
  operation.approximate = operation.flush = true;
  EXPECT_EQ(issue_slots(operation), 2u);
}

}  // namespace
}  // namespace lockstep::isa::passes_test
