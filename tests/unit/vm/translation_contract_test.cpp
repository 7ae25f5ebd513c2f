/// What every registered second translation level must keep with every registered TLB fill: each
/// request is answered once, with what the page tables say and never with what they said before an
/// unmapping; nobody starves; the same after saving and restoring.  Registering one enrols it, with
/// other values of each of its parameters.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "tests/harness/policy_variants.hpp"
#include "tests/unit/vm/gmmu_bench.hpp"

namespace lockstep::test::translation_contract_test {
namespace {

struct Case {
  std::string translation, fill;
};

constexpr std::uint64_t pages = 24;
constexpr std::uint16_t tenants = 2;

/// A GMMU with few walkers and MSHRs, whose pages move from frame to frame.
class MovingPages {
 public:
  MovingPages(const Case& policies, unsigned seed) : bench_(options(policies)), random_(seed) {
    for (std::uint16_t tenant = 0; tenant < tenants; ++tenant)
      for (std::uint64_t page = 0; page < pages; ++page) move(page, tenant);
    run(2000);
  }

  /// Some requests, of which each is answered before the round is over; then some pages move.
  void round() {
    std::map<std::string, int> wanted;
    for (int i = 0; i < 40; ++i) {
      const auto sm = static_cast<std::uint16_t>(random_() % 3);
      const auto tenant = static_cast<std::uint16_t>(random_() % tenants);
      const std::uint64_t page = random_() % 3 == 0 ? random_() % 3 : random_() % pages;
      bench_.translate(now_ + static_cast<std::int64_t>(random_() % 300), sm, page,
                       random_() % 4 == 0, tenant);
      std::ostringstream answer;
      answer << "sm" << sm << " found " << page << " at 0x" << std::hex << frame(page, tenant);
      ++wanted[answer.str()];
    }
    run(150);
    between_();
    run(8000);
    std::map<std::string, int> got;
    for (const std::string& line : lines_)
      if (line.find(" found ") != std::string::npos) ++got[line.substr(line.find(' ') + 1)];
    EXPECT_EQ(got, wanted);
    lines_.clear();
    for (int i = 0; i < 4; ++i) {
      const auto tenant = static_cast<std::uint16_t>(random_() % tenants);
      const std::uint64_t page = random_() % pages;
      take_away(page, tenant);
      move(page, tenant);
      run(2000);
    }
  }
  /// Called in the middle of each round, when walks are on their way.
  void between(std::function<void(GmmuBench&)> act) {
    between_ = [this, act = std::move(act)] { act(bench_); };
  }
  std::string state() { return bench_.save(); }

 private:
  static GmmuOptions options(const Case& policies) {
    GmmuOptions options;
    options.translation = policies.translation;
    options.tlb_fill = policies.fill;
    options.walkers = 4;
    options.mshrs = 6;
    return options;
  }

  std::uint64_t& frame(std::uint64_t page, std::uint16_t tenant) { return frames_[{tenant, page}]; }
  void move(std::uint64_t page, std::uint16_t tenant) {
    frame(page, tenant) = next_frame_ += page_bytes;
    bench_.map(page, next_frame_, GmmuBench::present | GmmuBench::writable, tenant);
    bench_.pages_mapped(now_ + 10, page, 1, tenant);
  }
  void take_away(std::uint64_t page, std::uint16_t tenant) {
    bench_.unmap(now_, page, 1, tenant);
    run(2000);
    std::set<std::string> told;
    for (const std::string& line : lines_)
      if (line.find(" shootdown ") != std::string::npos)
        told.insert(line.substr(line.find(" sm") + 3, 1));
    lines_.clear();
    for (const std::string& sm : told)
      bench_.shot_down(now_, static_cast<std::uint16_t>(std::stoi(sm)));
    run(1000);
    const auto unmapped = std::count_if(lines_.begin(), lines_.end(), [](const std::string& line) {
      return line.find(" unmapped ") != std::string::npos;
    });
    EXPECT_TRUE(unmapped == 1 || told.empty());
    lines_.clear();
  }
  void run(std::int64_t ns) {
    now_ += ns;
    bench_.run_until(now_);
    for (std::string& line : bench_.sent()) lines_.push_back(std::move(line));
  }

  GmmuBench bench_;
  std::mt19937 random_;
  std::int64_t now_ = 0;
  std::uint64_t next_frame_ = 0x100000;
  std::map<std::pair<std::uint16_t, std::uint64_t>, std::uint64_t> frames_;
  std::vector<std::string> lines_;
  std::function<void()> between_ = [] {};
};

class TranslationContract : public testing::TestWithParam<Case> {};

TEST_P(TranslationContract, AnswersEveryRequestOnceWithWhatTheTablesSayNow) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(seed);
    MovingPages machine(GetParam(), seed);
    for (int round = 0; round < 8; ++round) machine.round();
  }
}

TEST_P(TranslationContract, GoesOnTheSameAfterSavingAndRestoring) {
  MovingPages whole(GetParam(), 7), parts(GetParam(), 7);
  parts.between([](GmmuBench& bench) { bench.save_and_restore(); });
  for (int round = 0; round < 6; ++round) {
    whole.round();
    parts.round();
    EXPECT_EQ(whole.state(), parts.state()) << round;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryPolicy, TranslationContract, testing::ValuesIn([] {
                           std::vector<Case> cases;
                           for (const std::string& translation :
                                policy_variants(translation_policies()))
                             for (const PolicyInfo& fill : tlb_fill_policies())
                               cases.push_back({translation, fill.name});
                           for (const std::string& fill : policy_variants(tlb_fill_policies()))
                             if (fill.starts_with('{')) cases.push_back({"shared-tlb", fill});
                           return cases;
                         }()),
                         [](const auto& test) {
                           return variant_name(test.param.translation) + "_with_" +
                                  variant_name(test.param.fill);
                         });

}  // namespace
}  // namespace lockstep::test::translation_contract_test
