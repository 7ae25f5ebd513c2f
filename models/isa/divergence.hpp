/// The paths of a warp: which lanes stand where, and where they meet again.
///
/// Lanes that part at a branch become two paths that meet at the branch's immediate post-dominator;
/// the paths form a tree whose leaves can run and whose inner nodes wait at their pc for the leaves
/// below them.  One leaf is current.  When it has to wait - at a barrier, or at a `.sync`
/// instruction that names lanes not there yet - another leaf runs.  A call is an inner node at the
/// return address; `ret` ends lanes up to there, `exit` everywhere.
///
/// Forward progress (independent thread scheduling, from Volta on).  A path runs until it waits,
/// meets others or ends - or until it has used up its turn in a loop whose end depends on what
/// other threads write (isa/encode/waiting_loops): `turn` backward branches without a lane of it
/// leaving the loop, where the loop's reads are atomics or strong loads; 2048 times as many where
/// they are weak.  Then the warp's other paths run.  When all have used up their turns, or wait for
/// named lanes that cannot come, lanes that wait for others to meet give that up, innermost first:
/// they go on alone, and are to meet the others at the next branch of the code that follows, or
/// behind it.  A path that has used up a turn has turns of one backward branch until it meets
/// others, and lanes that leave its loop go on at once.
///
/// Paths that a barrier or a `.sync` instruction lets go on together are one behind it, though
/// their branch has them meet further on, as where a lane leaves a loop - if they are to meet at
/// the same place.  With `turn` zero (before Volta) none of this happens.
///
/// A shuffle, vote, match or reduction that names all 32 lanes goes on without those that cannot
/// come, as hardware does, which has no check there; Absent tells of it.
/// Source: Fung et al., "Dynamic Warp Formation", MICRO 2007, section 3 (immediate post-dominator
/// reconvergence); NVIDIA, "Tesla V100 Architecture", 2017, "Independent Thread Scheduling"; Diamos
/// et al., US patent application 2016/0019066 (threads that wait at a convergence barrier are
/// released when others yield); design of the project for turns and for where paths meet again.
///
/// Simplified: the length of hardware's turns is not known.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "models/isa/instruction.hpp"

namespace lockstep::isa {

/// Backward branches of a warp, without any lane leaving, after which it counts as stuck.
inline constexpr std::uint32_t backward_branch_limit = 10'000'000;
/// Turns of a loop whose end depends on weak loads only.
inline constexpr std::uint32_t turns_of_weak_loops = 2048;
/// Most backward branches in a turn.
inline constexpr std::uint32_t longest_turn = 1'000'000;
/// Advice in the report on a machine whose paths have no turns.
inline constexpr const char* no_turns_advice =
    "this machine has no independent thread scheduling (sm.thread_scheduling: warp, as before "
    "Volta): lanes of a warp that wait for each other never meet, one path runs until it waits at "
    "a "
    "barrier, meets the others or ends";

class WarpPaths {
 public:
  struct Arm {
    std::uint32_t pc = 0;
    std::uint32_t lanes = 0;
  };

  /// A fault of the member mask of a `.sync` instruction.
  struct Absent {
    std::uint32_t pc = 0;
    std::uint32_t members = 0;
    std::uint32_t lanes = 0;    ///< lanes that the mask names and that did not come
    std::uint32_t waiting = 0;  ///< a lane that came; the mask may not name it
  };

  /// Starts all lanes of `mask` at `pc`, and forgets everything before. `turn`: see "Forward
  /// progress".
  void start(std::uint32_t mask, std::uint32_t pc = 0, std::uint32_t turn = 0);

  /// Returns whether no lane is left.
  bool finished() const { return alive_ == 0; }
  /// Returns whether the current path can execute; false when all wait or none is left.
  bool runnable() const { return mask_ != 0; }
  std::uint32_t pc() const { return pc_; }
  /// Returns the lanes of the current path; zero when nothing can run.
  std::uint32_t mask() const { return mask_; }
  /// Lanes that have not exited.
  std::uint32_t alive() const { return alive_; }

  /// The current path's next `count` instructions are done, at most before_meeting().
  void advance(std::uint32_t count = 1) {
    pc_ += count;
    if (pc_ == reconvergence_) [[unlikely]]
      reconverge();
  }
  /// Returns how many instructions, one after the other, the current path can execute before it
  /// meets others.
  std::uint32_t before_meeting() const { return reconvergence_ - pc_; }
  /// Moves all lanes of the current path to `target`.
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
  /// Sends lanes in `taken` to `target`, and the others to the next instruction; they meet at
  /// `meet`.
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
  /// Branches at the current instruction of `code`, which decides whether the path continues to
  /// wait (flag_decides_wait); another path may become current.
  void branch_of_wait(const Instruction* code, std::uint32_t taken);
  /// Executes brx.idx: the arms' lanes together are mask().
  void branch(std::span<const Arm> arms, std::uint32_t meet);

