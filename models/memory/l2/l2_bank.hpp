#pragma once

#include <algorithm>
#include <cstdint>

#include "core/memory/ring.hpp"
#include "models/memory/bytes/transaction.hpp"
#include "models/memory/cache_policy/cache_policy.hpp"
#include "models/memory/dram_channels.hpp"
#include "models/memory/l2/l2_mshrs.hpp"
#include "models/memory/l2/l2_tags.hpp"
#include "models/memory/l2_clock.hpp"
#include "models/memory/memory_parameters.hpp"
#include "models/memory/replacement/replacement.hpp"

namespace lockstep {

/// Room for reads or writes in the queue of a DRAM channel, one bit each.
enum DramRoom : std::uint8_t { read_room = 1, write_room = 2 };

/// State that the banks of a partition share.
struct L2Context {
  const L2Parameters parameters;
  L2Clock clock;
  TransactionPool& transactions;
  DramChannels& dram;
  CachePolicy& policy;
  Replacement& replacement;
  PartitionStatistics& statistics;
};

/// Decision of the policy on a line that comes in: asked once, also if the line has to wait.
struct LineDecision {
  CacheInsertion ask(const L2Context& context, const MemoryRequest& request, std::uint32_t line,
                     L2Cycle cycle) {
    if (!context.policy.has(CachePolicy::inserts)) return {};
    if (!made) insertion = context.policy.on_insertion(request, line, context.clock.edge(cycle));
    made = true;
    return insertion;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(made, insertion.allocate, insertion.position, insertion.line_class);
  }

  bool made = false;
  CacheInsertion insertion;
};

/// A bank of an L2 slice: request queue, tags, MSHRs, fill queue and the answers on their way.
///
/// Its two step functions act in a cycle and return the cycle of their next call: a later cycle,
/// `blocked` when only another event (a free place) can help, or `idle`.
/// Source: memory-interference.md, section 1.2, steps 5 to 7; AMB-01 (a lookup per cycle).
///
/// Simplified: the bank has tags only; the partition has the bytes.  Lines are allocated when the
/// fill arrives, so that no set can be full of reservations.  A store to an absent sector needs no
/// DRAM read; it leaves a byte mask.  Fill and lookup have ports of their own.  A limit of dirty
/// lines (`l2.dirty_ways`: a Quadro GV100's counters show that half of its L2 stays dirty) holds in
/// each set, for stores; atomics may pass it.
class L2Bank {
 public:
  static constexpr L2Cycle idle = L2Cycle::never();
  static constexpr L2Cycle blocked = idle - 1;

