#pragma once

#include "core/time/clock_cycle.hpp"
#include "core/time/time.hpp"
#include "models/noc/hub_parameters.hpp"
#include "models/noc/port.hpp"

namespace lockstep {

/// Sending end of a link to or from the hub of a GPC: packets leave in order, each at an edge of
/// the network's clock.
class ClusterPort {
 public:
  ClusterPort() = default;
  explicit ClusterPort(const HubParameters& parameters)
      : port_(half_cycles),
        flit_half_cycles_(parameters.flit_half_cycles),
        multicast_half_cycles_(parameters.multicast_half_cycles) {}

  /// Returns when the next packet leaves, which is ready at `now`.
  Time reserve(std::uint32_t flits, Time now, const Clock& clock, bool multicast = false) {
    const std::int64_t ready = clock.cycle_at_or_after(now).count();
    const std::uint32_t each = multicast ? multicast_half_cycles_ : flit_half_cycles_;
    return clock.edge(Cycles{port_.reserve(ready, flits * each)});
  }
  /// Returns the number of whole cycles for which `flits` flits occupy the port.
  std::uint32_t cycles(std::uint32_t flits) const {
    return (flits * flit_half_cycles_ + half_cycles - 1) / half_cycles;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(port_);
  }

 private:
  static constexpr std::uint32_t half_cycles = 2;  ///< half cycles in a cycle

  SendPort port_{half_cycles};
  std::uint32_t flit_half_cycles_ = 1, multicast_half_cycles_ = 1;
};

}  // namespace lockstep
