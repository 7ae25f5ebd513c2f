#pragma once

#include <memory>

#include "core/exec/communicator.hpp"

namespace lockstep {

/// MPI from start to end.  A program started without mpirun or srun has one rank.
class MpiSession {
 public:
  /// Initialises MPI with MPI_THREAD_FUNNELED: call it on the main thread.
  MpiSession(int& argc, char**& argv);
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  Communicator& communicator() { return *communicator_; }

  /// Ends all ranks at once, for errors that cannot be agreed on.
  [[noreturn]] static void abort(int status);

 private:
  std::unique_ptr<Communicator> communicator_;
};

}  // namespace lockstep
