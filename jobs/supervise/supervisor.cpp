#include "jobs/supervise/supervisor.hpp"

#include "jobs/options.hpp"
#include "jobs/supervise/signals.hpp"

namespace lockstep {

Supervisor::Supervisor(Engine& engine, ProgressLine& line, Checkpoints* checkpoints,
                       const Moments& moments)
    : engine_(engine),
      line_(line),
      checkpoints_(checkpoints),
      every_(std::chrono::duration_cast<Clock::duration>(
          std::chrono::duration<double>(moments.every))),
      at_stop_(moments.at_stop),
      due_(Clock::now() + every_) {}

unsigned Supervisor::requests() {
  const int status = Signals::status();
  if (status != exit_done) return status == exit_interrupted ? interrupt : terminate;
  if (!checkpoints_) return 0;
  const bool by_clock = every_ > Clock::duration::zero();
  if (!by_clock && !Signals::ask_for_checkpoint()) return 0;
  const Clock::time_point now = Clock::now();
  const bool wanted = Signals::ask_for_checkpoint() || now >= due_;
  return wanted && now >= not_before_ ? checkpoint : nothing;
}

bool Supervisor::agreed(unsigned bits) {
  agreed_ |= bits & (interrupt | terminate);
  if (checkpoints_) write(agreed_ == 0);
  return agreed_ == 0;
}

void Supervisor::stops() {
  if (checkpoints_ && at_stop_) write(false);
}

void Supervisor::write(bool goes_on) {
  const Clock::time_point begin = Clock::now();
  const auto problem = checkpoints_->write(engine_);
  if (!goes_on) require_written(problem);
  if (problem && !problem->empty())
    line_.note(*problem + "; the run goes on without this checkpoint");
  Signals::serve_checkpoint();
  const Clock::time_point end = Clock::now();
  due_ = end + every_;
  not_before_ = end + (end - begin);
}

int Supervisor::status() const {
  if (agreed_ == 0) return exit_done;
  return (agreed_ & interrupt) != 0 ? exit_interrupted : exit_terminated;
}

}  // namespace lockstep
