#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace lockstep::isa {

/// Finds launches that loop for ever: turn after turn no store and no atomic changes a word, no
/// thread ends, and no warp has register contents that it did not have recently.
///
/// A loop that counts in a register may end, and gets much more time.
class TurnWatch {
 public:
  /// Warp instructions without a changed word after which registers are checked, and after which
  /// their changes do not count any more.
  static constexpr std::uint64_t looks_after = 20'000'000, gives_up_after = 2'000'000'000;
  /// Turns of each block without anything new.
  static constexpr std::uint64_t turns = 4;

  /// `changes`: number of changes by all threads that run the launch's blocks.
  explicit TurnWatch(std::atomic<std::uint64_t>& changes) : changes_(changes) {}

  /// Notes the turn of a block, of this many instructions; `gets_on` checks its registers.  Returns
  /// false if none of the `blocks` under way makes progress.
  template <class GetsOn>
  bool look(bool changed, std::uint64_t instructions, std::size_t blocks, GetsOn&& gets_on) {
    if (changed) changes_.fetch_add(1, std::memory_order_relaxed);
    if (const std::uint64_t now = changes_.load(std::memory_order_relaxed); now != seen_) {
      seen_ = now;
      quiet_ = known_ = 0;
      return true;
    }
    quiet_ += instructions;
    if (quiet_ < looks_after) return true;
    known_ = gets_on() ? 0 : known_ + 1;
    return known_ < turns * blocks && quiet_ < gives_up_after;
  }
  /// Returns whether blocks under way may wait for blocks that have not begun.
  bool is_quiet() const { return quiet_ >= looks_after; }
  std::uint64_t quiet() const { return quiet_; }

 private:
  std::atomic<std::uint64_t>& changes_;
  std::uint64_t seen_ = 0, quiet_ = 0, known_ = 0;
};

}  // namespace lockstep::isa
