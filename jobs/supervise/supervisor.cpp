#include "jobs/supervise/supervisor.hpp"

#include "jobs/options.hpp"
#include "jobs/supervise/stop_signals.hpp"

namespace lockstep {

unsigned Supervisor::requests() {
  const int status = StopSignals::status();
  if (status == exit_done || agreed_ != 0) return 0;
  return status == exit_interrupted ? interrupt : terminate;
}

bool Supervisor::agreed(unsigned bits) {
  agreed_ |= bits;
  engine_.end_with_epoch();
  return true;
}

int Supervisor::status() const {
  if (agreed_ == 0) return exit_done;
  return (agreed_ & interrupt) != 0 ? exit_interrupted : exit_terminated;
}

}  // namespace lockstep
