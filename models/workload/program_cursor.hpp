#pragma once

#include <cstdint>
#include <vector>

#include "models/workload/workload.hpp"

namespace lockstep {

/// Walks through the steps of a host program, loops included; used by the timed host and by the
/// functional run.  A repeat-until appears as a step of its own (Kind::repeat_until) after each
/// round: the executor tests the buffer and calls `answer` with whether the loop ends.
class ProgramCursor {
 public:
  ProgramCursor() = default;
  ProgramCursor(const ProgramCursor&) = delete;  // current() may point into the cursor
  ProgramCursor& operator=(const ProgramCursor&) = delete;
  explicit ProgramCursor(const Workload& workload);

  /// Returns the step to do now; nullptr at the end.
  const Step* current() const { return current_; }
  /// Goes on to the step after current().
  void advance();
  /// Goes back to the first step.
  void start_over();
  /// Goes on at a repeat-until, instead of advance(): `done` leaves the loop.
  void answer(bool done);

  /// Returns the parameters and the counters of the loops around current().
  const Variables& variables() const { return variables_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(frames_);
    rebuild();
  }

 private:
  struct Frame {
    std::uint32_t next = 0;    ///< index of the step in the list
    std::uint64_t round = 0;   ///< round of the loop whose body the list is; part of a collective
    std::uint64_t rounds = 0;  ///< rounds of repeat-times; 0 for repeat-until
    template <class Archive>
    void serialize(Archive& archive) {
      archive(next, round, rounds);
    }
  };

  const std::vector<Step>& list(std::size_t depth) const;
  const Step& loop(std::size_t depth) const;
  void settle();
  /// Takes the step at which a recording stands.
  void load();
  void set_counter(std::size_t depth);
  /// Sets the counters of the loops around the step; counters of finished loops are removed.
  void set_counters();
  void leave_loop();
  void rebuild();

  const Workload* workload_ = nullptr;
  std::vector<Frame> frames_;
  const Step* current_ = nullptr;
  Step recorded_;                 ///< current step of a recording
  std::vector<Step> parts_;       ///< parts of the collective at which the recording stands
  std::uint32_t collective_ = 0;  ///< number of the step with the collective
  Variables variables_;
};

}  // namespace lockstep
