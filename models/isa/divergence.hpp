/// The paths of a warp: which lanes stand where, and where they meet again.
///
/// Lanes that part at a branch become two paths that meet at the branch's immediate post-dominator;
/// the paths form a tree whose leaves can run and whose inner nodes wait at their pc for the leaves
/// below them.  One leaf is current.  When it has to wait - at a barrier, or at a `.sync`
/// instruction that names lanes not there yet - another leaf runs.  A call is an inner node at the
/// return address; `ret` ends lanes up to there, `exit` everywhere.
/// Source: Fung et al., "Dynamic Warp Formation", MICRO 2007, section 3 (immediate post-dominator
/// reconvergence); design of the project for waiting paths.
///
/// Simplified: a path runs until it waits, meets or ends; there is no fair switching between paths
/// that spin on each other.  Backward branches without a lane leaving are counted for the report.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/isa/instruction.hpp"

namespace lockstep::isa {

/// Backward branches of a warp without any lane leaving after which it counts as stuck.
inline constexpr std::uint32_t backward_branch_limit = 10'000'000;

class WarpPaths {
 public:
  struct Arm {
    std::uint32_t pc = 0;
    std::uint32_t lanes = 0;
  };

  /// All lanes of `mask` at `pc`; forgets everything before.
  void start(std::uint32_t mask, std::uint32_t pc = 0);

  /// No lane is left.
  bool finished() const { return alive_ == 0; }
  /// The current path can execute; false when all wait or none is left.
  bool runnable() const { return mask_ != 0; }
  std::uint32_t pc() const { return pc_; }
  /// Lanes of the current path; zero when nothing can run.
  std::uint32_t mask() const { return mask_; }
  /// Lanes that have not exited.
  std::uint32_t alive() const { return alive_; }

  /// The current path's instruction is done: the next one.
  void advance() {
    if (++pc_ == reconvergence_) [[unlikely]]
      reconverge();
  }
  /// All lanes of the current path go to `target`.
  void jump(std::uint32_t target) {
    if (target <= pc_) {
      ++backward_;
      loop_end_ = pc_;
    } else if (target > loop_end_) {
      backward_ = 0;
    }
    pc_ = target;
    if (pc_ == reconvergence_) [[unlikely]]
      reconverge();
  }
  /// Lanes in `taken` go to `target`, the others to the next instruction; they meet at `meet`.
  void branch(std::uint32_t taken, std::uint32_t target, std::uint32_t meet) {
    if (taken == 0) {
      if (target <= pc_) backward_ = 0;
      advance();
    } else if (taken == mask_) {
      jump(target);
    } else {
      diverge(taken, target, meet);
    }
  }
  /// brx.idx: the arms' lanes together are mask().
  void branch(std::span<const Arm> arms, std::uint32_t meet);

  /// `lanes` of the current path call `target`; the path goes on behind the call after all `ret`.
  void call(std::uint32_t lanes, std::uint32_t target);
  /// An indirect call: each arm is one callee.  Lanes in no arm only wait.
  void call(std::span<const Arm> arms);
  /// `lanes` of the current path return; the rest goes on.  Outside of a call: exit.
  void ret(std::uint32_t lanes);
  /// `lanes` of the current path end; the rest goes on.
  void exit(std::uint32_t lanes);

  /// A barrier: the current path stays at its instruction until `release`; another becomes current.
  void wait();
  /// Paths waiting at a barrier whose lanes are in `lanes` go on behind it.
  void release(std::uint32_t lanes);
  /// Calls function(pc, lanes) for each path waiting at a barrier.
  template <class Function>
  void for_each_waiting(Function&& function) const {
    for (std::uint32_t n = 0; n < top_; ++n)
      if (node(n).state == State::at_barrier) function(node(n).pc, node(n).mask);
  }

  /// Calls function(pc, lanes) for each path with lanes that are no path's below it: those that
  /// run, wait, or have come to where they meet the others.
  template <class Function>
  void for_each_path(Function&& function) const {
    if (top_ == 0 && mask_ != 0) function(pc_, mask_);
    for (std::uint32_t n = 0; n < top_; ++n)
      if (const std::uint32_t lanes = lanes_at(n); lanes != 0)
        function(n == current_ ? pc_ : node(n).pc, lanes);
  }

