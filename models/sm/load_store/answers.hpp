/// Answers: fills, acknowledgements, results of atomics.
///
/// The SM touches bytes in the order in which messages arrive.  When the bytes can be used follows
/// from the reception port and the fill latency.
/// Source: architecture.md, section 8, rules 1, 3, 4 and 5.
#pragma once

#include <cstdint>

#include "core/engine/component.hpp"
#include "models/noc/messages.hpp"
#include "models/sm/l1/l1.hpp"
#include "models/sm/l1/outstanding_stores.hpp"
#include "models/sm/load_store/context_answers.hpp"
#include "models/sm/load_store/fetch_answers.hpp"
#include "models/sm/load_store/flights.hpp"
#include "models/sm/parameters/sm_context.hpp"
#include "models/sm/translation/shootdowns.hpp"

namespace lockstep {

class Answers {
 public:
  Answers(const SmContext& sm, FrontEnd& front_end, L1& l1, OutstandingStores& stores,
          Shootdowns& shootdowns, Flights& flights, ContextAnswers& contexts, FetchAnswers& code,
          FetchAnswers& constant_cache)
      : constants_(sm.constants),
        blocks_(sm.blocks),
        ports_(sm.ports),
        front_end_(front_end),
        l1_(l1),
        stores_(stores),
        shootdowns_(shootdowns),
        flights_(flights),
        contexts_(contexts),
        code_(code),
        constant_cache_(constant_cache) {}

  void receive(const MessageHeader& message, SmCycle now);
  /// Fetches into the cache the state that the answers of a window will touch.
  void warm_for(Inbox inbox) const;

 private:
  struct Batch;

  void fill(const MemoryResponse& response, std::uint16_t miss, const std::byte* payload,
            SmCycle usable, SmCycle now);
  void hand_over(std::uint16_t waiter, std::uint8_t sectors, const std::byte* line, SmCycle now);
  void atomic_done(std::uint16_t waiter, const std::byte* payload, SmCycle usable, SmCycle now);
  void acknowledged(std::uint16_t store, SmCycle now);
  /// A store of a block that has left is acknowledged.
  void acknowledged_late(std::uint8_t grid, SmCycle now);
  void warm_for(const Batch& batch) const;

  const SmConstants& constants_;
  ResidentBlocks& blocks_;
  SmPorts& ports_;
  FrontEnd& front_end_;
  L1& l1_;
  OutstandingStores& stores_;
  Shootdowns& shootdowns_;
  Flights& flights_;
  ContextAnswers& contexts_;
  FetchAnswers& code_;
  FetchAnswers& constant_cache_;
};

}  // namespace lockstep
