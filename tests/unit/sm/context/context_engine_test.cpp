/// The engine that moves contexts, in front of partitions that the test plays.
/// Source: 000, section 4.1; preemption.md, section 5.
#include "models/sm/context/context_engine.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/unit/sm/machine/sm_world.hpp"

namespace lockstep::context_engine_test {
namespace {

constexpr std::uint64_t base = 1 << 20;
constexpr std::size_t some_bytes = 300;  // three lines

void with_room(SmSetup& setup) {
  setup.contexts = {PhysicalAddress(base), 4096, 2, 8, ContextKind::occupied, StopPlaces::any,
                    ContextTraffic::real,  {}};
}

std::vector<std::byte> counted(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7 + 1);
  return bytes;
}

class ContextEngineTest : public testing::Test {
 protected:
  /// Requests of context lines sent since the last call, in the order of their lines.
  std::vector<const MessageHeader*> sent() {
    std::vector<const MessageHeader*> all;
    for (std::size_t partition = 0; partition < 4; ++partition)
      for (const MessageHeader* message : world.sent(partition)) all.push_back(message);
    std::sort(all.begin(), all.end(), [](const auto* a, const auto* b) {
      return a->template body<MemoryRequest>().line < b->template body<MemoryRequest>().line;
    });
    return all;
  }
  /// Advances the engine in every cycle that it asks for.
  void advance(ContextEngine& engine, std::int64_t until) {
    while (engine.wake() <= SmCycle(until)) {
      now = std::max(now + 1, engine.wake());
      engine.advance(now);
    }
  }
  /// Advances it from `from` to `until`.
  std::vector<std::int64_t> cycles_of_requests(ContextEngine& engine, std::int64_t from,
                                               std::int64_t until) {
    std::vector<std::int64_t> cycles;
    for (std::int64_t cycle = from; cycle < until; ++cycle) {
      const std::size_t before = world.requests();
      if (engine.wake() <= SmCycle(cycle)) engine.advance(SmCycle(cycle));
      if (world.requests() != before) cycles.push_back(cycle);
    }
    return cycles;
  }
  void answer(ContextEngine& engine, const MemoryRequest& request, const std::byte* line,
              std::int64_t at) {
    engine.answered(answer_to(request), line, SmCycle(at), SmCycle(at));
  }

  SmWorld world{"", with_room};
  SmCycle now{10};
};

TEST_F(ContextEngineTest, AContextIsStoredInLinesOfItsPlace) {
  ContextEngine engine(world.sm);
  const std::vector<std::byte> bytes = counted(some_bytes);
  engine.save(1, TenantId(1), {bytes, {}}, now);
  advance(engine, 1000);
  const std::vector<const MessageHeader*> requests = sent();
  ASSERT_EQ(requests.size(), 3u);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto& request = requests[i]->body<MemoryRequest>();
    EXPECT_EQ(request.line, base + 4096 + i * line_bytes);
    EXPECT_EQ(request.operation, MemoryOperation::store);
    EXPECT_EQ(request.tenant, 1);
    EXPECT_TRUE(request.flags & flag_context);
    const std::byte* stored = requests[i]->payload_data() + 16;  // behind four byte masks
    const std::size_t count = std::min(some_bytes - i * line_bytes, std::size_t{line_bytes});
    EXPECT_TRUE(std::equal(stored, stored + count, bytes.data() + i * line_bytes)) << i;
  }
}

TEST_F(ContextEngineTest, AtMostALineLeavesInACycle) {
  ContextEngine engine(world.sm);
  engine.save(0, TenantId(0), {counted(6 * line_bytes), {}}, now);
  std::size_t before = 0;
  for (std::int64_t cycle = 11; cycle < 40; ++cycle) {
    if (engine.wake() <= SmCycle(cycle)) engine.advance(SmCycle(cycle));
    EXPECT_LE(world.requests() - before, 1u);
    before = world.requests();
  }
  EXPECT_EQ(before, 6u);
}

TEST_F(ContextEngineTest, ASavedContextIsThereWhenItsLastLineIsAcknowledged) {
  ContextEngine engine(world.sm);
  engine.save(0, TenantId(0), {counted(some_bytes), {}}, now);
  advance(engine, 1000);
  std::int64_t cycle = 200;
  for (const MessageHeader* request : sent()) {
    EXPECT_FALSE(engine.take_done(SmCycle(cycle)));
    answer(engine, request->body<MemoryRequest>(), nullptr, cycle += 10);
  }
  const auto done = engine.take_done(SmCycle(cycle));
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->saved);
  EXPECT_EQ(done->place, 0u);
  EXPECT_FALSE(engine.take_done(SmCycle(cycle + 1))) << "told once";
}

