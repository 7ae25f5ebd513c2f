/// Time for which a transfer occupies a direction of the host link, by its size.
///
/// measured: the five points of PCIe 3.0 x16 (001, Table 1).  Between them the bandwidth is linear
/// in the logarithm of the size; smaller transfers take as long as 4 KiB, and larger ones than 1
/// MiB have the last bandwidth. affine: a set-up time and a bandwidth.  atan: 2a/pi * atan(b *
/// KiB), the form of the public UVMSmart simulator.  Source: virtual-memory-and-exceptions.md,
/// section 4.
///
/// Simplified: the atan form does not halve its bandwidth from 2 MiB on; the measured times, which
/// are end to end, get the latency of the link in addition.
#pragma once

#include <cstdint>

#include "core/time/time.hpp"
#include "models/host_link/host_parameters.hpp"

namespace lockstep {

class LinkCurve {
 public:
  explicit LinkCurve(const HostParameters& parameters) : parameters_(parameters) {}

  /// Returns the duration of a transfer, the same bits on every computer.  A larger transfer is
  /// never shorter.
  Time duration(std::uint64_t bytes) const;

 private:
  const HostParameters parameters_;
};

}  // namespace lockstep
