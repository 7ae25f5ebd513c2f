/// MASK's tokens and turns: tests A12 to A14 of memory-interference.md, section 11.
#include <gtest/gtest.h>

#include "models/vm/tlb_fill/mask/mask.hpp"
#include "models/vm/tlb_fill/tlb_fill.hpp"
#include "tests/harness/policy_named.hpp"

namespace lockstep::mask_fill_test {
namespace {

using Words = std::vector<std::uint64_t>;
constexpr std::size_t tenants = 2;
constexpr Time cycle{1'000'000};

PolicyChoice choice(const std::string& text = "mask") {
  return policy_written<tlb_fill_policies>(text);
}

/// Decides epoch by epoch what follows from reports.
class Decisions {
 public:
  explicit Decisions(const std::string& text = "mask")
      : controller_(tlb_fills().factory(choice(text)).controller({choice(text), tenants, cycle})) {}

  /// So many warps of the first tenant ran on each of two SMs.
  void warps(unsigned on_first, unsigned on_second) {
    const auto mask = [](unsigned count) { return (std::uint64_t{1} << count) - 1; };
    controller_->add(Words{0, mask(on_first), 0, 0, 0});
    controller_->add(Words{1, mask(on_second), 0, 0, 0});
  }
  /// Misses of the first tenant among a hundred lookups.
  void misses(std::uint64_t count) {
    controller_->add(Words{MaskReport::gmmu, 100, count, 0, 0, 0, 0, 0, 0});
  }
  /// Of both tenants: walks at once, and warps that waited for the one walk of each.
  void walks(std::array<std::uint64_t, 2> at_once, std::array<std::uint64_t, 2> waited) {
    controller_->add(Words{0, 1, waited[0], 1, waited[1]});
    controller_->add(Words{MaskReport::gmmu, 1, 1, 1, at_once[0], 1, 1, 1, at_once[1]});
  }
  MaskDecision decide(std::size_t tenant = 0) {
    values_.clear();
    controller_->decide(++epoch_, values_);
    return MaskDecision::of(values_, tenant);
  }
  MaskDecision decided(std::size_t tenant) const { return MaskDecision::of(values_, tenant); }

