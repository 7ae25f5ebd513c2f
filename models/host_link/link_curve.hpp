/// How long a direction of the host link is taken by a transfer, by its size.
///
/// measured: the five points of PCIe 3.0 x16 (001, Table 1), between them the bandwidth is linear
/// in the logarithm of the size; as long as 4 KiB below that, the last bandwidth above 1 MiB.
/// affine: a set-up time and a bandwidth.  atan: 2a/pi * atan(b * KiB), the form of the public
/// UVMSmart simulator.  Source: virtual-memory-and-exceptions.md, section 4.
///
/// Simplified: the atan form does not halve its bandwidth from 2 MiB on; the measured times are
/// from end to end; the latency of the link is added to them.
#pragma once

#include <cstdint>

#include "core/time/time.hpp"
#include "models/host_link/host_parameters.hpp"

namespace lockstep {

class LinkCurve {
 public:
  explicit LinkCurve(const HostParameters& parameters) : parameters_(parameters) {}

  /// Returns the duration of a transfer: never shorter for a larger one, and the same bits on every
  /// computer.
  Time duration(std::uint64_t bytes) const;

 private:
  const HostParameters parameters_;
};

}  // namespace lockstep