TEST_F(ContextEngineTest, WhatIsRestoredIsWhatMemoryHolds) {
  ContextEngine engine(world.sm);
  engine.restore(0, TenantId(0), some_bytes, {}, now);
  advance(engine, 1000);
  const std::vector<std::byte> memory = counted(4 * line_bytes);
  for (const MessageHeader* message : sent()) {
    const auto& request = message->body<MemoryRequest>();
    EXPECT_EQ(request.operation, MemoryOperation::load);
    answer(engine, request, memory.data() + (request.line - base), 300);
  }
  const auto done = engine.take_done(SmCycle(300));
  ASSERT_TRUE(done);
  EXPECT_FALSE(done->saved);
  EXPECT_TRUE(std::equal(done->bytes.begin(), done->bytes.end(), memory.begin()));
}

/// The first in front, whose line takes the port for four cycles.
TEST_F(ContextEngineTest, ContextsLeaveBehindOneAnotherWithoutWaitingForAnswers) {
  ContextEngine engine(world.sm);
  engine.save(0, TenantId(0), {counted(2 * line_bytes), {}}, SmCycle(10));
  engine.save(1, TenantId(0), {counted(line_bytes), {}}, SmCycle(10));
  EXPECT_EQ(cycles_of_requests(engine, 11, 60), (std::vector<std::int64_t>{11, 15, 19}));
  const std::vector<const MessageHeader*> requests = sent();
  ASSERT_EQ(requests.size(), 3u);
  answer(engine, requests[2]->body<MemoryRequest>(), nullptr, 100);
  EXPECT_EQ(engine.take_done(SmCycle(100))->place, 1u) << "it is there before the other one";
  EXPECT_FALSE(engine.take_done(SmCycle(100)));
  for (const std::size_t line : {0, 1})
    answer(engine, requests[line]->body<MemoryRequest>(), nullptr, 110);
  EXPECT_EQ(engine.take_done(SmCycle(110))->place, 0u);
}

TEST_F(ContextEngineTest, EachContextGetsTheLinesOfItsOwnPlace) {
  ContextEngine engine(world.sm);
  engine.restore(1, TenantId(0), 2 * line_bytes, {}, now);
  engine.restore(0, TenantId(0), 2 * line_bytes, {}, now);
  advance(engine, 1000);
  const std::vector<std::byte> memory = counted(4096 + 2 * line_bytes);
  for (const MessageHeader* message : sent()) {
    const auto& request = message->body<MemoryRequest>();
    answer(engine, request, memory.data() + (request.line - base), 300);
  }
  for (const std::size_t place : {1, 0}) {
    const auto done = engine.take_done(SmCycle(300));
    ASSERT_TRUE(done);
    EXPECT_EQ(done->place, place);
    EXPECT_TRUE(
        std::equal(done->bytes.begin(), done->bytes.end(), memory.begin() + 4096 * done->place));
  }
}

/// 300 bytes of registers, 40 of them, and a line of something else: four lines.
BlockContext compressed() {
  return {counted(4 * line_bytes), {300, 0, 40}};
}

TEST_F(ContextEngineTest, ALineLeavesWhenItsRegistersHavePassedTheCompressor) {
  ContextEngine engine(world.sm);
  engine.save(0, TenantId(0), compressed(), SmCycle(10));
  // From cycle 11 on: two of latency, then a register a cycle; a line takes the port for four.
  EXPECT_EQ(cycles_of_requests(engine, 11, 80), (std::vector<std::int64_t>{27, 40, 53, 57}));
}

TEST_F(ContextEngineTest, OneContextPassesTheCompressorBehindTheOther) {
  ContextEngine engine(world.sm);
  engine.save(0, TenantId(0), compressed(), SmCycle(10));
  engine.save(1, TenantId(0), compressed(), SmCycle(10));
  // The second from cycle 51 on.
  EXPECT_EQ(cycles_of_requests(engine, 11, 120),
            (std::vector<std::int64_t>{27, 40, 53, 57, 67, 80, 93, 97}));
}

TEST_F(ContextEngineTest, ARestoredContextIsThereWhenItsRegistersAreDecompressed) {
  ContextEngine engine(world.sm);
  engine.save(0, TenantId(0), compressed(), SmCycle(10));
  advance(engine, 100);
  for (const MessageHeader* request : sent())
    answer(engine, request->body<MemoryRequest>(), nullptr, 110);
  ASSERT_TRUE(engine.take_done(SmCycle(110)));
  world.forget_sent();
  engine.restore(0, TenantId(0), 4 * line_bytes, compressed().parts, SmCycle(120));
  advance(engine, 200);
  const std::vector<std::byte> memory = counted(4 * line_bytes);
  for (const MessageHeader* request : sent())
    answer(engine, request->body<MemoryRequest>(), memory.data(), 300);
  EXPECT_FALSE(engine.take_done(SmCycle(341)));
  EXPECT_TRUE(engine.take_done(SmCycle(342))) << "forty registers, two cycles of latency";
}