 private:
  std::unique_ptr<EpochController> controller_;
  Words values_;
  std::uint64_t epoch_ = 0;
};

std::uint64_t tokens_after(Decisions& decisions, std::uint64_t misses) {
  decisions.warps(10, 10);
  decisions.misses(misses);
  return decisions.decide().tokens;
}

TEST(MaskTokens, AreForFourFifthsOfTheWarpsThenFollowTheMissRate) {
  Decisions decisions;
  EXPECT_EQ(tokens_after(decisions, 30), 16u);
  EXPECT_EQ(tokens_after(decisions, 33), 14u);
  EXPECT_EQ(tokens_after(decisions, 32), 14u);
  EXPECT_EQ(tokens_after(decisions, 29), 16u);
}

TEST(MaskTokens, ClimbOnWhileTheMissRateFallsAndTurnWhenItRises) {
  Decisions decisions("{name: mask, token_rule: hill-climb}");
  EXPECT_EQ(tokens_after(decisions, 50), 16u);
  EXPECT_EQ(tokens_after(decisions, 55), 18u) << "it rose: the other way than before, up";
  EXPECT_EQ(tokens_after(decisions, 50), 20u) << "it fell: on";
  EXPECT_EQ(tokens_after(decisions, 60), 18u) << "it rose: down";
  EXPECT_EQ(tokens_after(decisions, 50), 16u) << "it fell: on, fewer";
  EXPECT_EQ(tokens_after(decisions, 51), 16u) << "within the band";
}

TEST(MaskTokens, NeverFallBelowOneForEachSmNorRiseAboveTheWarps) {
  Decisions decisions;
  std::uint64_t misses = 0, tokens = 0;
  for (int epoch = 0; epoch < 12; ++epoch) tokens = tokens_after(decisions, misses += 5);
  EXPECT_EQ(tokens, 2u);
  for (int epoch = 0; epoch < 16; ++epoch) tokens = tokens_after(decisions, misses -= 3);
  EXPECT_EQ(tokens, 20u);
  EXPECT_EQ(decisions.decided(0).first_without, MaskDecision::all_warps);
}

TEST(MaskTokens, GoToTheLowestWarpNumbersOfAllSmsAlike) {
  Decisions decisions("{name: mask, initial_tokens: 0.25}");
  decisions.warps(10, 10);
  decisions.misses(30);
  // Five of twenty: 0, 1, 2 of the first SM and 0, 1 of the second.
  EXPECT_EQ(decisions.decide().first_without, MaskDecision::order_of(2, 1));
}

TEST(MaskTokens, ATenantThatDidNothingKeepsWhatItHas) {
  Decisions decisions;
  tokens_after(decisions, 30);
  decisions.misses(90);
  EXPECT_EQ(decisions.decide().tokens, 16u);
}

TEST(MaskTurns, AreSharedByWalksAtOnceTimesWarpsThatWait) {
  Decisions decisions;
  decisions.walks({20, 15}, {10, 10});
  EXPECT_EQ(decisions.decide(0).turn, 286u);
  EXPECT_EQ(decisions.decided(1).turn, 214u);
}

TEST(MaskTurns, AreAlikeIfNobodyWaitsAndAtLeastOneRequest) {
  Decisions decisions;
  decisions.walks({0, 0}, {0, 0});
  EXPECT_EQ(decisions.decide(0).turn, 250u);
  decisions.walks({20, 1}, {60, 0});
  EXPECT_EQ(decisions.decide(0).turn, 500u);
  EXPECT_EQ(decisions.decided(1).turn, 1u);
}

TEST(MaskWarps, AnSmReportsWhoRanAndHowManyWaited) {
  const auto side = tlb_fills().factory(choice()).sm_side.make(
      {choice(), cycle, 7, 8, tenants, 1, ComponentId{3}});
  EXPECT_FALSE(side->has_report());
  MemoryRequest request;
  request.warp = 5;
  request.tenant = 1;
  side->mark(request, Time::zero());
  side->on_translation(TenantId{1}, 0b1011, Time::zero());
  side->on_translation(TenantId{1}, 0b0010, Time::zero());
  Words words;
  side->report(words);
  EXPECT_EQ(words, (Words{7, 0, 0, 0b10'1011, 4}));
  EXPECT_FALSE(side->has_report());
}

/// A fill policy and its TLB.
class MaskFillTest : public ::testing::Test {
 protected:
  std::unique_ptr<TlbFill> made(const std::string& text) {
    return make_tlb_fill({choice(text), defaults<VmParameters>(), tenants, 1, ComponentId{2}});
  }
  static PageTableEntry entry(std::uint64_t bits = 0) { return {PageTableEntry::present | bits}; }
  /// A walk for one warp has ended; whether the TLB keeps its page.
  bool fills_tlb(std::uint64_t page, std::uint16_t sm, std::uint16_t warp) {
    TranslateRequest request;
    request.page = page;
    request.sm = sm;
    request.warp = warp;
    const TenantPage where{TenantId{0}, VirtualPage{page}};
    fill->fill({where, entry(), {&request, 1}}, Time::zero(), tlb);
    return tlb.base.find(TlbKey{TenantId{0}, page}) != TlbArray::none;
  }
  bool beside(std::uint64_t page) {
    return fill->find({TenantId{0}, VirtualPage{page}}) != nullptr;
  }
  void tell(std::uint64_t first_without) {
    const Words values{first_without, 3, 250, MaskDecision::all_warps, 0, 250};
    fill->on_epoch(EpochTopic::tlb_fill, values, Time::zero());
  }

  Tlb tlb{defaults<VmParameters>().l2_tlb};
  std::unique_ptr<TlbFill> fill = made("{name: mask, entries: 2}");
};

TEST_F(MaskFillTest, InTheFirstEpochAllFillTheTlb) {
  EXPECT_TRUE(fills_tlb(1, 3, 40));
  EXPECT_FALSE(beside(1));
}

TEST_F(MaskFillTest, AWarpWithoutATokenFillsTheArrayBesideTheTlb) {
  tell(MaskDecision::order_of(2, 1));
  EXPECT_TRUE(fills_tlb(1, 0, 2));
  EXPECT_FALSE(fills_tlb(2, 1, 2));
  EXPECT_TRUE(beside(2));
  EXPECT_FALSE(fills_tlb(3, 0, 3));
  EXPECT_FALSE(fills_tlb(4, 0, 3));
  EXPECT_FALSE(beside(2));  // two entries, least recently used first
  EXPECT_TRUE(beside(3));
  EXPECT_TRUE(beside(4));
}

TEST_F(MaskFillTest, OneWarpWithATokenIsEnoughForAWalkOfSeveral) {
  tell(MaskDecision::order_of(2, 0));
  std::array<TranslateRequest, 2> requests;
  requests[0].warp = 9;
  requests[1].warp = 1;
  fill->fill({{TenantId{0}, VirtualPage{7}}, entry(), requests}, Time::zero(), tlb);
  EXPECT_NE(tlb.base.find(TlbKey{TenantId{0}, 7}), TlbArray::none);
}

TEST_F(MaskFillTest, APageHasOneEntry) {
  EXPECT_TRUE(fills_tlb(1, 0, 0));
  tell(0);
  EXPECT_TRUE(fills_tlb(1, 0, 0));  // stays in the TLB
  EXPECT_FALSE(beside(1));
  EXPECT_FALSE(fills_tlb(2, 0, 0));
  tell(MaskDecision::all_warps);
  EXPECT_TRUE(fills_tlb(2, 0, 0));
  EXPECT_FALSE(beside(2));
}

TEST_F(MaskFillTest, WhatIsDroppedIsGoneBesideTheTlbToo) {
  tell(0);
  fills_tlb(1, 0, 0);
  fills_tlb(2, 0, 0);
  EXPECT_EQ(fill->drop({TenantId{0}, VirtualPage{1}}), 1u);
  EXPECT_FALSE(beside(1));
  EXPECT_EQ(fill->drop_tenant(TenantId{0}), 1u);
  EXPECT_FALSE(beside(2));
}

TEST_F(MaskFillTest, WithoutTokensItMeasuresOnly) {
  fill = made("{name: mask, tokens: false}");
  tell(0);
  EXPECT_TRUE(fills_tlb(1, 0, 9));
}

TEST_F(MaskFillTest, ReportsLookupsMissesAndWalksAtOnce) {
  for (const bool hit : {true, false, false}) fill->on_lookup(TenantId{1}, hit, Time::zero());
  fill->on_walk(TenantId{1}, true);
  fill->on_walk(TenantId{1}, true);
  fill->on_walk(TenantId{1}, false);
  fill->on_walk(TenantId{1}, true);
  Words words;
  fill->report(words);
  EXPECT_EQ(words, (Words{MaskReport::gmmu, 0, 0, 0, 0, 3, 2, 3, 2}));
  words.clear();
  fill->on_lookup(TenantId{0}, true, Time::zero());
  fill->report(words);  // two are still under way
  EXPECT_EQ(words, (Words{MaskReport::gmmu, 1, 0, 0, 0, 0, 0, 0, 2}));
}

}  // namespace
}  // namespace lockstep::mask_fill_test
