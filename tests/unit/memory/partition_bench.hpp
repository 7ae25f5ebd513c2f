#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <sstream>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "core/engine/outbox.hpp"
#include "models/memory/cache_policy/cache_policy.hpp"
#include "models/memory/dram_scheduler/dram_scheduler.hpp"
#include "models/memory/memory_partition.hpp"
#include "models/memory/partition_statistics.hpp"

namespace lockstep::test {

/// A machine small enough to count its cycles by hand: L2 and DRAM at 1 GHz, one bank, no refresh.
inline MemoryParameters small_memory() {
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

/// Hand-made inboxes for one partition, and what it answers.
class PartitionBench {
 public:
  static constexpr std::int64_t request_latency = 20, response_latency = 10;
  static constexpr std::uint32_t sms = 4;

  struct Answer {
    std::int64_t departure = 0;  ///< L2 cycle
    MessageKind kind = MessageKind::memory_response;
    MemoryResponse response;
    std::vector<std::byte> payload;

    template <class T>
    T value(std::size_t index = 0) const {
      T result;
      std::memcpy(&result, payload.data() + index * sizeof(T), sizeof(T));
      return result;
    }
    bool operator==(const Answer& other) const {
      return departure == other.departure && response.tag == other.response.tag &&
             response.l2_hits == other.response.l2_hits && payload == other.payload;
    }
  };

  explicit PartitionBench(const MemoryParameters& parameters = small_memory(),
                          std::size_t tenants = 2,
                          MemoryPolicies policies = MemoryPolicies::defaults())
      : period_(Clock(parameters.clock).period()), buffers_(sms + 2) {
    NocParameters noc = defaults<NocParameters>();
    noc.credits = 4096;
    std::vector<Link> links;
    for (std::uint32_t i = 0; i < sms + 2; ++i)
      links.emplace_back(LinkId{i}, ComponentId{i}, period_ * response_latency);
    const Link host = links[sms + 1], gmmu = links[sms];
    links.resize(sms);
    partition_ = std::make_unique<MemoryPartition>(
        parameters, noc, policies, PartitionId{0},
        AddressMapping(AddressMapping::Kind::plain, parameters.partitions), links, gmmu, host,
        tenants);
    std::vector<MessageBuffer*> targets;
    for (MessageBuffer& b : buffers_) targets.push_back(&b);
    outbox_.attach(targets);
  }

  MemoryPartition& partition() { return *partition_; }
  const PartitionStatistics& statistics() {
    return *static_cast<const PartitionStatistics*>(partition_->statistics(Time{}).values);
  }
  Time time(std::int64_t cycle) const { return period_ * cycle; }

  static MemoryRequest request(MemoryOperation operation, std::uint64_t address,
                               std::uint8_t sectors = 1, std::uint32_t tag = 0,
                               std::uint16_t requester = 0) {
    MemoryRequest r;
    r.line = address / line_bytes * line_bytes;
    r.operation = operation;
    r.sectors = sectors;
    r.tag = tag;
    r.requester = requester;
    return r;
  }

  /// A message that arrives at `cycle`.
  void send(std::int64_t cycle, const MemoryRequest& request,
            const std::vector<std::byte>& payload = {}) {
    post(cycle, MessageKind::memory_request, request, payload, request.requester);
  }
  void load(std::int64_t cycle, std::uint64_t address, std::uint8_t sectors = 1,
            std::uint32_t tag = 0, std::uint16_t requester = 0) {
    send(cycle, request(MemoryOperation::load, address, sectors, tag, requester));
  }
  /// Stores the same 32-bit value in every word of the masked bytes of the sectors.
  void store(std::int64_t cycle, std::uint64_t address, std::uint32_t value,
             std::uint32_t mask = ~0u, std::uint8_t sectors = 1, std::uint32_t tag = 0,
             std::uint16_t requester = 0) {
    const MemoryRequest r = request(MemoryOperation::store, address, sectors, tag, requester);
    std::vector<std::uint32_t> words(r.sector_count(), mask);
    words.insert(words.end(), 8 * words.size(), value);
    const auto bytes = std::as_bytes(std::span(words));
    const std::vector<std::byte> payload(bytes.begin(), bytes.end());
    send(cycle, r, payload);
  }
  void atomic_add(std::int64_t cycle, std::uint64_t address, std::vector<std::uint32_t> values,
                  std::uint32_t tag = 0, std::uint16_t requester = 0) {
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
  void zero(std::int64_t cycle, std::uint64_t base, std::uint64_t bytes) {
    post(cycle, MessageKind::zero_range, ZeroRange{base, bytes}, {}, host_requester);
  }

  /// Advances to `cycle` in windows of `window` cycles.
  void run_to(std::int64_t cycle, std::int64_t window = 1 << 30) {
    while (reached_ < cycle) {
      reached_ = std::min(cycle, reached_ + window);
      advance(time(reached_));
    }
  }
  /// Until nothing is left to do.
  void run() {
    run_to(reached_ + 1);
    while (!waiting_.empty() || partition_->next_activity() != Time::never()) {
      Time next = partition_->next_activity();
      if (!waiting_.empty()) next = std::min(next, header(waiting_.front()).arrival);
      run_to(std::max(reached_, next.femtoseconds() / period_.femtoseconds()) + 1);
    }
  }
  const std::vector<Answer>& answers() const { return answers_; }
  /// The answer with a tag; the test fails if there is none.
  Answer answer(std::uint32_t tag) const {
    for (const Answer& a : answers_)
      if (a.response.tag == tag) return a;
    ADD_FAILURE() << "no answer with tag " << tag;
    return {};
  }
  std::int64_t departure(std::uint32_t tag) const { return answer(tag).departure; }
  std::int64_t reached() const { return reached_; }
  /// Of the messages not yet delivered.
  std::int64_t last_arrival() const {
    return header(waiting_.back()).arrival.femtoseconds() / period_.femtoseconds();
  }

  std::string save() {
    std::ostringstream out;
    {
      Archive archive = Archive::saving(out);
      partition_->serialize(archive);
    }
    return out.str();
  }
  void restore(const std::string& state) {
    std::istringstream in(state);
    Archive archive = Archive::restoring(in);
    partition_->serialize(archive);
  }

 private:
  using Message = std::vector<std::uint64_t>;
  static const MessageHeader& header(const Message& message) {
    return *reinterpret_cast<const MessageHeader*>(message.data());
  }

  template <class Body>
  void post(std::int64_t cycle, MessageKind kind, const Body& body,
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
    if (!payload.empty())
      std::memcpy(place + sizeof h + sizeof body, payload.data(), payload.size());
    waiting_.push_back(std::move(message));
    std::stable_sort(waiting_.begin(), waiting_.end(), [](const Message& a, const Message& b) {
      const MessageHeader &x = header(a), &y = header(b);
      if (x.arrival != y.arrival) return x.arrival < y.arrival;
      return x.link != y.link ? x.link < y.link : x.sequence < y.sequence;
    });
  }

  void advance(Time horizon) {
    std::vector<Message> now;
    while (!waiting_.empty() && header(waiting_.front()).arrival < horizon) {
      now.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
    std::vector<const MessageHeader*> inbox;
    for (const Message& m : now) inbox.push_back(&header(m));
    partition_->advance(horizon, inbox, outbox_);
    for (MessageBuffer& b : buffers_) {
      const std::byte* at = b.bytes().data();
      const std::byte* end = at + b.bytes().size();
      while (at != end) {
        const auto& h = *reinterpret_cast<const MessageHeader*>(at);
        Answer a;
        a.departure = h.arrival.femtoseconds() / period_.femtoseconds() - response_latency;
        a.kind = static_cast<MessageKind>(h.kind);
        if (a.kind == MessageKind::memory_response) a.response = h.body<MemoryResponse>();
        a.payload.assign(h.payload().begin(), h.payload().end());
        answers_.push_back(a);
        at += h.total_bytes();
      }
      b.clear();
    }
  }

  Time period_;
  std::vector<MessageBuffer> buffers_;
  Outbox outbox_;
  std::unique_ptr<MemoryPartition> partition_;
  std::deque<Message> waiting_;
  std::vector<Answer> answers_;
  std::uint32_t sequence_ = 0;
  std::int64_t reached_ = 0;
};

}  // namespace lockstep::test
