/// L2 banks of a partition, the DRAM channels behind them, and the paths that bypass the banks.
///
/// Requests go to a bank's queue, or bypass the banks into the DRAM queue.  Data from DRAM come
/// back to a bank's fill queue, or leave as an answer at once.
/// Source: memory-interference.md, section 1.2, steps 5 to 7, and 3.3.2 (past the L2).
#pragma once

#include <memory>
#include <vector>

#include "core/memory/ring.hpp"
#include "models/memory/bytes/partition_bytes.hpp"
#include "models/memory/express.hpp"
#include "models/memory/l2/l2_bank.hpp"
#include "models/memory/partition_agenda.hpp"
#include "models/noc/ids.hpp"

namespace lockstep {

class PartitionBanks {
 public:
  PartitionBanks(const MemoryParameters& parameters, PartitionId index, std::size_t tenants,
                 std::unique_ptr<CachePolicy> policy, std::unique_ptr<Replacement> replacement,
                 std::vector<std::unique_ptr<DramScheduler>> schedulers,
                 TransactionPool& transactions, PartitionStatistics& statistics,
                 PartitionAgenda& agenda);

  std::uint32_t count() const { return count_; }
  L2Bank& operator[](std::uint32_t bank) { return banks_[bank]; }
  const L2Bank& operator[](std::uint32_t bank) const { return banks_[bank]; }
  std::uint32_t bank_of(std::uint32_t line) const {
    return (line ^ line >> 3 ^ line >> 7 ^ line >> 12) & (count() - 1);
  }

  /// Returns whether a request that arrives goes past the banks.
  bool sends_past(const Transaction& transaction, L2Cycle now) {
    return policy_->has(CachePolicy::admits) && policy_sends_past(transaction, now);
  }
  /// Returns whether the policy sends every request through its bank.
  bool admits_all() const { return !policy_->has(CachePolicy::admits); }
  /// Enters a request.  Both functions return false without room: in the bank's queue, or in the
  /// DRAM queue.
  bool push(std::uint32_t bank, std::uint32_t transaction, std::uint16_t tenant, L2Cycle now) {
    L2Bank& b = banks_[bank];
    if (!b.has_room()) return false;
    b.push(transaction, tenant, now);
    PartitionAgenda::wake(agenda_.banks, b.due());
    return true;
  }
  /// Returns whether a request that comes alone may enter the bank's queue ahead of time: at `now`,
  /// for the cycle `received`.
  bool takes_ahead(std::uint32_t bank, L2Cycle now, L2Cycle received, Time end) const {
    const L2Bank& b = banks_[bank];
    if (received == now) return b.has_room();
    return b.is_empty() && context_.clock.edge(received) < end;
  }
  /// Enters a request that takes_ahead() has let through, and serves it at once if nothing can
  /// happen before.
  void push_express(std::uint32_t bank, std::uint32_t transaction, std::uint16_t tenant,
                    L2Cycle received, const KnownArrivals& known);
  bool push_past(std::uint32_t transaction, L2Cycle now);
  /// Returns whether a load finds its sectors in a copy of a line from the other half of L2.
  bool use_copy(const Transaction& t) {
    return banks_[t.bank].use_copy(context_, t.request, t.line);
  }
  /// Keeps a copy of a line that was requested from the other half of L2.
  void keep_copy(const Transaction& transaction, L2Cycle now) {
    banks_[transaction.bank].keep_copy(context_, transaction, now);
  }

  /// Moves lines that DRAM has read to the fill queues.
  void take_returns(L2Cycle now);
  /// Runs a cycle of the banks that are due, beginning with another bank each time; returns whether
  /// a request queue has a place now.
  bool run(L2Cycle now);
  Time next_command() const { return dram_.next_activity(); }
  /// Runs DRAM commands up to `last`, until a request leaves a channel.
  const DramChannel::Step& step_dram(Time last);

