#pragma once

#include <functional>
#include <memory>

#include "core/exec/communicator.hpp"

namespace lockstep {

/// Ranks as objects of one process, for tests of what many ranks do without mpirun.
class LoopbackRanks {
 public:
  explicit LoopbackRanks(int size);
  ~LoopbackRanks();

  /// Calls `rank_main` for every rank, each on a thread of its own, and returns when all are done.
  /// An exception of the lowest rank that threw one is thrown again.
  void run(const std::function<void(Communicator&)>& rank_main);

 private:
  struct Shared;
  class Rank;
  std::unique_ptr<Shared> shared_;
};

}  // namespace lockstep
