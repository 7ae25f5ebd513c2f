/// A core alone with memory that answers when the test says so: when it asks, what it writes, what
/// it notices.
#include "models/cpu/cpu_core.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "models/cpu/trace_stream.hpp"
#include "models/memory/memory_parameters.hpp"
#include "models/noc/core_messages.hpp"
#include "tests/harness/message_sink.hpp"

namespace lockstep::test::cpu_core_test {
namespace {

using namespace literals;

/// One instruction in a cycle of a nanosecond, eight in flight, two credits at the one controller.
class CoreBench {
 public:
  static constexpr std::size_t host = 0, partition = 1;

  explicit CoreBench(std::vector<TracedAccess> trace, std::uint64_t measured = 0) {
    CpuProgram program;
    program.trace_instructions = trace.back().instruction + 1;
    program.trace = std::make_shared<const std::vector<TracedAccess>>(std::move(trace));
    MemoryParameters memory = defaults<MemoryParameters>();
    CpuCore::Setup setup{.parameters = {.cores = 1,
                                        .width = 1,
                                        .window = 8,
                                        .credits = 2,
                                        .clock = 1000_MHz,
                                        .link_latency = 50_ns},
                         .index = 0,
                         .tenant = TenantId{0},
                         .memory = CoreMemory(AddressMapping(AddressMapping::Kind::plain, 1),
                                              DramLayout(memory.dram), PhysicalAddress{0}, 65536),
                         .stream = std::make_unique<TraceStream>(program, false),
                         .arrival = Time::zero(),
                         .measured = measured,
                         .check = true,
                         .to_host = Link(LinkId{0}, ComponentId{host}, 1_us),
                         .to_partitions = {Link(LinkId{1}, ComponentId{partition}, 50_ns)}};
    core_.emplace(std::move(setup));
  }

  void run_to(std::int64_t nanosecond) {
    core_->advance(Time{nanosecond * 1'000'000}, {}, sent_.outbox());
  }
  /// What has been sent to memory.
  std::vector<const MessageHeader*> requests() const { return sent_.to(partition); }
  /// When the n-th request left.
  std::int64_t sent_at(std::size_t n) const {
    return requests().at(n)->arrival.femtoseconds() / 1'000'000 - 50;
  }
  /// The answer to the n-th request; a load's with `words`.
  void answer(std::int64_t nanosecond, std::size_t n, const LineContents::Words& words = {}) {
    const auto& request = requests().at(n)->body<MemoryRequest>();
    const auto* bytes = reinterpret_cast<const std::byte*>(words.data());
    std::span<const std::byte> payload(bytes, sizeof words);
    if (request.operation == MemoryOperation::store) payload = {};
    const IncomingMessage message(Time{nanosecond * 1'000'000},
                                  kind_of(MessageKind::memory_response), answer_to(request),
                                  payload);
    const MessageHeader* inbox[] = {message.get()};
    core_->advance(Time{nanosecond * 1'000'000 + 1}, inbox, sent_.outbox());
  }
  std::vector<const MessageHeader*> to_host() const { return sent_.to(host); }
  CpuCore& core() { return *core_; }

 private:
  MessageSink sent_{2};
  std::optional<CpuCore> core_;
};

TEST(CpuCore, AsksWhenTheInstructionEnters) {
  CoreBench bench({{4, 0, false}, {7, 64, false}});
  bench.run_to(5);
  ASSERT_EQ(bench.requests().size(), 1u);
  EXPECT_EQ(bench.sent_at(0), 4);
  bench.run_to(100);
  EXPECT_EQ(bench.sent_at(1), 7);
}

TEST(CpuCore, AsksForHalfALineOfTheGpu) {
  CoreBench bench({{0, 0, false}, {0, 192, false}});
  bench.run_to(100);
  const auto& first = bench.requests().at(0)->body<MemoryRequest>();
  const auto& second = bench.requests().at(1)->body<MemoryRequest>();
  EXPECT_EQ(first.line, 0u);
  EXPECT_EQ(first.sectors, 0b0011);
  EXPECT_EQ(second.line, 128u);
  EXPECT_EQ(second.sectors, 0b1100);
  EXPECT_EQ(second.source, SourceKind::cpu);
}

TEST(CpuCore, WaitsForItsOldestMissWhenTheWindowIsFull) {
  CoreBench bench({{0, 0, false}, {8, 64, false}});
  bench.run_to(100);
  EXPECT_EQ(bench.requests().size(), 1u);
  bench.answer(100, 0);
  bench.run_to(200);
  EXPECT_EQ(bench.sent_at(1), 101);
}

TEST(CpuCore, DoesNotWaitForItsWrites) {
  CoreBench bench({{0, 0, true}, {50, 64, false}});
  bench.run_to(100);
  EXPECT_EQ(bench.sent_at(1), 50);
}

TEST(CpuCore, WaitsForACredit) {
  CoreBench bench({{0, 0, true}, {1, 64, true}, {2, 128, true}, {3, 192, true}});
  bench.run_to(70);
  EXPECT_EQ(bench.requests().size(), 2u);
  bench.answer(70, 1);
  bench.run_to(80);
  EXPECT_EQ(bench.sent_at(2), 70);
  bench.answer(90, 0);
  bench.run_to(100);
  EXPECT_EQ(bench.sent_at(3), 90);
}

TEST(CpuCore, ReadsWhatItWroteLast) {
  CoreBench bench({{0, 64, true}, {1, 64, false}});
  bench.run_to(10);
  const auto payload = bench.requests().at(0)->payload();
  ASSERT_EQ(payload.size(), 8 + cpu_line_bytes);
  LineContents::Words written;
  std::memcpy(written.data(), payload.data() + 8, sizeof written);
  bench.answer(60, 1, written);
  EXPECT_TRUE(bench.to_host().empty());
}

TEST(CpuCore, TellsTheHostOfTheFirstLineThatLostABit) {
  CoreBench bench({{0, 64, true}, {1, 64, false}, {30, 128, false}, {31, 192, false}});
  bench.run_to(10);
  LineContents::Words written = LineContents::words(64, 1);
  written[5] ^= 1;
  bench.answer(60, 1, written);
  ASSERT_EQ(bench.to_host().size(), 1u);
  EXPECT_EQ(bench.to_host()[0]->kind, kind_of(MessageKind::core_mistaken));
  EXPECT_EQ(bench.to_host()[0]->body<CoreMistaken>().offset, 64u);
}

TEST(CpuCore, IsMeasuredWhenItsInstructionsHaveRetired) {
  CoreBench bench({{0, 0, false}, {20, 64, false}}, 6);
  bench.run_to(40);
  EXPECT_TRUE(bench.to_host().empty());
  bench.answer(40, 0);
  bench.run_to(60);
  ASSERT_EQ(bench.to_host().size(), 1u);
  const auto& measured = bench.to_host()[0]->body<CoreMeasured>();
  EXPECT_EQ(measured.instructions, 6u);
  EXPECT_EQ(measured.at, 46_ns);
}

TEST(CpuCore, FinishesWhenItIsStoppedAndAllIsAnswered) {
  CoreBench bench({{0, 0, false}});
  bench.run_to(10);
  const IncomingMessage stop(20_ns, kind_of(MessageKind::stop_core), CoreStop{});
  const MessageHeader* inbox[] = {stop.get()};
  MessageSink sink(2);
  bench.core().advance(21_ns, inbox, sink.outbox());
  EXPECT_FALSE(bench.core().finished());
  bench.answer(40, 0);
  EXPECT_TRUE(bench.core().finished());
}

}  // namespace
}  // namespace lockstep::test::cpu_core_test
