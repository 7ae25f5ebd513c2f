#pragma once

#include <functional>
#include <memory>

#include "core/exec/communicator.hpp"

namespace lockstep {

/// Ranks as objects of one process, to test runs with many ranks without mpirun.
class LoopbackRanks {
 public:
  explicit LoopbackRanks(int size);
  ~LoopbackRanks();

  /// Calls `rank_main` for every rank, each on its own thread, and returns when all are done.
  /// Rethrows the exception of the lowest rank that threw.
  void run(const std::function<void(Communicator&)>& rank_main);

 private:
  struct Shared;
  class Rank;
  std::unique_ptr<Shared> shared_;
};

}  // namespace lockstep