TEST_F(ContextEngineTest, IdealItTakesACycleAndNoTraffic) {
  SmWorld ideal{"", [](SmSetup& setup) {
                  with_room(setup);
                  setup.contexts.traffic = ContextTraffic::ideal;
                }};
  ContextEngine engine(ideal.sm);
  const std::vector<std::byte> bytes = counted(3 * line_bytes);
  engine.save(1, TenantId(0), {bytes, {}}, SmCycle(10));
  EXPECT_FALSE(engine.take_done(SmCycle(10)));
  EXPECT_EQ(engine.wake(), SmCycle(11));
  EXPECT_TRUE(engine.take_done(SmCycle(11))->saved);
  engine.restore(1, TenantId(0), bytes.size(), {}, SmCycle(20));
  EXPECT_FALSE(engine.take_done(SmCycle(20)));
  const auto done = engine.take_done(SmCycle(21));
  ASSERT_TRUE(done);
  EXPECT_EQ(done->bytes, bytes);
  EXPECT_EQ(ideal.requests(), 0u);
}

/// 256 + 128 bytes at 4 GB/s take 96 ns; control state behind them costs nothing (003, 3.3.2).
TEST_F(ContextEngineTest, AtItsShareEachContextHasTheWholeBandwidthAndNoTraffic) {
  SmWorld shared{"", [](SmSetup& setup) {
                   with_room(setup);
                   setup.contexts.traffic = ContextTraffic::share;
                   setup.contexts.share = {4'000'000'000};
                 }};
  const Clock& clock = shared.constants.clock;
  const auto after = [&](std::int64_t cycle) {
    return SmCycle(clock.cycle_at_or_after(clock.edge(Cycles{cycle}) + Time{96'000'000}).count());
  };
  ContextEngine engine(shared.sm);
  const std::vector<std::byte> bytes = counted(5 * line_bytes);
  const ContextParts parts{400, 128, 0, 384};
  engine.save(0, TenantId(0), {bytes, parts}, SmCycle(10));
  engine.save(1, TenantId(0), {bytes, parts}, SmCycle(12));
  EXPECT_FALSE(engine.take_done(after(10) - 1));
  EXPECT_EQ(engine.take_done(after(10))->place, 0u);
  EXPECT_FALSE(engine.take_done(after(12) - 1));
  EXPECT_EQ(engine.take_done(after(12))->place, 1u);
  engine.restore(0, TenantId(0), bytes.size(), parts, SmCycle(500));
  engine.advance(SmCycle(501));
  EXPECT_EQ(engine.wake(), after(500));
  EXPECT_EQ(engine.take_done(after(500))->bytes, bytes);
  EXPECT_EQ(shared.requests(), 0u);
}

/// 256 bytes at 4 GB/s take 64 ns.
TEST_F(ContextEngineTest, AtItsShareAContextMovesWhileItsBlockWaitsForWhatIsInFlight) {
  SmWorld shared{"", [](SmSetup& setup) {
                   with_room(setup);
                   setup.contexts.traffic = ContextTraffic::share;
                   setup.contexts.share = {4'000'000'000};
                 }};
  ContextEngine engine(shared.sm);
  const ContextParts parts{256, 0, 0, 256};
  const auto saved = [&](std::int64_t still) {
    engine.save(0, TenantId(0), {counted(2 * line_bytes), parts}, SmCycle(1000), still);
    SmCycle cycle(1001);
    while (!engine.take_done(cycle)) cycle = cycle + 1;
    engine.forget(0);
    return cycle - SmCycle(1000);
  };
  const std::int64_t moves = saved(0);
  EXPECT_GT(moves, 20);
  EXPECT_EQ(saved(20), moves - 20);
  EXPECT_EQ(saved(moves + 5), 1) << "it has moved when the last answer comes";
}

TEST_F(ContextEngineTest, GoesOnAfterSavingAndRestoringAmidATransfer) {
  ContextEngine engine(world.sm), other(world.sm);
  const std::vector<std::byte> bytes = counted(some_bytes);
  engine.save(0, TenantId(0), {bytes, {}}, now);
  engine.advance(SmCycle(11));
  save_and_restore(engine, other);
  now = SmCycle(11);
  advance(other, 1000);
  EXPECT_EQ(sent().size(), 3u);
}

}  // namespace
}  // namespace lockstep::context_engine_test
