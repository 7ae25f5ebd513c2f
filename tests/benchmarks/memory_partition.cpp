/// Host time and simulated bandwidth of v100's 32 partitions under closed-loop traffic of 80 SMs:
/// each answer makes its SM send the next request of the pattern a round trip later.  Only the time
/// inside the partitions counts.
///
/// Run: build/release/tests/benchmarks/bench_memory_partition
#include "models/memory/memory_partition.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <memory>
#include <vector>

#include "core/parameters/document.hpp"
#include "models/memory/partition_statistics.hpp"
#include "tests/harness/message_sink.hpp"
#include "tests/unit/memory/partition_policies.hpp"

namespace lockstep {
namespace {

struct NocAndMemory {
  NocParameters noc;
  MemoryParameters memory;
};

NocAndMemory v100() {
  const Node file = load_document(LOCKSTEP_SOURCE_DIR "/configs/gpus/v100.yaml");
  return {read_parameters<NocParameters>(file.at("noc")),
          read_parameters<MemoryParameters>(file.at("memory"))};
}

enum Pattern { stream_lines, stream_sectors, resident, random_sectors, copy };

/// The n-th request to a partition.
MemoryRequest make_request(Pattern pattern, std::uint64_t n, const AddressMapping& mapping,
                           std::uint32_t partition) {
  MemoryRequest r;
  r.sectors = 15;
  std::uint64_t line = n;
  switch (pattern) {
    case stream_lines:
      break;
    case stream_sectors:
      line = n / 4;
      r.sectors = static_cast<std::uint8_t>(1u << (n % 4));
      break;
    case resident:
      line = n % 512;
      break;
    case random_sectors:
      line = (n * 0x9e3779b97f4a7c15u) >> 50;  // 2 MiB of the partition
      r.sectors = static_cast<std::uint8_t>(1u << (n % 4));
      break;
    case copy:  // c = a + b: two streams are read, a third one is written
      line = n / 3 + (n % 3) * (1u << 18);
      if (n % 3 == 2) r.operation = MemoryOperation::store;
      break;
  }
  r.line = mapping
               .physical(PartitionId{static_cast<std::uint16_t>(partition)},
                         PartitionOffset{line * line_bytes})
               .value();
  return r;
}

/// Of this thread, so that others on the machine do not count.
std::chrono::nanoseconds cpu_time() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

class Traffic {
 public:
  static constexpr std::int64_t window = 80;  ///< cycles; half the shortest round trip
  static constexpr std::uint32_t sms = 80;

  explicit Traffic(Pattern pattern)
      : pattern_(pattern),
        machine_(v100()),
        mapping_(machine_.noc.mapping, machine_.memory.partitions),
        period_(Clock(machine_.memory.clock).period()),
        ports_(machine_.memory.partitions) {
    for (std::uint32_t p = 0; p < ports_.size(); ++p) {
      Port& port = ports_[p];
      std::vector<Link> links;
      for (std::uint32_t i = 0; i < sms; ++i)
        links.emplace_back(LinkId{i}, ComponentId{i},
                           period_ * machine_.noc.response_latency.count());
      MemoryPartition::Setup setup;
      setup.parameters = machine_.memory;
      setup.noc = machine_.noc;
      setup.index = PartitionId{static_cast<std::uint16_t>(p)};
      setup.mapping = mapping_;
      setup.sources.add(SourceKind::sm, "sm", links, machine_.noc.credits);
      setup.tenants = 1;
      setup.cache_policy = test::cache_policy_named("lru");
      setup.replacement = test::replacement_named("lru");
      setup.dram_schedulers.push_back(test::dram_scheduler_named("fr-fcfs"));
      port.partition = std::make_unique<MemoryPartition>(std::move(setup));
      for (std::uint32_t c = 0; c < machine_.noc.credits; ++c)
        for (std::uint32_t sm = 0; sm < sms; ++sm)
          port.due.push_back({period_ * (c * sms + sm), sm});
    }
  }

  /// Simulates a window; host time inside the partitions.
  std::chrono::nanoseconds step() {
    now_ += window;
    const Time horizon = period_ * now_;
    for (std::uint32_t p = 0; p < ports_.size(); ++p) fill_inbox(ports_[p], p, horizon);
    const auto start = cpu_time();
    for (Port& port : ports_) port.partition->advance(horizon, port.inbox, port.answers.outbox());
    const auto spent = cpu_time() - start;
    for (Port& port : ports_) collect(port);
    return spent;
  }

