/// Input of CPU cores' requests: a FIFO for each core, directly in front of the DRAM controller.
///
/// CPU cores share no cache with the GPU; they meet at the controller.  In each cycle it takes one
/// request, of the next core in turn whose request it has room for.  A request without room holds
/// up neither other cores nor the GPU.
/// Source: 004, sections 5.1 and 5.2; memory-interference.md, sections 1.1 and 4.3.
#pragma once

#include <vector>

#include "core/memory/ring.hpp"
#include "models/memory/bytes/transaction.hpp"
#include "models/memory/partition_agenda.hpp"
#include "models/memory/partition_banks.hpp"
#include "models/noc/request_sources.hpp"

namespace lockstep {

class ControllerInput {
 public:
  ControllerInput(RequestSources& sources, TransactionPool& transactions, PartitionBanks& banks,
                  PartitionAgenda& agenda)
      : sources_(sources),
        transactions_(transactions),
        banks_(banks),
        agenda_(agenda),
        fifos_(sources.count_of(SourceKind::cpu)) {}

  /// A request of the inbox; arrivals come in order of time.
  void add(std::uint32_t transaction) {
    arrivals_.push(transaction);
    PartitionAgenda::wake(agenda_.controller, transactions_[transaction].arrival);
  }
  /// Moves arrivals into the FIFOs of their cores, and one request into the controller.
  void run(L2Cycle now);

  /// The DRAM queue may have room; a DramRoom each.
  void room_made(unsigned room, L2Cycle cycle) {
    if ((wanted_room_ & room) != 0) PartitionAgenda::wake(agenda_.controller, cycle);
  }
  unsigned wanted_room() const { return wanted_room_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(arrivals_, fifos_, waiting_, turn_, wanted_room_);
  }

 private:
  void receive(L2Cycle now);
  /// Offers a request. Returns whether the controller took one.
  bool offer(L2Cycle now);

  RequestSources& sources_;
  TransactionPool& transactions_;
  PartitionBanks& banks_;
  PartitionAgenda& agenda_;

  Ring<std::uint32_t> arrivals_;            ///< numbers of transactions
  std::vector<Ring<std::uint32_t>> fifos_;  ///< queue of each core
  std::uint32_t waiting_ = 0;               ///< requests in the queues
  std::uint32_t turn_ = 0;                  ///< core that is asked first
  std::uint8_t wanted_room_ = 0;            ///< bits of DramRoom for which requests wait
};

}  // namespace lockstep
