/// Random PTX modules whose result is the same however threads are interleaved.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/properties/random/random_group.hpp"

namespace lockstep::testing {

/// A module of one to three kernels run one after the other, and the workload that launches them,
/// sometimes in two streams on buffers of their own.
///
/// Every thread writes bytes of its own only, but they lie between those of its neighbours: in the
/// same sectors, of lines that other warps and SMs are loading.  What others wrote is read after a
/// barrier (same block) or in the next kernel, whose blocks are cut differently.  Atomics on common
/// words use operations that commute and are read in the next kernel.
class RandomProgram : private RandomGroupStatements {
 public:
  explicit RandomProgram(std::uint64_t seed);

  const std::string& ptx() const { return ptx_; }
  const std::string& workload() const { return workload_; }

 private:
  void make_shape();
  std::string kernel(unsigned index, unsigned block);
  std::string head(unsigned index);
  std::string workload_text();

  std::vector<unsigned> blocks_;  ///< by kernel
  std::string ptx_, workload_;
};

}  // namespace lockstep::testing
