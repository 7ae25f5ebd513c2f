#include "models/workload/program_cursor.hpp"

#include "core/error/error.hpp"
#include "models/workload/recorded_program.hpp"

namespace lockstep {

namespace {

constexpr std::int64_t maximum_rounds = std::int64_t{1} << 32;

}  // namespace

ProgramCursor::ProgramCursor(const Workload& workload) : workload_(&workload) {
  start_over();
}

void ProgramCursor::start_over() {
  frames_.assign(1, Frame{});
  variables_ = workload_->parameters;
  settle();
}

const Step& ProgramCursor::loop(std::size_t depth) const {
  return list(depth - 1)[frames_[depth - 1].next];
}

const std::vector<Step>& ProgramCursor::list(std::size_t depth) const {
  const std::vector<Step>* steps = &workload_->program;
  for (std::size_t d = 0; d < depth; ++d) steps = &(*steps)[frames_[d].next].body;
  return *steps;
}

void ProgramCursor::advance() {
  if (!parts_.empty() && ++frames_.back().round < parts_.size()) return settle();
  if (!parts_.empty()) frames_.back().round = 0;
  ++frames_.back().next;
  settle();
}

void ProgramCursor::answer(bool done) {
  if (done) {
    leave_loop();
    advance();
    return;
  }
  ++frames_.back().round;
  frames_.back().next = 0;
  set_counter(frames_.size() - 1);
  settle();
}

void ProgramCursor::set_counter(std::size_t depth) {
  const std::string& counter = loop(depth).counter;
  if (!counter.empty()) variables_[counter] = static_cast<double>(frames_[depth].round);
}

void ProgramCursor::leave_loop() {
  frames_.pop_back();
  set_counters();
}

void ProgramCursor::set_counters() {
  variables_ = workload_->parameters;
  for (std::size_t depth = 1; depth < frames_.size(); ++depth) set_counter(depth);
}

void ProgramCursor::load() {
  const std::uint32_t number = frames_.back().next;
  const bool is_over = number >= recorded_steps(*workload_);
  if (parts_.empty() || collective_ != number) parts_ = recorded_collective(*workload_, number);
  collective_ = number;
  if (!parts_.empty()) {
    const std::uint64_t part = frames_.back().round;
    LOCKSTEP_CHECK(part < parts_.size(), "a checkpoint is behind the end of a collective");
    current_ = &parts_[part];
    return;
  }
  if (!is_over) recorded_ = recorded_step(*workload_, number);
  current_ = is_over ? nullptr : &recorded_;
}

/// Enters and leaves loops until the current position is a step.
void ProgramCursor::settle() {
  if (workload_->is_recorded()) return load();
  for (;;) {
    Frame& frame = frames_.back();
    const std::vector<Step>& steps = list(frames_.size() - 1);
    if (frame.next < steps.size()) {
      const Step& step = steps[frame.next];
      if (step.body.empty()) {
        current_ = &step;
        return;
      }
      Frame inner;
      if (step.kind == Step::Kind::repeat_times) {
        inner.rounds =
            static_cast<std::uint64_t>(step.times.evaluate_integer(variables_, 0, maximum_rounds));
        if (inner.rounds == 0) {
          ++frame.next;
          continue;
        }
      }
      frames_.push_back(inner);
      set_counter(frames_.size() - 1);
      continue;
    }
    if (frames_.size() == 1) {
      current_ = nullptr;
      return;
    }
    const Step& around = loop(frames_.size() - 1);
    if (around.kind == Step::Kind::repeat_until) {
      current_ = &around;
      return;
    }
    if (++frame.round < frame.rounds) {
      frame.next = 0;
      set_counter(frames_.size() - 1);
    } else {
      leave_loop();
      ++frames_.back().next;
    }
  }
}

void ProgramCursor::rebuild() {
  if (!workload_) return;
  if (workload_->is_recorded()) return load();
  set_counters();
  const std::vector<Step>& steps = list(frames_.size() - 1);
  if (frames_.back().next < steps.size()) {
    current_ = &steps[frames_.back().next];
  } else {
    current_ = frames_.size() == 1 ? nullptr : &loop(frames_.size() - 1);
  }
}

}  // namespace lockstep
