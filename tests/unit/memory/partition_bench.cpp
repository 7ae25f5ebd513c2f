#include "tests/unit/memory/partition_bench.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "core/checkpoint/archive.hpp"
#include "tests/unit/memory/partition_policies.hpp"

namespace lockstep::test {

MemoryParameters small_memory() {
  using namespace literals;
  MemoryParameters p = defaults<MemoryParameters>();
  p.partitions = 1;
  p.capacity = 1_MiB;
  p.clock = p.dram.clock = 1000_MHz;
  p.l2.slices = 1;
  p.l2.banks = 1;
  p.l2.size = 2_KiB;  // 4 sets of 4 ways
  p.l2.ways = 4;
  p.l2.latency = 10_cycles;
  p.l2.mshrs = 4;
  p.l2.merges = 2;
  p.dram.refi = 0_cycles;
  p.dram.path_latency = 100_cycles;
  return p;
}

template <class Body>
void PartitionBench::post(std::int64_t cycle, MessageKind kind, const Body& body,
                          const std::vector<std::byte>& payload, std::uint16_t sender) {
  MessageHeader h;
  h.arrival = time(cycle);
  h.link = LinkId{sender};
  h.sequence = sequence_++;
  h.kind = kind_of(kind);
  h.body_bytes = sizeof(Body);
  h.payload_bytes = static_cast<std::uint32_t>(payload.size());
  Message message(h.total_bytes() / 8);
  auto* place = reinterpret_cast<std::byte*>(message.data());
  std::memcpy(place, &h, sizeof h);
  std::memcpy(place + sizeof h, &body, sizeof body);
  if (!payload.empty()) std::memcpy(place + sizeof h + sizeof body, payload.data(), payload.size());
  waiting_.push_back(std::move(message));
  std::stable_sort(waiting_.begin(), waiting_.end(), [](const Message& a, const Message& b) {
    const MessageHeader &x = header(a), &y = header(b);
    if (x.arrival != y.arrival) return x.arrival < y.arrival;
    return x.link != y.link ? x.link < y.link : x.sequence < y.sequence;
  });
}

PartitionBench::PartitionBench(const MemoryParameters& parameters, std::size_t tenants,
                               Policies policies, const HalfParameters& halves, bool express)
    : period_(Clock(parameters.clock).period()), sent_(sms + 2 + engines + cores) {
  MemoryPartition::Setup setup;
  setup.parameters = parameters;
  setup.noc = defaults<NocParameters>();
  setup.noc.halves = halves;
  setup.topology = Topology({.sms = sms, .partitions = parameters.partitions});
  setup.index = PartitionId{0};
  setup.mapping = AddressMapping(AddressMapping::Kind::plain, parameters.partitions);
  setup.tenants = tenants;
  setup.express = express;
  std::vector<Link> links;
  for (std::uint32_t i = 0; i < sms + 2 + engines + cores; ++i)
    links.emplace_back(LinkId{i}, ComponentId{i}, period_ * response_latency);
  const std::span<const Link> all(links);
  setup.sources.add(SourceKind::sm, "sm", all.first(sms), 4096);
  setup.sources.add(SourceKind::gmmu, "gmmu", all.subspan(sms, 1), RequestSources::unlimited);
  setup.sources.add(SourceKind::host, "host", all.subspan(sms + 1, 1), RequestSources::unlimited);
  setup.sources.add(engine, "engine", all.subspan(sms + 2, engines), engine_credits);
  setup.sources.add(SourceKind::cpu, "cpu", all.last(cores), 64);
  setup.cache_policy =
      policies.cache_policy ? std::move(policies.cache_policy) : cache_policy_named("lru");
  setup.replacement =
      policies.replacement ? std::move(policies.replacement) : replacement_named("lru");
  for (std::uint32_t i = 0; i < parameters.dram.channels; ++i)
    setup.dram_schedulers.push_back(policies.dram_scheduler ? std::move(policies.dram_scheduler)
                                                            : dram_scheduler_named("fr-fcfs"));
  partition_ = std::make_unique<MemoryPartition>(std::move(setup));
}

PartitionBench::~PartitionBench() = default;

const PartitionStatistics& PartitionBench::statistics() {
  return *static_cast<const PartitionStatistics*>(partition_->statistics(Time{}).values);
}

MemoryRequest PartitionBench::request(MemoryOperation operation, std::uint64_t address,
                                      std::uint8_t sectors, std::uint32_t tag,
                                      std::uint16_t requester) {
  MemoryRequest r;
  r.line = address / line_bytes * line_bytes;
  r.operation = operation;
  r.sectors = sectors;
  r.tag = tag;
  r.requester = requester;
  return r;
}

void PartitionBench::send(std::int64_t cycle, const MemoryRequest& request,
                          const std::vector<std::byte>& payload) {
  const auto sender = request.source == SourceKind::sm
                          ? request.requester
                          : 100u * static_cast<unsigned>(request.source);
  post(cycle, MessageKind::memory_request, request, payload, static_cast<std::uint16_t>(sender));
}

void PartitionBench::mark(std::int64_t cycle, MessageKind kind, std::uint32_t grid) {
  post(cycle, kind, GridMark{grid, 0, 0}, {}, 100u * static_cast<unsigned>(SourceKind::host));
}

void PartitionBench::load(std::int64_t cycle, std::uint64_t address, std::uint8_t sectors,
                          std::uint32_t tag, std::uint16_t requester) {
  send(cycle, request(MemoryOperation::load, address, sectors, tag, requester));
}

void PartitionBench::store(std::int64_t cycle, std::uint64_t address, std::uint32_t value,
                           std::uint32_t mask, std::uint8_t sectors, std::uint32_t tag,
                           std::uint16_t requester) {
  const MemoryRequest r = request(MemoryOperation::store, address, sectors, tag, requester);
  std::vector<std::uint32_t> words(r.sector_count(), mask);
  words.insert(words.end(), 8 * words.size(), value);
  const auto bytes = std::as_bytes(std::span(words));
  const std::vector<std::byte> payload(bytes.begin(), bytes.end());
  send(cycle, r, payload);
}

void PartitionBench::atomic_add(std::int64_t cycle, std::uint64_t address,
                                std::vector<std::uint32_t> values, std::uint32_t tag,
                                std::uint16_t requester) {
  MemoryRequest r = request(MemoryOperation::atomic, address, 1, tag, requester);
  r.atomic = isa::AtomicOperation::add;
  r.type = isa::Type::u32;
  r.flags = flag_returns;
  r.lanes = static_cast<std::uint8_t>(values.size());
  r.sectors = static_cast<std::uint8_t>(1u << (address % line_bytes / sector_bytes));
  std::vector<std::byte> payload(values.size() * sizeof(AtomicLane));
  for (std::size_t i = 0; i < values.size(); ++i) {
    AtomicLane lane;
    lane.operands.a = values[i];
    lane.offset = static_cast<std::uint8_t>(address % line_bytes);
    lane.lane = static_cast<std::uint8_t>(i);
    std::memcpy(payload.data() + i * sizeof lane, &lane, sizeof lane);
  }
  send(cycle, r, payload);
}

void PartitionBench::zero(std::int64_t cycle, std::uint64_t base, std::uint64_t bytes) {
  post(cycle, MessageKind::zero_range, ZeroRange{base, bytes}, {}, 200);
}

void PartitionBench::inspect(std::int64_t cycle, std::uint64_t base, std::uint64_t bytes) {
  post(cycle, MessageKind::inspect_range, InspectedRange{.base = base, .bytes = bytes}, {}, 200);
}

void PartitionBench::run_to(std::int64_t cycle, std::int64_t window) {
  while (reached_ < cycle) {
    reached_ = std::min(cycle, reached_ + window);
    advance(time(reached_));
  }
}

void PartitionBench::run() {
  run_to(reached_ + 1);
  while (!waiting_.empty() || partition_->next_activity() != Time::never()) {
    Time next = partition_->next_activity();
    if (!waiting_.empty()) next = std::min(next, header(waiting_.front()).arrival);
    run_to(std::max(reached_, next.femtoseconds() / period_.femtoseconds()) + 1);
  }
}

PartitionBench::Answer PartitionBench::answer(std::uint32_t tag) const {
  for (const Answer& a : answers_)
    if (a.response.tag == tag) return a;
  ADD_FAILURE() << "no answer with tag " << tag;
  return {};
}

std::int64_t PartitionBench::last_arrival() const {
  return header(waiting_.back()).arrival.femtoseconds() / period_.femtoseconds();
}

std::string PartitionBench::save() {
  std::ostringstream out;
  {
    Archive archive = Archive::saving(out);
    partition_->serialize(archive);
  }
  return out.str();
}

void PartitionBench::restore(const std::string& state) {
  std::istringstream in(state);
  Archive archive = Archive::restoring(in);
  partition_->serialize(archive);
}

void PartitionBench::advance(Time horizon) {
  std::vector<Message> now;
  while (!waiting_.empty() && header(waiting_.front()).arrival < horizon) {
    now.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  std::vector<const MessageHeader*> inbox;
  for (const Message& m : now) inbox.push_back(&header(m));
  partition_->advance(horizon, inbox, sent_.outbox());
  for (const MessageHeader* h : sent_.all()) {
    Answer a;
    a.departure = h->arrival.femtoseconds() / period_.femtoseconds() - response_latency;
    a.receiver = h->link.value();
    a.kind = static_cast<MessageKind>(h->kind);
    if (a.kind == MessageKind::memory_response) a.response = h->body<MemoryResponse>();
    a.payload.assign(h->payload().begin(), h->payload().end());
    answers_.push_back(a);
  }
  sent_.clear();
}

}  // namespace lockstep::test
