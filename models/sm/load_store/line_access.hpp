/// Access of a memory instruction to one line: L1 and requests.
///
/// Global data is written through: a store updates valid sectors and goes on with a byte mask.  A
/// store, atomic or bypassing access to a sector whose fill is pending closes that miss.  Loads of
/// sectors that have been requested join the outstanding miss.  A local load of a sector that is
/// only partly dirty first sends the dirty bytes to L2 and then requests the sector; both go
/// through the same queue, so the answer holds them.
/// Source: architecture.md, section 8, rules 1 to 3, 8 and 11.
#pragma once

#include <cstdint>

#include "models/sm/access/access.hpp"
#include "models/sm/l1/l1.hpp"
#include "models/sm/l1/outstanding_stores.hpp"
#include "models/sm/load_store/flights.hpp"
#include "models/sm/parameters/sm_context.hpp"

namespace lockstep {

class LineAccess {
 public:
  LineAccess(const SmContext& sm, L1& l1, OutstandingStores& stores, Flights& flights)
      : constants_(sm.constants),
        statistics_(sm.statistics),
        blocks_(sm.blocks),
        ports_(sm.ports),
        l1_(l1),
        stores_(stores),
        flights_(flights) {}

  /// Accesses the line `group`, whose translation is there.  Returns false without room; the caller
  /// tries again later.
  bool process(const Access& access, unsigned group, PhysicalAddress physical, bool in_host,
               SmCycle now);
  /// Returns a number that changes when the lines in L1 may be out of date.
  std::uint32_t epoch() const { return l1_.cache().epoch(); }

 private:
  /// A line and its place.
  struct Target {
    const Access& access;
    const LineGroup& group;
    PhysicalAddress physical;
    bool in_host;

    std::uint64_t tag() const { return physical.value() / line_bytes; }
  };

  /// Returns where the line's requests go.
  Destination destination_of(const Target& target) const {
    return ports_.destination_of(target.physical, target.in_host);
  }
  bool load(const Target& target, SmCycle now);
  /// Joins the line's fill with the missing sectors, or begins it.
  bool miss(const Target& target, std::uint16_t line, std::uint8_t missing, SmCycle now);
  /// Returns whether a load must not use L1, or cannot (host memory).
  bool bypass(const Target& target, SmCycle now);
  bool store(const Target& target, SmCycle now);
  bool store_local(const Target& target, SmCycle now);
  bool atomic(const Target& target, SmCycle now);
  std::uint16_t make_waiter(const Target& target, std::uint8_t missing);
  std::uint16_t add_store(const Target& target);
  void hand_over(const Target& target, std::uint32_t lanes, const std::byte* line);
  void fill_request(MemoryRequest& request, const Target& target, MemoryOperation operation,
                    std::uint8_t sectors, std::uint32_t tag, SmCycle now);

  void mark(MemoryRequest& request, const Access& access, SmCycle now);

  const SmConstants& constants_;
  SmStatistics& statistics_;
  ResidentBlocks& blocks_;
  SmPorts& ports_;
  L1& l1_;
  OutstandingStores& stores_;
  Flights& flights_;
};

}  // namespace lockstep