  struct Pending {
    std::uint32_t transaction = 0;
    L2Cycle ready;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(transaction, ready);
    }
  };
  struct Fill {
    std::uint32_t mshr = 0;
    std::uint8_t sectors = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(mshr, sectors);
    }
  };

  /// `number` is the bank's place in the partition.
  L2Bank(const L2Parameters& parameters, std::uint32_t number, std::size_t tenants);

  bool has_room() const { return requests_.size() < queue_limit_; }
  void push(std::uint32_t transaction, std::uint16_t tenant, L2Cycle cycle) {
    if (requests_.empty()) wake(std::max(cycle + 1, busy_until_));
    requests_.push({transaction, cycle + 1});
    waits_.enter(tenant, cycle.value());
  }
  /// Returns whether no request and no fill waits, and the next request can be answered.
  bool is_empty() const {
    return requests_.empty() && fills_.empty() && answers_[0].size() < answer_limit_;
  }
  bool has_fill_room() const { return fills_.size() < fill_limit_; }
  void push_fill(const Fill& fill) {
    if (fills_.empty()) wake(fill_busy_until_);
    fills_.push(fill);
  }

  /// Returns the first cycle in which run() may have work, unless wake() is called before.
  L2Cycle due() const { return due_; }
  void wake(L2Cycle cycle) {
    if (cycle < due_) due_ = cycle;
  }
  /// Returns the directions in which the bank waits for room in the DRAM queue: DramRoom.
  unsigned wanted_room() const { return wanted_room_; }
  struct Progress {
    bool served = false, filled = false;  ///< true: a place became free in the queue
  };
  /// Runs a cycle: a fill, then a lookup.
  Progress run(const L2Context& context, L2Cycle cycle);

  /// Returns the answers of lookups (0) or of fills (1), each in order.
  const Ring<Pending>& answers(unsigned source) const { return answers_[source]; }
  void pop_answer(unsigned source, L2Cycle cycle) {
    answers_[source].pop();
    if (is_blocked() && stall_ == BankStall::responses) wake(cycle + 1);
  }
  /// Returns when the first answer is ready.
  L2Cycle answer_due(unsigned source) const {
    return answers_[source].empty() ? idle : answers_[source].front().ready;
  }

  /// Returns whether the bank holds newer bytes of these sectors than DRAM.
  bool has_dirty(std::uint32_t line, std::uint8_t sectors) const {
    const std::uint32_t place = tags_.find(line);
    return place != L2Tags::absent && (tags_[place].dirty & sectors) != 0;
  }
  // Copies of lines of the other half of L2 (l2_halves.hpp), stored among the bank's lines.
  /// Looks up the copy in this half. A load uses it; any other request removes it. Returns whether
  /// the copy answers.
  bool use_copy(const L2Context& context, const MemoryRequest& request, std::uint32_t line);
  void keep_copy(const L2Context& context, const Transaction& load, L2Cycle cycle);
  /// A store goes past the L2: a resident copy is updated at no cost.
  void probe_store(const L2Context& context, std::uint32_t transaction);

  std::uint32_t outstanding_lines() const { return mshrs_.used(); }
  const L2Tags& tags() const { return tags_; }
  void warm_tags(std::uint32_t line) const { tags_.warm_tags(line); }
  void warm_set(std::uint32_t line) const { tags_.warm_set(line); }
  bool has(std::uint32_t line) const { return tags_.find(line) != L2Tags::absent; }
  void warm_miss(std::uint32_t line) const { mshrs_.warm_for(line); }
  void warm_mshr(std::uint32_t mshr) const { warm(&mshrs_[mshr]); }
  std::uint32_t line_of(std::uint32_t mshr) const { return mshrs_[mshr].line; }
  /// Brings the data that the fill of an MSHR will touch into the cache.
  void warm_fill(const TransactionPool& transactions, std::uint32_t mshr) const {
    tags_.warm_set(mshrs_[mshr].line);
    transactions.warm(mshrs_[mshr].first);
  }
  /// Prefetches the state that the coming fill of an MSHR will touch.
  void prefetch_fill(const TransactionPool& transactions, std::uint32_t mshr) const {
    tags_.prefetch_victim(mshrs_[mshr].line);
    transactions.prefetch(mshrs_[mshr].first);
  }

  void serialize(Archive& archive);

 private:
  /// Bit of a tag that marks a copy.
  static constexpr std::uint32_t copy_bit = std::uint32_t{1} << 31;

  /// Puts the head of the fill queue into the tags and wakes the transactions that waited for it.
  L2Cycle fill(const L2Context& context, L2Cycle cycle);
  /// Serves the head of the request queue.
  L2Cycle serve(const L2Context& context, L2Cycle cycle);
  bool serve_read(const L2Context& context, std::uint32_t index, L2Cycle cycle);
  bool serve_store(const L2Context& context, std::uint32_t index, L2Cycle cycle);
  /// Notes in the tags that a store writes sectors of the line at `place`.
  void write_sectors(const TransactionPool& transactions, std::uint32_t index, std::uint32_t place,
                     std::uint8_t sectors, bool dirty);
  bool serve_miss(const L2Context& context, std::uint32_t index, std::uint8_t missing,
                  std::uint8_t valid, L2Cycle cycle);
  void finish_service(const L2Context& context, L2Cycle cycle);
  /// Notes that a lookup has found the line at `place`, which becomes the set's most recently used
  /// one.
  void use(const L2Context& context, const MemoryRequest& request, std::uint32_t place);
  CachePlace place_of(std::uint32_t place) const;
  std::uint32_t choose_victim(const L2Context& context, std::uint32_t line) const;
  /// Returns the place of the line of a full set that the policies let go.
  [[gnu::noinline]] std::uint32_t let_policies_choose(const L2Context& context,
                                                      std::uint32_t line) const;
  /// Makes place for a line; false when the victim's write has no room in the DRAM queue.
  bool allocate(const L2Context& context, std::uint32_t line, const MemoryRequest& request,
                const CacheInsertion& insertion, L2Cycle cycle, std::uint32_t& place);
  void answer_waiting(const L2Context& context, std::uint32_t mshr, std::uint8_t sectors,
                      std::uint32_t place, L2Cycle cycle);
  bool is_blocked() const { return blocked_since_ != not_blocked; }
  /// Returns the cycles in which the bank moves `sectors` sectors.
  std::int64_t beats(std::uint32_t sectors) const {
    return (std::int64_t{sectors} * 32 + (std::int64_t{1} << width_shift_) - 1) >> width_shift_;
  }
  bool stalled(BankStall cause, bool write = false) {
    stall_ = cause;
    stall_write_ = write;
    stall_fills_ = fills_done_;
    return false;
  }
  /// Returns whether the blocked head still waits for the same thing.
  bool still_stalled(const L2Context& context) const {
    if (stall_ == BankStall::responses) return answers_[0].size() >= answer_limit_;
    if (stall_fills_ != fills_done_) return false;
    return stall_ != BankStall::dram_queue || !context.dram.may_have_room(stall_write_);
  }
  /// Returns whether a fill of this line may let a blocked head go.  A read that waits for DRAM
  /// needs its own line; other heads wait for an MSHR or for a clean victim.
  bool may_help_head(const L2Context& context, std::uint32_t line) const {
    return !is_blocked() || stall_ != BankStall::dram_queue || stall_write_ ||
           context.transactions[requests_.front().transaction].line == line;
  }

  static constexpr L2Cycle not_blocked{-1};

  const std::uint32_t number_, queue_limit_, fill_limit_, answer_limit_, width_shift_;
  const std::uint32_t first_set_;  ///< first set of the bank among the sets of the partition
  L2Tags tags_;
  L2Mshrs mshrs_;
  Ring<Pending> requests_;
  Ring<Fill> fills_;
  std::array<Ring<Pending>, 2> answers_;
  WaitMeter waits_;
  L2Cycle due_ = idle;
  std::uint8_t wanted_room_ = 0;
  L2Cycle busy_until_, fill_busy_until_;
  L2Cycle blocked_since_ = not_blocked;
  BankStall stall_ = BankStall::mshrs;
  bool stall_write_ = false;  ///< the stalled request needs room for a write
  /// Number of fills; after each one a blocked head may hit, merge or miss.
  std::uint64_t fills_done_ = 0;
  std::uint64_t stall_fills_ = 0;  ///< value of fills_done_ when the head was last looked at
  std::uint16_t last_tenant_ = 0;
  LineDecision of_store_, of_fill_;  ///< decisions on the heads of the queues
};

}  // namespace lockstep