  /// The first path that waits at a barrier or for named lanes; without lanes if none does.
  Arm first_waiting() const {
    for (std::uint32_t n = 0; n < top_; ++n)
      if (node(n).state == State::at_barrier || node(n).state == State::gathering)
        return {node(n).pc, node(n).mask};
    return {};
  }

  /// The current path has come to a `.sync` instruction naming `members`.  Returns the lanes that
  /// execute it together now (paths at the same pc do), after which advance() - and nothing else -
  /// goes on behind it for all of them; or 0: the path waits, look at the new current path.
  std::uint32_t arrive(std::uint32_t members) {
    if (((members & alive_ & ~mask_) | resumed_) == 0) [[likely]]
      return mask_;
    return gather(members);
  }

  /// Taken backward branches since a lane last left a loop or the warp.
  std::uint32_t backward_branches() const { return backward_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(pc_, mask_, reconvergence_, alive_, backward_, loop_end_, current_, top_, together_,
            resumed_);
    for (Node& n : inline_) n.serialize(archive);
    std::uint64_t more = overflow_.size();
    archive(more);
    overflow_.resize(more);
    for (Node& n : overflow_) n.serialize(archive);
  }

 private:
  static constexpr std::uint16_t none = 0xffff;
  static constexpr std::size_t inline_nodes = 4;
  enum class State : std::uint8_t {
    unused,
    running,     ///< a leaf that can run
    joining,     ///< waits for its children
    calling,     ///< waits for its children to return
    at_barrier,  ///< wait() until release()
    gathering,   ///< arrive() with lanes missing
    gathered,    ///< its lanes have all arrived: executes when it becomes current
  };
  struct Node {
    std::uint32_t pc = 0, mask = 0, reconvergence = no_reconvergence;
    std::uint32_t members = 0;  ///< of gathering
    std::uint16_t parent = none, children = 0;
    State state = State::unused;

    template <class Archive>
    void serialize(Archive& archive) {
      auto s = static_cast<std::uint8_t>(state);
      archive(pc, mask, reconvergence, members, parent, children, s);
      state = static_cast<State>(s);
    }
  };

  Node& node(std::uint32_t n) {
    return n < inline_nodes ? inline_[n] : overflow_[n - inline_nodes];
  }
  const Node& node(std::uint32_t n) const {
    return n < inline_nodes ? inline_[n] : overflow_[n - inline_nodes];
  }
  /// Lanes of the node that are not its children's.
  std::uint32_t lanes_at(std::uint32_t n) const;
  std::uint16_t add(const Node& node);
  /// The only path of a warp gets its node: it has none, and no memory is touched for it, until it
  /// parts, calls or waits.
  void plant();
  void remove(std::uint32_t n);
  /// The current path's pc and mask back into its node.
  void store();
  void make_current(std::uint32_t n);
  /// The runnable leaf made last becomes current, or none.
  void select();
  void diverge(std::uint32_t taken, std::uint32_t target, std::uint32_t meet);
  void part(std::span<const Arm> arms, std::uint32_t meet);
  void reconverge();
  /// A child of `n` is gone; returns with the tree consistent.
  void child_gone(std::uint16_t n);
  /// Moves leaf `n` to `pc`, meeting its parent if that is where they meet.
  void move_to(std::uint16_t n, std::uint32_t pc);
  std::uint32_t gather(std::uint32_t members);
  void settle();

  std::uint32_t pc_ = 0, mask_ = 0, reconvergence_ = no_reconvergence;
  std::uint32_t alive_ = 0;
  std::uint32_t backward_ = 0, loop_end_ = 0;
  std::uint16_t current_ = none, top_ = 0;
  std::uint32_t resumed_ = 0;  ///< not zero: the current path has arrived before (gathered)
  // So far 32 bytes: all that a warp with one path needs.
  /// Lanes of other paths that execute the current instruction with the current path.
  std::uint32_t together_ = 0;
  std::array<Node, inline_nodes> inline_{};
  std::vector<Node> overflow_;
};

}  // namespace lockstep::isa
