/// Input of requests: a FIFO per sender, input registers, and the arbiter that moves requests to
/// the bank queues or past the banks.
///
/// A bypassing request enters the DRAM queue, through a queue of its own (`l2.bypass_queue`) if
/// there is one; without it a full DRAM queue also holds up requests that would hit.  With
/// `l2.bypass_path: own` it goes there as it arrives, and to the input registers only if that queue
/// is full.
/// Source: memory-interference.md, sections 1.2, steps 1 to 4, and 3.3.2 (the demultiplexer in
/// front of the bank arbiter, 004, section 4.3.2).
///
/// Simplified: any number of requests enter the bypass queue in a cycle by a path of their own.
#pragma once

#include <array>

#include "core/memory/ring.hpp"
#include "models/memory/bytes/transaction.hpp"
#include "models/memory/l2/l2_halves.hpp"
#include "models/memory/partition_agenda.hpp"
#include "models/memory/partition_banks.hpp"
#include "models/noc/noc_parameters.hpp"
#include "models/noc/port.hpp"
#include "models/noc/request_sources.hpp"
#include "models/noc/wait_meter.hpp"

namespace lockstep {

class PartitionInput {
 public:
  PartitionInput(const NocParameters& noc, const L2Parameters& l2, const L2Halves& halves,
                 RequestSources& sources, std::size_t tenants, TransactionPool& transactions,
                 PartitionBanks& banks, PartitionStatistics& statistics, PartitionAgenda& agenda,
                 bool express);

  /// A request of the inbox; arrivals come in order of time.
  void add(std::uint32_t transaction) {
    const L2Cycle arrival = transactions_[transaction].arrival;
    if (arrivals_.empty()) agenda_.arrivals = std::min(halves_.next(), arrival);
    arrivals_.push({arrival, transaction});
  }
  /// Fetches the words that the arrival of a request will write.
  void warm_arrival(const MemoryRequest& request, std::uint32_t transaction) const {
    port_.warm_arrival(sources_.place_of(request), transaction);
    sources_.warm_place(request);
  }

  /// Puts arrivals into the FIFOs of their senders.  All arrivals before `end` are known.
  void receive(L2Cycle now, Time end);
  /// Lets free input registers take requests and pass them to the banks.
  void arbitrate(L2Cycle now);
  /// The oldest request of the bypass queue enters the DRAM queue, if that has room.
  void pass(L2Cycle now);
  /// Returns whether bypassing requests go before those of the banks in this cycle: in one cycle of
  /// (number of banks + 1).
  bool passes_first(L2Cycle now) const { return now.value() % (banks_.count() + 1) == 0; }

  /// A bank's queue has a place from the next cycle on.
  void place_made(L2Cycle now) {
    if (refused_) PartitionAgenda::wake(agenda_.input, now + 1);
  }
  /// Notes that the DRAM queue may have room for requests of these kinds. `room`: a DramRoom for
  /// each kind.
  void room_made(unsigned room, L2Cycle cycle) {
    if ((wanted_room_ & room) == 0) return;
    PartitionAgenda::wake(bypass_places_ > 0 ? agenda_.bypasses : agenda_.input, cycle);
  }
  unsigned wanted_room() const { return wanted_room_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(arrivals_, halves_, port_, bypasses_, waits_, refused_, wanted_room_);
  }

 private:
  struct Arrival {
    L2Cycle cycle;
    std::uint32_t transaction = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(cycle, transaction);
    }
  };
  static constexpr std::uint32_t past_banks = 0xffff;

  /// Passes a request through the port at once (express.hpp).  For a request that has to queue, the
  /// function returns false and does nothing.
  bool goes_through(std::uint32_t index, Transaction& transaction, L2Cycle now, Time end);
  /// Returns whether the request comes from the half of L2 that has neither the line's home nor a
  /// copy.
  bool has_to_cross(Transaction& transaction);
  void enter(std::uint32_t transaction, L2Cycle now);
  bool route(std::uint32_t transaction, std::uint32_t target, L2Cycle now);
  bool push_past(std::uint32_t transaction, L2Cycle now);
  bool queue_past(std::uint32_t transaction, L2Cycle now);
  void took(std::uint16_t tenant, L2Cycle arrival, L2Cycle now);
  std::uint32_t flits(const MemoryRequest& request) const;

  const NocParameters noc_;
  std::array<std::uint32_t, 5> flits_;  ///< flits of a request with the bytes of 0 to 4 sectors
  const std::uint32_t bypass_places_;
  const bool past_ports_;  ///< requests past the L2 do not pass the input registers
  const bool express_;     ///< false: every request queues
  RequestSources& sources_;
  TransactionPool& transactions_;
  PartitionBanks& banks_;
  PartitionStatistics& statistics_;
  PartitionAgenda& agenda_;

  Ring<Arrival> arrivals_;
  L2Halves halves_;
  ReceivePort port_;
  Ring<std::uint32_t> bypasses_;  ///< transactions between the port and the DRAM queue
  ServerWaits waits_;
  bool refused_ = false;          ///< a received request waits for a place
  std::uint8_t wanted_room_ = 0;  ///< bits of DramRoom for which a bypassing request waits
};

}  // namespace lockstep
