/// What every pair of a registered cache policy and a registered replacement policy must keep: no
/// request lost or answered twice, no byte lost, nobody starved, the same answers after saving and
/// restoring.  Registering one enrols it: each pair with each word of their parameters, and each
/// with other values of its own; pairs that their rows exclude are left out.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "tests/harness/policy_variants.hpp"
#include "tests/unit/memory/partition_bench.hpp"
#include "tests/unit/memory/partition_policies.hpp"

namespace lockstep::test::cache_policy_contract_test {
namespace {

MemoryParameters busy() {
  MemoryParameters p = small_memory();
  p.l2.banks = 2;
  p.l2.mshrs = 8;
  p.l2.merges = 4;
  p.dram.queue = 8;
  p.dram.write_queue = 8;
  p.dram.write_high = 6;
  p.dram.write_low = 2;
  return p;
}

/// Loads and stores of two tenants, of several warps and instructions, over more lines than the L2
/// holds and over some that it could keep; what each load must return, by its tag.
std::map<std::uint32_t, std::uint32_t> traffic(PartitionBench& bench, unsigned seed,
                                               std::uint32_t count) {
  std::mt19937 random(seed);
  std::map<std::uint64_t, std::uint32_t> memory;
  std::map<std::uint32_t, std::uint32_t> expected;
  std::int64_t cycle = 0;
  for (std::uint32_t tag = 0; tag < count; ++tag) {
    cycle += 1 + (random() % 16 == 0 ? random() % 500 : random() % 6);
    const auto sm = static_cast<std::uint16_t>(random() % PartitionBench::sms);
    const std::uint64_t line = random() % 2 == 0 ? random() % 8 : random() % 512;
    MemoryRequest r = PartitionBench::request(MemoryOperation::load, line * line_bytes, 1, tag, sm);
    r.tenant = sm % 2;
    r.flags = flag_local;  // what tenants may pass on unzeroed
    r.warp = static_cast<std::uint16_t>(random() % 8);
    r.pc = static_cast<std::uint32_t>(random() % 4);
    r.marks = static_cast<std::uint8_t>(random());  // what SM sides say
    if (random() % 3 == 0) {
      r.operation = MemoryOperation::store;
      std::vector<std::uint32_t> words(1 + sector_bytes / 4, tag + 1);
      words[0] = ~0u;
      memory[line] = tag + 1;
      const auto bytes = std::as_bytes(std::span(words));
      bench.send(cycle, r, {bytes.begin(), bytes.end()});
    } else {
      expected[tag] = memory[line];
      bench.send(cycle, r);
    }
  }
  return expected;
}

/// Tag and departure of all answers, by tag.
std::map<std::uint32_t, std::int64_t> departures(const PartitionBench& bench) {
  std::map<std::uint32_t, std::int64_t> all;
  for (const auto& answer : bench.answers())
    EXPECT_TRUE(all.emplace(answer.response.tag, answer.departure).second) << "answered twice";
  return all;
}

/// What a scenario may choose for the L2.
struct L2Policies {
  PolicyChoice cache_policy, replacement;
  static auto schema() {
    using P = L2Policies;
    return parameters<P>()
        .policy("cache_policy", &P::cache_policy, "lru", cache_policies, "tested")
        .policy("replacement", &P::replacement, "lru", replacement_policies, "tested");
  }
};

L2Policies chosen(const std::string& cache_policy, const std::string& replacement) {
  return read_parameters<L2Policies>(
      parse_document("cache_policy: " + cache_policy + "\nreplacement: " + replacement, "test"));
}

class CachePolicyContract : public testing::TestWithParam<std::pair<std::string, std::string>> {
 protected:
  static PartitionBench::Policies policies() {
    const L2Policies both = chosen(GetParam().first, GetParam().second);
    return {make_cache_policy(policy_setup(both.cache_policy, busy())), nullptr,
            make_replacement(policy_setup(both.replacement, busy()))};
  }
};

TEST_P(CachePolicyContract, EveryRequestIsAnsweredOnceWithTheRightBytes) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    PartitionBench bench(busy(), 2, policies());
    const auto expected = traffic(bench, seed, 500);
    bench.run();
    EXPECT_EQ(departures(bench).size(), 500u);
    EXPECT_TRUE(bench.partition().finished());
    for (const auto& [tag, value] : expected)
      EXPECT_EQ(bench.answer(tag).value<std::uint32_t>(), value) << seed << ' ' << tag;
  }
}

TEST_P(CachePolicyContract, NobodyStarvesBesideTrafficThatHits) {
  PartitionBench bench(busy(), 2, policies());
  std::uint32_t tag = 100;
  for (std::int64_t cycle = 0; cycle < 4000; cycle += 2)
    bench.load(cycle, cycle % 512 * line_bytes % 512, 1, tag++, 0);
  bench.load(1000, 300 * line_bytes, 1, 1, 1);
  bench.run();
  EXPECT_LT(bench.departure(1), 3000);
}

TEST_P(CachePolicyContract, AnswersTheSameAfterSavingAndRestoring) {
  PartitionBench whole(busy(), 2, policies());
  traffic(whole, 3, 400);
  whole.run();
  PartitionBench first(busy(), 2, policies());
  traffic(first, 3, 400);
  const std::int64_t middle = first.last_arrival() / 2;
  first.run_to(middle, 37);
  PartitionBench second(busy(), 2, policies());
  traffic(second, 3, 400);
  second.run_to(middle);
  second.restore(first.save());
  second.run();
  EXPECT_EQ(departures(second), departures(whole));
}

INSTANTIATE_TEST_SUITE_P(EveryPolicy, CachePolicyContract, testing::ValuesIn([] {
                           std::vector<std::pair<std::string, std::string>> pairs;
                           const auto add = [&](const std::string& cache, const std::string& line) {
                             const L2Policies both = chosen(cache, line);
                             const std::pair pair(cache, line);
                             if (!policy_conflict(schema_of<L2Policies>(), &both, "") &&
                                 std::find(pairs.begin(), pairs.end(), pair) == pairs.end())
                               pairs.push_back(pair);
                           };
                           for (const std::string& cache : worded_variants(cache_policies()))
                             for (const std::string& line : worded_variants(replacement_policies()))
                               add(cache, line);
                           for (const std::string& cache : policy_variants(cache_policies()))
                             add(cache, "lru");
                           for (const std::string& line : policy_variants(replacement_policies()))
                             add("lru", line);
                           return pairs;
                         }()),
                         [](const auto& test) {
                           return variant_name(test.param.first) + "_" +
                                  variant_name(test.param.second);
                         });

}  // namespace
}  // namespace lockstep::test::cache_policy_contract_test
