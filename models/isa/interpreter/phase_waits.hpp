/// Barriers of mbarrier in an interpreted block, and paths of warps that wait for their phases.
///
/// A waiting path lets others run; the operation that completes a phase checks all waiting paths of
/// the block. Waits end without their phases only when no warp of the block can run: the program
/// may then make progress.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/isa/interpreter/warp.hpp"

namespace lockstep::isa {

class BlockRunner;

class PhaseWaits {
 public:
  explicit PhaseWaits(BlockRunner& block) : block_(block) {}

  /// Executes operations of these lanes on barriers.
  void change(InterpretedWarp& warp, const Instruction& instruction, std::uint32_t active);
  /// Counts bytes of a bulk copy that have come; the lane of the warp has begun the copy.
  void complete(const InterpretedWarp& warp, unsigned lane, std::uint32_t offset,
                std::uint64_t bytes);
  /// Executes mbarrier_wait: the path goes on, or waits.
  void wait(InterpretedWarp& warp, const Instruction& instruction, std::uint32_t active);
  /// Ends waits without their phases, because no warp can run. Returns false if none waits.
  bool end();
  /// Returns the description of the last wait that ended so; "" if there was none.
  std::string last() const;

 private:
  struct Waiter {
    std::uint32_t warp = 0, pc = 0;
    /// Lanes that stand at the wait, and those among them that the guard lets through.
    std::uint32_t path = 0, active = 0;
  };

  std::byte* barrier_at(const InterpretedWarp& warp, const Instruction& instruction, unsigned lane,
                        std::uint64_t address);
  std::uint32_t lanes_with_phase_over(const InterpretedWarp& warp, const Instruction& instruction,
                                      std::uint32_t pc, std::uint32_t lanes);
  void let_go(const Waiter& waiter, std::uint32_t complete);
  /// Executes a lane's operation. Returns the block in which it has completed a phase, or nullptr.
  BlockRunner* change_lane(const InterpretedWarp& warp, const Instruction& instruction,
                           unsigned lane);
  void wake();

  BlockRunner& block_;
  std::vector<Waiter> waiters_;  ///< waiters in the order in which they began
  Waiter last_ended_;            ///< waiter whose wait last ended without its phase; no lanes: none
};

}  // namespace lockstep::isa
