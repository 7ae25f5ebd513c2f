#pragma once

#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "models/memory/cache_policy/cache_policy.hpp"
#include "models/memory/dram_scheduler/dram_scheduler.hpp"
#include "models/memory/memory_partition.hpp"
#include "models/memory/partition_statistics.hpp"
#include "tests/harness/message_sink.hpp"

namespace lockstep::test {

/// A machine small enough to count its cycles by hand: L2 and DRAM at 1 GHz, one bank, no refresh.
MemoryParameters small_memory();

/// What stands at the plug points of a partition; lru, fr-fcfs and lru where nothing is said.
struct PartitionPolicies {
  std::unique_ptr<CachePolicy> cache_policy = {};
  std::unique_ptr<DramScheduler> dram_scheduler = {};
  std::unique_ptr<Replacement> replacement = {};
};

/// Hand-made inboxes for one partition, and what it answers.
class PartitionBench {
 public:
  static constexpr std::int64_t request_latency = 20, response_latency = 10;
  static constexpr std::uint32_t sms = 4;
  /// Senders of a kind that no SM number covers, with credits.
  static constexpr SourceKind engine{4};
  static constexpr std::uint32_t engines = 2, engine_credits = 3, cores = 2;

  using Policies = PartitionPolicies;

  struct Answer {
    std::int64_t departure = 0;  ///< L2 cycle
    std::uint32_t receiver = 0;  ///< place among the senders
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
                          std::size_t tenants = 2, Policies policies = {},
                          const HalfParameters& halves = defaults<HalfParameters>(),
                          bool express = true);
  ~PartitionBench();

  MemoryPartition& partition() { return *partition_; }
  const PartitionStatistics& statistics();
  Time time(std::int64_t cycle) const { return period_ * cycle; }

  static MemoryRequest request(MemoryOperation operation, std::uint64_t address,
                               std::uint8_t sectors = 1, std::uint32_t tag = 0,
                               std::uint16_t requester = 0);

  /// A message that arrives at `cycle`.
  void send(std::int64_t cycle, const MemoryRequest& request,
            const std::vector<std::byte>& payload = {});
  void load(std::int64_t cycle, std::uint64_t address, std::uint8_t sectors = 1,
            std::uint32_t tag = 0, std::uint16_t requester = 0);
  /// Stores the same 32-bit value in every word of the masked bytes of the sectors.
  void store(std::int64_t cycle, std::uint64_t address, std::uint32_t value,
             std::uint32_t mask = ~0u, std::uint8_t sectors = 1, std::uint32_t tag = 0,
             std::uint16_t requester = 0);
  void atomic_add(std::int64_t cycle, std::uint64_t address, std::vector<std::uint32_t> values,
                  std::uint32_t tag = 0, std::uint16_t requester = 0);
  void zero(std::int64_t cycle, std::uint64_t base, std::uint64_t bytes);
  void inspect(std::int64_t cycle, std::uint64_t base, std::uint64_t bytes);
  /// A grid of tenant 0 begins or ends.
  void mark(std::int64_t cycle, MessageKind kind, std::uint32_t grid);

  /// Advances to `cycle` in windows of `window` cycles.
  void run_to(std::int64_t cycle, std::int64_t window = 1 << 30);
  /// Until nothing is left to do.
  void run();
  const std::vector<Answer>& answers() const { return answers_; }
  /// The answer with a tag; the test fails if there is none.
  Answer answer(std::uint32_t tag) const;
  std::int64_t departure(std::uint32_t tag) const { return answer(tag).departure; }
  std::int64_t reached() const { return reached_; }
  /// Of the messages not yet delivered.
  std::int64_t last_arrival() const;

  std::string save();
  void restore(const std::string& state);

 private:
  using Message = std::vector<std::uint64_t>;
  static const MessageHeader& header(const Message& message) {
    return *reinterpret_cast<const MessageHeader*>(message.data());
  }

  template <class Body>
  void post(std::int64_t cycle, MessageKind kind, const Body& body,
            const std::vector<std::byte>& payload, std::uint16_t sender);
  void advance(Time horizon);

  Time period_;
  MessageSink sent_;
  std::unique_ptr<MemoryPartition> partition_;
  std::deque<Message> waiting_;
  std::vector<Answer> answers_;
  std::uint32_t sequence_ = 0;
  std::int64_t reached_ = 0;
};

}  // namespace lockstep::test
