/// Preemption points: places with few live registers, where a warp stops to be saved.
///
/// Each innermost loop gets one: its barrier with the fewest live registers, or else an operation
/// that only issues (`pp`), in front of the operation with the fewest.  So does every stretch of
/// `interval` operations outside of these loops, and a shorter rest if it has a barrier.  Other
/// functions get none: their threads end soon.
/// Source: 002, section IV.A; preemption.md, section 4.
///
/// Simplified: a point is in a block that every iteration of its loop executes, which the paper
/// does not require. The point's instruction does not carry the live registers, since the simulator
/// knows them at every instruction.
#include "models/isa/lowering/preemption_points.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "models/isa/lowering/analysis/flow.hpp"
#include "models/isa/lowering/analysis/liveness.hpp"
#include "models/isa/lowering/analysis/operation.hpp"
#include "models/isa/lowering/analysis/registers.hpp"

namespace lockstep::isa::lowering {

namespace {

/// A place in front of an operation.
struct Candidate {
  Place place;
  std::size_t live_rows = 0;
  bool barrier = false;  ///< the operation is a barrier

  /// Returns whether the place is better. A barrier is better than any other place: a warp that
  /// stopped before a barrier would keep others waiting.
  bool better_than(const Candidate& other) const {
    return barrier != other.barrier ? barrier : live_rows < other.live_rows;
  }
};

bool is_barrier(const ir::Operation& operation) {
  return operation.opcode == Opcode::bar &&
         operation.mode != static_cast<std::uint16_t>(ir::BarrierMode::arrive);
}

bool is_print(const ir::Operation& operation, ir::PrintStep step) {
  return operation.opcode == Opcode::print && operation.mode == static_cast<std::uint16_t>(step);
}

/// Returns whether a `printf` has begun, behind each operation of a block.
std::vector<bool> printing_behind(const ir::Block& block, bool printing) {
  std::vector<bool> result;
  for (const ir::Operation& operation : block.operations) {
    if (is_print(operation, ir::PrintStep::begin)) printing = true;
    if (is_print(operation, ir::PrintStep::end)) printing = false;
    result.push_back(printing);
  }
  return result;
}

/// Returns for each block whether it begins inside of a `printf`, whose words are printed in a
/// loop.
std::vector<bool> printing_before(const ir::Function& function, const Flow& flow) {
  std::vector<bool> before(function.blocks.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::uint32_t b : flow.order) {
      const std::vector<bool> behind = printing_behind(function.blocks[b], before[b]);
      if (!(behind.empty() ? before[b] : behind.back())) continue;
      for (const std::uint32_t next : flow.successors[b]) {
        changed = changed || !before[next];
        before[next] = true;
      }
    }
  }
  return before;
}

/// Returns the candidate places of a block, in order; none within a `printf`, which must not be
/// interrupted.
std::vector<Candidate> candidates_of(const ir::Function& function, const Liveness& liveness,
                                     LiveWalker& walker, std::uint32_t block, bool printing) {
  const std::vector<ir::Operation>& operations = function.blocks[block].operations;
  const std::vector<bool> behind = printing_behind(function.blocks[block], printing);
  std::vector<Candidate> result;
  walker.begin(liveness.live_out[block]);
  for (auto o = static_cast<std::uint32_t>(operations.size()); o-- > 0;) {
    const ir::Operation& operation = operations[o];
    walker.step_back(operation);
    if (o == 0 ? printing : behind[o - 1]) continue;
    result.push_back({{block, o}, walker.live_rows(), is_barrier(operation)});
  }
  std::reverse(result.begin(), result.end());
  return result;
}

class Placement {
 public:
  explicit Placement(ir::Function& function) : function_(function), flow_(function) {
    const Liveness liveness(function, flow_);
    LiveWalker walker(function);
    printing_ = printing_before(function, flow_);
    for (std::uint32_t b = 0; b < function.blocks.size(); ++b)
      candidates_.push_back(candidates_of(function, liveness, walker, b, printing_[b]));
    for (const Flow::Loop& loop : flow_.loops)
      if (!printing_[loop.header]) loops_.push_back(&loop);
  }

  void run(std::uint32_t interval) {
    std::vector<bool> in_loop(function_.blocks.size());
    for (const Flow::Loop* loop : loops_) {
      if (!is_innermost(*loop)) continue;
      place_in(*loop);
      for (const std::uint32_t b : flow_.blocks_of(*loop)) in_loop[b] = true;
    }
    std::optional<Candidate> best;
    std::uint32_t passed = 0;
    for (std::uint32_t b = 0; b < function_.blocks.size(); ++b) {
      if (in_loop[b] || !flow_.reachable(b)) continue;
      for (const Candidate& candidate : candidates_[b]) {
        if (!best || candidate.better_than(*best)) best = candidate;
        if (++passed < interval) continue;
        chosen_.push_back(*best);
        best.reset();
        passed = 0;
      }
    }
    if (best && best->barrier) chosen_.push_back(*best);
    apply();
  }

 private:
  /// Returns whether no other loop that counts lies in the loop.
  bool is_innermost(const Flow::Loop& loop) const {
    std::vector<std::uint32_t> work = loop.inner;
    while (!work.empty()) {
      const Flow::Loop& inner = flow_.loops[work.back()];
      work.pop_back();
      if (!printing_[inner.header]) return false;
      work.insert(work.end(), inner.inner.begin(), inner.inner.end());
    }
    return true;
  }

  bool every_iteration_executes(const Flow::Loop& loop, std::uint32_t block) const {
    const auto& before = flow_.predecessors[loop.header];
    return std::all_of(before.begin(), before.end(), [&](std::uint32_t end) {
      return !flow_.contains(loop, end) || flow_.dominates(block, end);
    });
  }

  void place_in(const Flow::Loop& loop) {
    std::vector<std::uint32_t> blocks = flow_.blocks_of(loop);
    std::sort(blocks.begin(), blocks.end());
    std::optional<Candidate> best;
    for (const std::uint32_t b : blocks) {
      if (!every_iteration_executes(loop, b)) continue;
      for (const Candidate& candidate : candidates_[b])
        if (!best || candidate.better_than(*best)) best = candidate;
    }
    if (best) chosen_.push_back(*best);
  }

  /// Inserts the points from the back, so that earlier places stay valid.
  void apply() {
    std::sort(chosen_.begin(), chosen_.end(), [](const Candidate& a, const Candidate& b) {
      return a.place.block != b.place.block ? a.place.block > b.place.block
                                            : a.place.operation > b.place.operation;
    });
    for (const Candidate& chosen : chosen_) {
      auto& operations = function_.blocks[chosen.place.block].operations;
      const auto at = operations.begin() + chosen.place.operation;
      if (chosen.barrier) {
        at->preemption_point = true;
      } else {
        ir::Operation point;
        point.preemption_point = true;
        point.line = at->line;
        operations.insert(at, point);
      }
    }
  }

  ir::Function& function_;
  const Flow flow_;
  std::vector<bool> printing_;            ///< the block is inside a printf where it begins
  std::vector<const Flow::Loop*> loops_;  ///< loops that do not print
  std::vector<std::vector<Candidate>> candidates_;  ///< candidates of each block
  std::vector<Candidate> chosen_;
};

}  // namespace

void place_preemption_points(ir::Function& function, std::uint32_t interval) {
  Placement(function).run(interval);
}

}  // namespace lockstep::isa::lowering
