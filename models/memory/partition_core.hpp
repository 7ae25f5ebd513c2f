#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/engine/outbox.hpp"
#include "models/memory/l2/l2_bank.hpp"
#include "models/memory/memory_partition.hpp"
#include "models/memory/bytes/partition_memory.hpp"
#include "models/memory/bytes/pending_reads.hpp"
#include "models/noc/port.hpp"

namespace lockstep {

/// The inside of a MemoryPartition: bytes, receiving port, L2 banks, DRAM channel, sending port.
///
/// L2 cycles and DRAM commands are processed in order of time, the DRAM first at equal times;
/// cycles in which nothing can happen are skipped, and in the others the parts that are not due:
/// whoever makes a place free wakes who waits for it.  In an L2 cycle, in this order: arrivals
/// enter the sender FIFOs; free input registers take from them; the bank arbiter moves from
/// registers to bank queues; DRAM returns enter fill queues; banks fill, then look up; answers
/// enter the response queue, whose departures are known at once because nothing downstream blocks
/// it.  Source: memory-interference.md, section 1.2 (order of the steps).
class PartitionCore {
 public:
  PartitionCore(const MemoryParameters& parameters, const NocParameters& noc,
                const MemoryPolicies& policies, PartitionId index, const AddressMapping& mapping,
                const std::vector<Link>& to_sms, Link to_gmmu, Link to_host, std::size_t tenants);

  Time next_activity() const;
  void advance(Time horizon, Inbox inbox, Outbox& outbox);
  void serialize(Archive& archive);
  const PartitionStatistics& statistics() const { return statistics_; }
  std::size_t unanswered() const { return transactions_.used() + controls_.size(); }
  std::string waiting_for() const;

 private:
  struct Arrival {
    std::int64_t cycle = 0;
    std::uint32_t transaction = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(cycle, transaction);
    }
  };
  struct Return {
    std::int64_t cycle = 0;
    std::uint32_t owner = 0;
    std::uint8_t sectors = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(cycle, owner, sectors);
    }
  };
  /// An answer outside the L2: an inspection, or the end of a zeroing.
  struct Control {
    std::int64_t cycle = 0;
    std::uint32_t transaction = Transaction::none;
    ZeroRange range;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(cycle, transaction, range.base, range.bytes);
    }
  };
  static constexpr std::uint32_t bypass_owner = 0x8000'0000;
  static constexpr std::uint32_t bypass_target = 0xffff;
  static constexpr std::size_t returns_ahead = 3;  ///< fills whose data are fetched in advance

  std::int64_t cycle_at_or_after(Time t) const {
    return (t.femtoseconds() + period_.femtoseconds() - 1) / period_.femtoseconds();
  }
  Time edge(std::int64_t cycle) const { return period_ * cycle; }
  std::uint32_t bank_of(std::uint32_t line) const;
  /// Its place among the senders.
  std::uint32_t sender_of(const MemoryRequest& request) const {
    return request.requester >= gmmu_requester ? sms_ + 2 - (0x10000u - request.requester)
                                               : request.requester;
  }
  std::uint32_t request_flits(const MemoryRequest& request) const;

  // What arrives, before any cycle of the window (partition_arrivals.cpp).
  void accept(Inbox inbox);
  void accept(const MessageHeader& message);
  void accept_request(const MessageHeader& message);
  void accept_zero(const MessageHeader& message);
  void warm_requests(Inbox inbox) const;
  void check_owner(const MemoryRequest& request);
  void accept_store(std::uint32_t transaction, const std::byte* payload);
  /// Loads that are not answered yet get the bytes that lines have now.
  void read_pending(std::uint32_t first_line, std::uint32_t last_line);
  void read(std::uint32_t transaction, std::byte* out) const;
  std::uint64_t zero_owned(const ZeroRange& range);

  // A cycle of the L2.
  void step(Outbox& outbox);
  std::int64_t next_cycle() const;
  void send_controls(Outbox& outbox);
  void receive();
  void arbitrate();
  bool route(std::uint32_t transaction, std::uint32_t target);
  bool bypass(std::uint32_t transaction);
  void take_returns();
  void warm_returns() const;
  void warm_answers() const;
  void prefetch_return(std::size_t place) const;
  void run_banks();
  void expect_answer(std::int64_t cycle) { answer_due_ = std::min(answer_due_, cycle); }
  std::int64_t answer(Outbox& outbox);
  bool respond(std::uint32_t transaction, Outbox& outbox);
  void step_dram(Time last);
  void room_made(std::int64_t cycle);

  const MemoryParameters parameters_;
  const NocParameters noc_;
  const PartitionId index_;
  const AddressMapping mapping_;
  const Time period_;
  const std::uint32_t load_flits_;
  const std::uint32_t sms_;  ///< senders 0 to sms_ - 1; then the GMMU and the host
  Trunk to_sms_;             ///< all answers leave through one port, in one order
  Link to_gmmu_, to_host_;

  PartitionStatistics statistics_;
  PartitionMemory memory_;
  TransactionPool transactions_;
  PendingReads reads_;
  std::unique_ptr<CachePolicy> policy_;
  DramChannel dram_;
  const L2Context context_;
  std::vector<L2Bank> banks_;
  ReceivePort input_;
  SendPort output_;

  Ring<Arrival> arrivals_;
  Ring<Return> returns_;
  Ring<Control> controls_;
  Ring<L2Bank::Pending> bypass_answers_;
  Ring<std::int64_t> departures_;          ///< cycles in which the response queue's entries leave
  std::vector<std::uint32_t> unanswered_;  ///< by sender, for the check of credits
  /// Debug builds: the tenant of each frame, from its first access until it is zeroed.  Not part of
  /// a checkpoint: first accesses name the tenants anew.
  std::map<std::uint64_t, std::uint16_t> frame_owners_;
  Time last_host_departure_;
  std::int64_t cycle_ = L2Bank::idle;  ///< next L2 cycle with something to do
  // When each part is due.
  std::int64_t input_due_ = L2Bank::idle;    ///< the receiving port
  std::int64_t returns_due_ = L2Bank::idle;  ///< what DRAM read
  std::int64_t banks_due_ = L2Bank::idle;
  std::int64_t answer_due_ = L2Bank::idle;
  bool input_refused_ = false;          ///< a received packet waits for a place
  bool returns_refused_ = false;        ///< what DRAM read waits for a place
  std::uint8_t wanted_room_ = 0;        ///< DramRoom for which banks wait
  std::uint8_t input_wanted_room_ = 0;  ///< DramRoom for which a bypassing request waits
};

}  // namespace lockstep
