/// The window of an out-of-order core, as far as misses show it.  Instructions enter in order,
/// `width` in a cycle; at most `window` of them are in flight; they retire in order, and one that
/// misses retires when its data are there.
///
/// Time is counted in slots, `width` of them in a cycle: in a slot one instruction enters and one
/// retires.  Between misses every instruction enters one slot after the one before.  So a single
/// number, the lag behind instruction n entering in slot n, gives the slot of each.
/// Source: memory-interference.md, sections 4.4 and 4.5 (AMB-27).
///
/// Simplified: an instruction that does not miss takes one slot. No branch is mispredicted. An
/// instruction waits for the data of another one only through the window.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/memory/ring.hpp"

namespace lockstep {

class InstructionWindow {
 public:
  static constexpr std::int64_t unknown = std::int64_t{1} << 62;

  explicit InstructionWindow(std::int64_t window) : window_(window) {}

  /// Lets no instruction enter before this slot.
  void start(std::int64_t slot) { lag_ = slot; }

  /// Returns the slot in which the instruction can enter; `unknown` while an earlier one that must
  /// retire first has no data. Calls are in the order of instructions.
  std::int64_t entry(std::int64_t instruction) {
    while (!misses_.empty() && misses_.front().instruction + window_ <= instruction) {
      const Miss& oldest = misses_.front();
      if (oldest.done == unknown) return unknown;
      lag_ = std::max(lag_, oldest.done + 1 - window_ - oldest.instruction);
      misses_.pop();
      --answered_;
      ++first_;
    }
    return instruction + lag_;
  }
  /// Lets the instruction enter in `slot`, which is not before entry(); later ones enter after it.
  void hold(std::int64_t instruction, std::int64_t slot) {
    lag_ = std::max(lag_, slot - instruction);
  }

  /// Notes that an instruction that has entered misses.  Returns the number of the miss.
  std::uint32_t miss(std::int64_t instruction) {
    misses_.push({instruction, unknown});
    return first_ + static_cast<std::uint32_t>(misses_.size()) - 1;
  }
  /// The data of a miss are there.
  void answer(std::uint32_t miss, std::int64_t slot) {
    misses_[miss - first_].done = slot;
    while (answered_ < misses_.size() && misses_[answered_].done != unknown) {
      const Miss& next = misses_[answered_++];
      retiring_lag_ = std::max(retiring_lag_, next.done - next.instruction);
    }
  }

  /// Returns the number of instructions retired by a slot, if `next` has not entered by then.
  std::int64_t retired(std::int64_t slot, std::int64_t next) const {
    const std::int64_t bound = answered_ < misses_.size() ? misses_[answered_].instruction : next;
    return std::clamp(slot - retiring_lag(), std::int64_t{0}, bound);
  }
  /// Returns the slot in which the first `count` instructions have retired; `unknown` while one of
  /// them has no data, or is `next`, which has not entered.
  std::int64_t retirement(std::int64_t count, std::int64_t next) const {
    if (next < count) return unknown;
    if (answered_ < misses_.size() && misses_[answered_].instruction < count) return unknown;
    return count + retiring_lag();
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(misses_, answered_, first_, lag_, retiring_lag_);
  }

 private:
  struct Miss {
    std::int64_t instruction = 0;
    std::int64_t done = unknown;  ///< slot in which the data are there
    template <class Archive>
    void serialize(Archive& archive) {
      archive(instruction, done);
    }
  };
  /// Returns the lag of retirement: an instruction retires after the slot in which it entered.
  std::int64_t retiring_lag() const { return std::max(retiring_lag_, lag_ + 1); }

  const std::int64_t window_;
  Ring<Miss> misses_;
  std::uint64_t answered_ = 0;  ///< number of answered misses before the oldest unanswered one
  std::uint32_t first_ = 0;     ///< number of the oldest miss
  std::int64_t lag_ = 0;        ///< slot of entry minus number of the next instruction
  std::int64_t retiring_lag_ = 0;
};

}  // namespace lockstep