  /// `lanes` of the current path call `target`; the path goes on behind the call after all `ret`.
  void call(std::uint32_t lanes, std::uint32_t target);
  /// Executes an indirect call: each arm is one callee.  Lanes in no arm only wait.
  void call(std::span<const Arm> arms);
  /// `lanes` of the current path return; the rest goes on.  Outside of a call: exit.
  void ret(std::uint32_t lanes);
  /// `lanes` of the current path end; the rest goes on.
  void exit(std::uint32_t lanes);

  /// Makes the current path wait at a barrier until `release`; another path becomes current.
  void wait();
  /// Releases paths that wait at a barrier and have lanes in `lanes`; they go on behind it.
  void release(std::uint32_t lanes);
  /// Calls function(pc, lanes) for each path waiting at a barrier.
  template <class Function>
  void for_each_waiting(Function&& function) const {
    for (std::uint32_t n = 0; n < top_; ++n)
      if (node(n).state == State::at_barrier) function(node(n).pc, node(n).mask);
  }

  /// Calls function(pc, lanes) for each path with lanes of its own: paths that run, wait, or have
  /// come to their meeting place.
  template <class Function>
  void for_each_path(Function&& function) const {
    if (top_ == 0 && mask_ != 0) function(pc_, mask_);
    for (std::uint32_t n = 0; n < top_; ++n)
      if (const std::uint32_t lanes = lanes_at(n); lanes != 0)
        function(n == current_ ? pc_ : node(n).pc, lanes);
  }

  /// Returns the first path that waits at a barrier or for named lanes; without lanes if none does.
  Arm first_waiting() const {
    for (std::uint32_t n = 0; n < top_; ++n)
      if (node(n).state == State::at_barrier || node(n).state == State::gathering)
        return {node(n).pc, node(n).mask};
    return {};
  }

  /// Takes the current path to a `.sync` instruction naming `members`. Returns the lanes that
  /// execute it together now, including those of paths at the same pc; only advance() then takes
  /// all of them behind it. Returns 0 if the path waits: there is a new current path.
  std::uint32_t arrive(std::uint32_t members) {
    if (((members & alive_ & ~mask_) | resumed_) == 0) [[likely]]
      return mask_;
    return gather(members);
  }

  /// Lets lanes go on that wait for what cannot come, when no path can run and lanes are left.
  /// Returns whether some go on, so that a path is current.  `barriers_too`: no barrier will let
  /// any lane go on either.
  bool unblock(const Instruction* code, bool barriers_too);
  /// Returns whether the mask of the current instruction names the lane that executes it; if not,
  /// take_absent() describes the lane.
  bool is_named(std::uint32_t members, unsigned lane) {
    if ((members >> lane & 1) != 0) [[likely]]
      return true;
    absent_ = Absent{pc_, members, 0, lane};
    return false;
  }
  /// Returns the fault of the instruction that this warp has just executed: the warp went on
  /// without lanes that it names, or a lane executed it that it does not name.
  std::optional<Absent> take_absent() { return std::exchange(absent_, std::nullopt); }
  /// Returns the first path that waits for named lanes, with the missing lanes.
  std::optional<Absent> first_incomplete() const;
  /// Returns whether paths that wait for each other take turns: independent thread scheduling.
  bool takes_turns() const { return turn_ != 0; }
  /// Returns whether lanes have given up meeting others: the warp may be in a state that the
  /// compiler does not expect.
  bool has_given_up() const { return given_up_; }

  /// Returns the number of taken backward branches since a lane last left a loop or the warp.
  std::uint32_t backward_branches() const { return backward_; }

  /// Serialises compactly: a warp without a turn under way takes no more bytes than its paths,
  /// since contexts that leave an SM include them.
  template <class Archive>
  void serialize(Archive& archive) {
    const bool in_turn = spent_ != 0 || given_up_;
    std::uint32_t packed = resumed_ | (in_turn ? 2U : 0U) | turn_ << 2;
    archive(pc_, mask_, reconvergence_, alive_, backward_, loop_end_, current_, top_, together_,
            packed);
    resumed_ = packed & 1;
    turn_ = packed >> 2;
    if ((packed & 2) != 0) {
      archive(spent_, wait_begin_, wait_end_, given_up_);
    } else {
      spent_ = 0;
      given_up_ = false;
    }
    for (Node& n : inline_) n.serialize(archive);
    std::uint64_t more = overflow_.size();
    archive(more);
    archive.require(more);
    overflow_.resize(more);
    for (Node& n : overflow_) n.serialize(archive);
  }

