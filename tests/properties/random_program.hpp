/// Random PTX modules whose result is the same however threads are interleaved.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/harness/random_kernel.hpp"

namespace lockstep::testing {

/// A module of one to three kernels run one after the other, and the workload that launches them.
///
/// Every thread writes bytes of its own only, but they lie between those of its neighbours: in the
/// same sectors, of lines that other warps and SMs are loading.  What others wrote is read after a
/// barrier (same block) or in the next kernel, whose blocks are cut differently.  Atomics on common
/// words use operations that commute and are read in the next kernel.
class RandomProgram : private isa::RandomKernel {
 public:
  explicit RandomProgram(std::uint64_t seed);

  const std::string& ptx() const { return ptx_; }
  const std::string& workload() const { return workload_; }

 private:
  void make_shape();
  std::string kernel(unsigned index, unsigned block);
  std::string head(unsigned index);
  std::string workload_text();

  void statement(unsigned depth) override;
  void extra(unsigned depth);
  void top_level();

  // Statements, by what they touch.
  void narrow();
  void vector();
  void ordered();
  void own_atomic();
  void common_atomic();
  void read_previous();
  void local_array();
  void shared_bytes();
  void generic();
  void call();
  void variables();
  void indexed_branch();
  void fence();
  void double_precision();
  void half_precision();
  void more_integer();
  void load_then_store();
  // Statements of all threads together.
  void block_exchange();
  void warp_exchange();
  void divergent_barrier();
  void barrier_reduction();
  void named_barriers();
  void shared_sum();

  void emit(const std::string& text) { body_ += text + ";\n"; }
  std::string d() { return "%d" + std::to_string(pick(4)); }
  std::string h() { return "%h" + std::to_string(pick(4)); }
  /// "[%w4+384]": the thread's own `width` bytes in a random row of the woven buffer, from `byte`.
  std::string woven(unsigned width, unsigned byte = 0);
  std::string load_operator();
  std::string store_operator();

  unsigned threads_ = 0;  ///< of every kernel
  unsigned block_ = 0;    ///< of the kernel being written
  std::vector<unsigned> blocks_;
  std::string ptx_, workload_;
};

}  // namespace lockstep::testing
