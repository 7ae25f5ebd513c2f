/// Senders of requests are what the machine's table says, not what their numbers look like.
#include <gtest/gtest.h>

#include "core/error/error.hpp"
#include "tests/unit/memory/partition_bench.hpp"

namespace lockstep::test::request_sources_test {
namespace {

MemoryRequest of_engine(std::uint16_t number, std::uint32_t tag, std::uint64_t address = 0) {
  MemoryRequest r = PartitionBench::request(MemoryOperation::load, address, 1, tag, number);
  r.source = PartitionBench::engine;
  return r;
}

TEST(RequestSources, ASenderOfAnotherKindGetsItsOwnAnswers) {
  PartitionBench bench;
  bench.store(0, 0, 41, ~0u, 1, 1, 1);
  bench.store(0, 128, 42, ~0u, 1, 2, 1);
  bench.send(500, of_engine(0, 10));
  bench.send(500, of_engine(1, 11, 128));
  bench.load(500, 0, 1, 12, 1);  // an SM of the same number
  bench.run();
  EXPECT_EQ(bench.answer(10).value<std::uint32_t>(), 41u);
  EXPECT_EQ(bench.answer(11).value<std::uint32_t>(), 42u);
  EXPECT_EQ(bench.answer(10).receiver, PartitionBench::sms + 2);
  EXPECT_EQ(bench.answer(11).receiver, PartitionBench::sms + 3);
  EXPECT_EQ(bench.answer(12).receiver, 1u);
}

TEST(RequestSources, EachSenderHasAFifoOfItsOwn) {
  PartitionBench bench;
  bench.store(0, 0, 7, ~0u, 15);
  for (std::uint32_t i = 0; i < 8; ++i) bench.load(500, 0, 15, 20 + i, 0);
  bench.send(500, of_engine(0, 30));
  bench.run();
  // It takes its turn, and does not wait behind all that the SM has sent.
  EXPECT_LT(bench.departure(30), bench.departure(23));
}

TEST(RequestSources, MoreRequestsThanCreditsAreAnError) {
  PartitionBench bench;
  for (std::uint32_t i = 0; i <= PartitionBench::engine_credits; ++i)
    bench.send(0, of_engine(1, i, 128 * i));
  EXPECT_THROW(bench.run(), InternalError);
}

TEST(RequestSources, AnAnswerGivesItsCreditBack) {
  PartitionBench bench;
  for (std::uint32_t i = 0; i < 4 * PartitionBench::engine_credits; ++i)
    bench.send(1000 * i, of_engine(1, i));
  bench.run();
  EXPECT_EQ(bench.answers().size(), 4 * PartitionBench::engine_credits);
}

TEST(RequestSources, WhoWaitsIsCalledByName) {
  PartitionBench bench;
  bench.send(0, of_engine(1, 1));
  bench.load(0, 128, 1, 2, 3);
  MemoryRequest walk = PartitionBench::request(MemoryOperation::load, 256);
  walk.source = SourceKind::gmmu;
  bench.send(0, walk);
  bench.run_to(50);
  const std::string text = bench.partition().waiting_for();
  EXPECT_NE(text.find("; sm[3]: 1; gmmu: 1; engine[1]: 1"), std::string::npos) << text;
}

}  // namespace
}  // namespace lockstep::test::request_sources_test