 private:
  static constexpr std::uint16_t none = 0xffff;
  static constexpr std::size_t inline_nodes = 4;
  enum class State : std::uint8_t {
    unused,
    running,     ///< leaf that can run
    joining,     ///< waits for its children
    calling,     ///< waits for its children to return
    at_barrier,  ///< from wait() until release()
    gathering,   ///< after arrive() with lanes missing
    gathered,    ///< all lanes have arrived; the path executes when it becomes current
  };
  struct Node {
    std::uint32_t pc = 0, mask = 0, reconvergence = no_reconvergence;
    std::uint32_t members = 0;  ///< lanes that the member mask names, while gathering
    std::uint16_t parent = none, children = 0;
    State state = State::unused;
    /// Values of spent_, wait_begin_ and wait_end_ while the path is not current.
    std::uint32_t spent = 0, wait_begin = 0, wait_end = 0;
    bool spun = false;   ///< the path has used up its turn; others come first
    bool spins = false;  ///< the path has used up a turn since it met others
    bool apart = false;  ///< lanes of the path, or of others, have given up meeting

    template <class Archive>
    void serialize(Archive& archive) {
      auto packed = static_cast<std::uint8_t>(static_cast<unsigned>(state) | spun << 4 |
                                              spins << 5 | apart << 6 | (spent != 0) << 7);
      archive(pc, mask, reconvergence, members, parent, children, packed);
      state = static_cast<State>(packed & 15);
      spun = (packed >> 4 & 1) != 0;
      spins = (packed >> 5 & 1) != 0;
      apart = (packed >> 6 & 1) != 0;
      if ((packed >> 7 & 1) != 0) {
        archive(spent, wait_begin, wait_end);
      } else {
        spent = 0;
      }
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
  /// Makes the node of a warp's only path.  Before the path parts, calls or waits it has no node,
  /// and no memory is touched for it.
  void plant();
  void remove(std::uint32_t n);
  /// Stores the current path's pc and spent turn in its node.
  void store();
  void keep_turn(Node& n) const;
  void make_current(std::uint32_t n);
  /// The runnable leaf made last becomes current, or none.
  void select();
  void diverge(std::uint32_t taken, std::uint32_t target, std::uint32_t meet);
  void part(std::span<const Arm> arms, std::uint32_t meet);
  void reconverge();
  /// A child of `n` is gone: makes the tree consistent again.
  void child_gone(std::uint16_t n);
  /// Moves leaf `n` to `pc`, or lets it meet its parent if that is their meeting place.
  void move_to(std::uint16_t n, std::uint32_t pc);
  std::uint32_t gather(std::uint32_t members);
  void settle();

  // control_flow/forward_progress.cpp
  bool is_runnable(std::uint32_t n) const {
    return node(n).state == State::running || node(n).state == State::gathered;
  }
  bool may_wait_here(std::uint32_t n) const {
    return node(n).state == State::joining || node(n).state == State::calling;
  }
  std::uint32_t limit() const { return turn_ * turns_of_weak_loops; }
  void spend(std::uint32_t target, std::uint32_t weight);

  void yield(const Instruction* code);
  std::uint32_t next_in_turn() const;
  bool give_up_meeting(const Instruction* code);
  void let_go(std::uint16_t n, const Instruction* code);
  std::uint32_t missing(std::uint32_t n) const;
  Absent absent_from(std::uint32_t n) const;
  bool go_on_without_absent(const Instruction* code);
  bool let_missing_go(const Instruction* code);
  void become_one();

  std::uint32_t pc_ = 0, mask_ = 0, reconvergence_ = no_reconvergence;
  std::uint32_t alive_ = 0;
  std::uint32_t backward_ = 0, loop_end_ = 0;
  std::uint16_t current_ = none, top_ = 0;
  std::uint32_t resumed_ = 0;  ///< not zero: the current path has arrived before (gathered)
  // The members up to here, 32 bytes, suffice for a warp with one path.
  /// Lanes of other paths that execute the current instruction with the current path.
  std::uint32_t together_ = 0;
  std::uint32_t turn_ = 0;
  /// Backward branches of weak loops that the current path has taken in its turn.
  std::uint32_t spent_ = 0;
  std::uint32_t wait_begin_ = 0, wait_end_ = 0;  ///< loop in which the current path spends its turn
  bool given_up_ = false;
  std::optional<Absent> absent_;  ///< missing lanes, until the caller takes the note at once
  std::array<Node, inline_nodes> inline_{};
  std::vector<Node> overflow_;
};

}  // namespace lockstep::isa