  std::uint64_t sectors() const { return sectors_; }
  double utilisation() {
    std::uint64_t busy = 0;
    for (Port& port : ports_)
      busy += static_cast<const PartitionStatistics*>(port.partition->statistics(Time{}).values)
                  ->data_bus_cycles.value();
    const double cycles = double((period_ * now_).femtoseconds()) /
                          double(Clock(machine_.memory.dram.clock).period().femtoseconds());
    return double(busy) / cycles / double(ports_.size());
  }
  double sectors_per_cycle() const { return double(sectors_) / double(now_); }

 private:
  struct Due {
    Time arrival;
    std::uint32_t sm;
  };
  struct Port {
    std::unique_ptr<MemoryPartition> partition;
    std::vector<Due> due;
    std::uint64_t next = 0;
    std::uint32_t sequence = 0;
    ByteBuffer requests;
    std::vector<const MessageHeader*> inbox;
    MessageSink answers{sms};
  };

  void fill_inbox(Port& port, std::uint32_t index, Time horizon) {
    std::sort(port.due.begin(), port.due.end(), [](const Due& a, const Due& b) {
      return a.arrival != b.arrival ? a.arrival < b.arrival : a.sm < b.sm;
    });
    port.requests.clear();
    offsets_.clear();
    std::size_t taken = 0;
    for (; taken < port.due.size() && port.due[taken].arrival < horizon; ++taken) {
      MemoryRequest r = make_request(pattern_, port.next++, mapping_, index);
      r.requester = static_cast<std::uint16_t>(port.due[taken].sm);
      MessageHeader h;
      h.arrival = port.due[taken].arrival;
      h.link = LinkId{port.due[taken].sm};
      h.sequence = port.sequence++;
      h.kind = kind_of(MessageKind::memory_request);
      h.body_bytes = sizeof r;
      if (r.operation == MemoryOperation::store) h.payload_bytes = r.sector_count() * 36u;
      offsets_.push_back(port.requests.bytes().size());
      std::byte* place = port.requests.append(h.total_bytes());
      std::memcpy(place, &h, sizeof h);
      std::memcpy(place + sizeof h, &r, sizeof r);
      std::memset(place + sizeof h + sizeof r, 0xff, h.payload_bytes);
    }
    port.due.erase(port.due.begin(), port.due.begin() + std::ptrdiff_t(taken));
    port.inbox.clear();
    for (const std::size_t offset : offsets_)
      port.inbox.push_back(
          reinterpret_cast<const MessageHeader*>(port.requests.bytes().data() + offset));
  }

  void collect(Port& port) {
    for (const MessageHeader* message : port.answers.all()) {
      const auto& r = message->body<MemoryResponse>();
      sectors_ += static_cast<unsigned>(std::popcount(r.sectors));
      port.due.push_back(
          {message->arrival + period_ * machine_.noc.request_latency.count(), r.requester});
    }
    port.answers.clear();
  }

  const Pattern pattern_;
  const NocAndMemory machine_;
  const AddressMapping mapping_;
  const Time period_;
  std::vector<Port> ports_;
  std::vector<std::size_t> offsets_;
  std::int64_t now_ = 0;
  std::uint64_t sectors_ = 0;
};

void partition_traffic(benchmark::State& state) {
  Traffic traffic(static_cast<Pattern>(state.range(0)));
  for (int i = 0; i < 1000; ++i) traffic.step();
  const std::uint64_t before = traffic.sectors();
  std::chrono::nanoseconds spent{};
  for (auto _ : state) {
    const auto window = traffic.step();
    spent += window;
    state.SetIterationTime(std::chrono::duration<double>(window).count());
  }
  state.counters["ns/sector"] = double(spent.count()) / double(traffic.sectors() - before);
  state.counters["DRAM bus"] = traffic.utilisation();
  state.counters["sectors/cycle"] = traffic.sectors_per_cycle();
}
BENCHMARK(partition_traffic)
    ->UseManualTime()
    ->ArgName("pattern")
    ->Arg(stream_lines)
    ->Arg(stream_sectors)
    ->Arg(resident)
    ->Arg(random_sectors)
    ->Arg(copy)
    ->Iterations(2000);

}  // namespace
}  // namespace lockstep

BENCHMARK_MAIN();