  /// Returns the bits of DramRoom for the directions in which a DRAM queue may take a request now.
  unsigned room() const {
    unsigned room = 0;
    if (dram_.may_have_room(false)) room |= read_room;
    if (dram_.may_have_room(true)) room |= write_room;
    return room;
  }
  /// Lets waiting requests ask again, because the policies have been told new values.
  void policies_changed(L2Cycle cycle) {
    dram_.look_again(context_.clock.edge(cycle));
    room_made(read_room | write_room, cycle);
  }
  CachePolicy& cache_policy() { return *policy_; }
  const Replacement& replacement() const { return *replacement_; }
  DramChannels& dram() { return dram_; }

  void room_made(unsigned room, L2Cycle cycle);
  unsigned wanted_room() const { return wanted_room_; }

  /// Answers to requests that bypassed the banks, for the GPU and for CPU cores; each bank holds
  /// its own answers.
  Ring<L2Bank::Pending>& answers_past() { return answers_past_; }
  Ring<L2Bank::Pending>& answers_to_cpu() { return answers_to_cpu_; }
  /// Returns when a bank's first answer to a lookup (0) or behind a fill (1) is ready.
  L2Cycle answer_due(std::uint32_t bank, unsigned source) const {
    return answers_due_[2 * bank + source];
  }
  /// Notes that an answer left: its bank may go on.  Returns when the next one is ready.
  L2Cycle answer_left(std::uint32_t bank, unsigned source, L2Cycle now) {
    L2Bank& b = banks_[bank];
    b.pop_answer(source, now);
    PartitionAgenda::wake(agenda_.banks, b.due());
    return answers_due_[2 * bank + source] = b.answer_due(source);
  }
  /// Prefetches the words that coming fills will touch, and those of answers that have not left
  /// yet.
  void warm_returns(const PartitionBytes& bytes) const;
  void warm_answers(const PartitionBytes& bytes) const;

  /// Returns a text such as "3 in the DRAM queue, lines owed per bank: 1 0".
  std::string waiting() const;
  void serialize(Archive& archive);

 private:
  struct Return {
    L2Cycle cycle;
    std::uint32_t owner = 0;
    std::uint8_t sectors = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(cycle, owner, sectors);
    }
  };
  /// Owner of a DRAM request that bypassed the banks: its transaction with this bit.
  static constexpr std::uint32_t owner_past = 0x8000'0000;
  static constexpr std::size_t returns_ahead = 3;  ///< fills whose data are fetched in advance

  void add_answer_past(std::uint32_t transaction, L2Cycle ready) {
    const bool cpu = transactions_[transaction].request.source == SourceKind::cpu;
    (cpu ? answers_to_cpu_ : answers_past_).push({transaction, ready});
    PartitionAgenda::wake(agenda_.answers, ready);
  }
  bool policy_sends_past(const Transaction& transaction, L2Cycle now);
  /// Runs a cycle of one bank; returns whether its request queue has a place now.
  bool run(L2Bank& bank, L2Cycle now);
  /// Notes when the first answers of a bank are ready.  Returns the earlier of both cycles.
  L2Cycle note_answers(const L2Bank& bank) {
    const L2Cycle of_lookup = bank.answer_due(0), of_fill = bank.answer_due(1);
    const auto place = static_cast<std::size_t>(&bank - banks_.data());
    answers_due_[2 * place] = of_lookup;
    answers_due_[2 * place + 1] = of_fill;
    return std::min(of_lookup, of_fill);
  }
  void prefetch_return(std::size_t place) const;

  const std::uint32_t count_;
  const Cycles path_latency_;
  TransactionPool& transactions_;
  PartitionStatistics& statistics_;
  PartitionAgenda& agenda_;
  std::unique_ptr<CachePolicy> policy_;
  std::unique_ptr<Replacement> replacement_;
  DramChannels dram_;
  const L2Context context_;
  std::vector<L2Bank> banks_;
  /// Cycle in which the first answer of each bank is ready: to a lookup, then behind a fill.
  std::vector<L2Cycle> answers_due_;
  Ring<Return> returns_;
  Ring<L2Bank::Pending> answers_past_, answers_to_cpu_;
  bool returns_refused_ = false;  ///< data from DRAM wait for a place
  std::uint8_t wanted_room_ = 0;  ///< bits of DramRoom for which banks wait
};

}  // namespace lockstep
