/// Shootdowns: translations that are taken away.
///
/// A shootdown drops the TLB entries of its pages and the L1 sectors of their frames and is
/// answered when all requests sent to the frames have their answers, whatever else is stalled.
/// Lines parked for the pages ask again.  Source: architecture.md, section 8, rule 7.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/memory/slot_pool.hpp"
#include "models/sm/l1/l1.hpp"
#include "models/sm/l1/outstanding_stores.hpp"
#include "models/sm/parameters/sm_context.hpp"
#include "models/sm/ports/sm_ports.hpp"
#include "models/sm/translation/translation.hpp"

namespace lockstep {

class Shootdowns {
 public:
  static constexpr std::uint16_t none = 0xffff;

  Shootdowns(const SmContext& sm, L1& l1, OutstandingStores& stores, Translation& translation)
      : constants_(sm.constants),
        statistics_(sm.statistics),
        ports_(sm.ports),
        l1_(l1),
        stores_(stores),
        translation_(translation) {}

  void begin(const PageSpan& span, std::span<const std::byte> entries, SmCycle now);
  /// Notes the answer of a request on which the shootdown waits.
  void request_done(std::uint16_t shootdown, SmCycle now);

  void serialize(Archive& archive) {
    archive.section("sm/shootdowns", 2);
    archive(open_);
  }

 private:
  /// A shootdown that waits for requests sent under it.
  struct Open {
    PageSpan span;
    std::uint32_t requests = 0;
    PageBits stored{};

    template <class A>
    void serialize(A& archive) {
      archive(span, requests, stored);
    }
  };

  /// Marks the requests sent to the frames.  Returns their number.
  std::uint32_t mark_requests(std::span<const std::uint64_t> frames, std::uint16_t shootdown);
  void answer(std::uint16_t shootdown, SmCycle now);

  const SmConstants& constants_;
  SmStatistics& statistics_;
  SmPorts& ports_;
  L1& l1_;
  OutstandingStores& stores_;
  Translation& translation_;
  SlotPool<Open> open_;
};

}  // namespace lockstep
