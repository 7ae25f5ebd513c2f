/// Output of answers: a queue that the banks fill in turn, whose port sends some flits per cycle.
///
/// The departure of an answer is known as soon as it is in the queue, because nothing downstream
/// blocks it.  Answers to CPU cores leave at once over a link of their own, as do answers to
/// requests past the L2 with `l2.bypass_path: own`; answers outside the L2
/// (inspections, the end of a zeroing or of a copy) leave in a cycle of their own.  The result of a
/// large inspection leaves in parts: it is not urgent, and messages should not hold all of it at
/// one time.
/// Source: memory-interference.md, section 1.2, step 8.
///
/// Simplified: the own link of answers past the L2 carries any number in a cycle.  The DRAM channel
/// reads less than a flit of `noc.flit_bytes` in a cycle on the machines that have bypasses.
#pragma once

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "core/engine/outbox.hpp"
#include "core/memory/ring.hpp"
#include "models/memory/bytes/partition_bytes.hpp"
#include "models/memory/copy_stretches.hpp"
#include "models/memory/partition_banks.hpp"
#include "models/noc/noc_parameters.hpp"
#include "models/noc/port.hpp"
#include "models/noc/request_sources.hpp"

namespace lockstep {

class PartitionAnswers {
 public:
  PartitionAnswers(const L2Parameters& l2, L2Clock clock, const NocParameters& noc,
                   RequestSources& sources, TransactionPool& transactions, PartitionBytes& bytes,
                   CopyStretches& stretches, PartitionStatistics& statistics,
                   PartitionAgenda& agenda);

  /// Adds the answer to an inspection, a zeroing or a copy, which leaves in a cycle of its own.
  void add_inspected(std::uint32_t transaction) {
    add({transactions_[transaction].arrival, transaction, {}, {}});
  }
  void add_inspected(const InspectedRange& range, std::deque<InspectedLine> lines, L2Cycle cycle) {
    if (inspected_.empty()) next_inspected_ = std::max(next_inspected_, cycle);
    inspected_.push_back({range, std::move(lines)});
    wake_controls();
  }
  void add_zeroed(const ZeroRange& range, L2Cycle cycle) {
    add({cycle, Transaction::none, range, {}});
  }
  void add_copied(const PageCopy& copy, L2Cycle cycle) {
    add({cycle, Transaction::none, {}, copy});
  }
  void send_controls(L2Cycle now, Outbox& outbox);

  /// Banks in turn put an answer each into the response queue.
  void collect(PartitionBanks& banks, L2Cycle now, Outbox& outbox);

  /// Returns whether no component waits for an answer.
  bool idle() const { return controls_.empty(); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(port_, last_tenant_, departures_, controls_, inspected_, next_inspected_);
  }

 private:
  struct Inspected {
    InspectedRange range;
    std::deque<InspectedLine> lines;  ///< lines that have not left yet
    template <class Archive>
    void serialize(Archive& archive) {
      archive(range, lines);
    }
  };
  struct Control {
    L2Cycle cycle;
    std::uint32_t transaction = Transaction::none;
    ZeroRange range;  ///< 0 bytes: a page was copied
    PageCopy copy;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(cycle, transaction, range, copy);
    }
  };

  void add(const Control& control) {
    controls_.push(control);
    wake_controls();
  }
  void wake_controls() {
    agenda_.controls = controls_.empty() ? L2Cycle::never() : controls_.front().cycle;
    if (!inspected_.empty()) agenda_.controls = std::min(agenda_.controls, next_inspected_);
  }
  void send_inspected(L2Cycle now, Outbox& outbox);
  /// Puts an answer past the banks into the response queue; returns when the next one is ready.
  L2Cycle collect_past(Ring<L2Bank::Pending>& answers, L2Cycle now, Outbox& outbox);
  /// Sends the answers that are ready at once; returns the cycle in which the next one is.
  L2Cycle send_at_once(Ring<L2Bank::Pending>& answers, L2Cycle now, Outbox& outbox);
  bool full() const { return departures_.size() >= queue_; }
  /// Sends the answer through the port, behind earlier ones.
  void respond_in_turn(const L2Bank::Pending& answer, L2Cycle now, Outbox& outbox);
  void respond(std::uint32_t transaction, L2Cycle departure, Outbox& outbox);
  /// Acknowledges a line of a stretch.
  void acknowledge(const Transaction& t, L2Cycle departure, Outbox& outbox);

  const std::uint32_t queue_;
  const bool past_queue_;  ///< answers to requests past the L2 do not pass the response queue
  const L2Clock clock_;
  const NocParameters noc_;
  RequestSources& sources_;
  TransactionPool& transactions_;
  PartitionBytes& bytes_;
  CopyStretches& stretches_;
  PartitionStatistics& statistics_;
  PartitionAgenda& agenda_;

  SendPort port_;
  std::uint16_t last_tenant_ = 0;  ///< tenant of the last answer that the port has sent
  Ring<L2Cycle> departures_;       ///< departures of the answers in the response queue
  Ring<Control> controls_;
  std::deque<Inspected> inspected_;
  L2Cycle next_inspected_{};  ///< cycle before which no further line leaves
};

}  // namespace lockstep
