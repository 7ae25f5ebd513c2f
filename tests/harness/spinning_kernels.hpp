#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

/// A kernel `k(a)` whose lanes wait for other lanes of their warp; it ends only if all get to run.
struct SpinningKernel {
  std::string name;
  std::string ptx;
  std::uint32_t threads = 32;
  std::vector<std::uint32_t> expected;  ///< the first words of `a`, which is zero before
};

/// PTX of `k(a)` with this body: %rd1 is `a`, %r1 the thread, %rd3 the address of a[thread];
/// %r0-29, %rd0-9 and %p0-9 are declared.
std::string spinning_text(const std::string& body, const std::string& functions = "");

/// Locks, polled words, producers and consumers; in loops, calls and divergent code.
const std::vector<SpinningKernel>& spinning_kernels();

}  // namespace lockstep
