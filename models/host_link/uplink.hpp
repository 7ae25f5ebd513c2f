/// A link of the PCIe tree that several GPUs share: all traffic of their own links goes over it,
/// too.
///
/// Lines of transfers and bytes of remote accesses take a direction one after the other, in the
/// order in which they ask for it.  Each link asks for one line at a time, so that links which all
/// have something to send take turns.
///
/// Simplified: a line asks when the one before it has left, not when it arrives at the uplink, and
/// the uplink adds no latency of its own to that of the host link.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/parameters/parameters.hpp"
#include "core/statistics/statistics.hpp"
#include "models/host_link/host_parameters.hpp"

namespace lockstep {

/// An entry of `host.uplinks`.
struct UplinkParameters {
  std::vector<std::uint32_t> gpus;
  Bandwidth bandwidth;
  Time latency;

  static auto schema() {
    using namespace literals;
    using P = UplinkParameters;
    return parameters<P>()
        .required("gpus", &P::gpus, range(0, 65535), "numbers of the GPUs whose links meet there",
                  "GPUs")
        .required("bandwidth", &P::bandwidth, range(Bandwidth{1e6}, Bandwidth{1e13}),
                  "bandwidth of each direction, for all of them together")
        .field("latency", &P::latency, 0_ns, range(0_ns, 1_ms),
               "time that the uplink adds to host.link_latency, each way, such as a way between "
               "sockets");
  }
};

/// Reads `host.uplinks` of a machine with `gpus` GPUs.  Throws UserError for a GPU that does not
/// exist, or is behind two uplinks.
std::vector<UplinkParameters> read_uplinks(const HostParameters& host, std::size_t gpus);

/// Returns the uplink behind which a GPU stands; nullptr: none.
const UplinkParameters* uplink_of(const std::vector<UplinkParameters>& uplinks, std::uint32_t gpu);

/// Direction of an uplink.
struct UplinkStatistics {
  PerTenant<Counter> bytes, busy_time, queue_time;
  PerTenantPair wait_behind;

  static auto schema() {
    using S = UplinkStatistics;
    return statistics<S>()
        .per_tenant("bytes", &S::bytes, "bytes",
                    "bytes that were sent; instances 0, 2, ... are the directions to the host, and "
                    "1, 3, ... the directions to the GPUs")
        .per_tenant("busy_time", &S::busy_time, "fs", "time for which the direction was busy")
        .per_tenant("queue_time", &S::queue_time, "fs", "time of waiting for the direction, summed")
        .per_tenant_pair("wait_behind", &S::wait_behind, "fs",
                         "time for which lines of the first tenant waited while a line of the "
                         "second took the uplink");
  }
};

class Uplink {
 public:
  Uplink(Bandwidth bandwidth, std::size_t tenants);

  /// Takes a direction for bytes of a tenant, behind earlier bytes. Returns when the bytes are
  /// through.
  Time take(bool to_gpu, Time now, std::uint64_t bytes, std::uint32_t tenant);
  const UplinkStatistics& statistics(bool to_gpu) const { return directions_[to_gpu].statistics; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(directions_);
  }

 private:
  struct Direction {
    Time free;               ///< time at which all earlier bytes are through
    std::uint32_t last = 0;  ///< tenant of the last bytes
    UplinkStatistics statistics;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(free, last, statistics);
    }
  };

  const double bytes_per_second_;
  std::array<Direction, 2> directions_;  ///< directions to the host and to the GPUs
};

/// Uplink of a GPU's link, if it has one, and the numbers of the GPU's tenants in that uplink.
struct UplinkPort {
  Uplink* uplink = nullptr;
  std::vector<std::uint32_t> tenants = {};

  explicit operator bool() const { return uplink != nullptr; }
  Time take(bool to_gpu, Time now, std::uint64_t bytes, std::uint32_t tenant) const {
    return uplink->take(to_gpu, now, bytes, tenants[tenant]);
  }
};

}  // namespace lockstep
