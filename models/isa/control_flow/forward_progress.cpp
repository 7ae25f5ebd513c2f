/// Turns of paths that wait for other lanes of their warp, and lanes that give up meeting others:
/// divergence.hpp, "Forward progress".
#include <bit>

#include "models/isa/divergence.hpp"

namespace lockstep::isa {
namespace {

/// Jumps that are followed to find where lanes are to meet.
constexpr unsigned most_jumps = 64;

/// Returns where lanes that stand at `pc` all come by: the next branch that may part them, or, if
/// that stands at `pc`, where it has them meet; `end`, if that comes first; or nowhere.
std::uint32_t next_meeting(const Instruction* code, std::uint32_t pc, std::uint32_t end) {
  const std::uint32_t first = pc;
  for (unsigned jumps = 0; jumps < most_jumps;) {
    if (pc == end && pc != first) return end;
    const Instruction& i = code[pc];
    const bool guarded = i.guard != no_predicate;
    switch (i.category) {
      case Category::branch:
        if (guarded) return pc == first ? i.reconvergence : pc;
        pc = i.target;
        ++jumps;
        break;
      case Category::branch_indexed:
        return pc == first ? i.reconvergence : pc;
      case Category::ret:
      case Category::exit:
      case Category::trap:
        if (!guarded) return no_reconvergence;
        [[fallthrough]];
      default:
        ++pc;
    }
  }
  return no_reconvergence;
}

/// Returns whether the instruction continues without lanes that it names, because hardware does not
/// check them.
bool goes_on_unchecked(const Instruction& instruction, std::uint32_t members) {
  return members == 0xffffffff && instruction.category != Category::warp_barrier;
}

}  // namespace

void WarpPaths::branch_of_wait(const Instruction* code, std::uint32_t taken) {
  const Instruction& i = code[pc_];
  const bool backward = i.target <= pc_;
  const std::uint32_t stay = backward ? taken : mask_ & ~taken;
  if (turn_ == 0) return branch(taken, i.target, i.reconvergence);
  if (stay == mask_ && !backward) return branch(taken, i.target, i.reconvergence);
  if (stay == mask_ && i.target != reconvergence_) {
    jump(i.target);
    spend(i.target, (i.flags & flag_strong_wait) != 0 ? turns_of_weak_loops : 1);
    if (spent_ >= limit()) yield(code);
    return;
  }
  if (stay == 0) {
    if (backward ? pc_ >= wait_end_ : i.target > wait_end_) spent_ = 0;
    return branch(taken, i.target, i.reconvergence);
  }
  // Leaving lanes are progress. The lanes that stay continue as before.
  const bool spins = top_ != 0 && node(current_).spins;
  if (spins) node(current_).spins = false;
  spent_ = 0;
  branch(taken, i.target, i.reconvergence);
  if (!spins) return;
  for (std::uint32_t n = 0; n < top_; ++n) {
    if (!is_runnable(n) || node(n).mask != stay) continue;
    node(n).spins = true;
    if (n == current_) make_current(n);
    // The leaving lanes continue at once: they have got what they waited for, and other lanes want
    // it, too.
    const std::uint16_t meeting = node(n).parent;
    if (meeting == none || !may_wait_here(meeting) || lanes_at(meeting) == 0) return;
    store();
    return let_go(meeting, code);
  }
}

/// Spends a turn in the loop. An inner loop counts as the loop in which the turn is spent; an outer
/// loop replaces it.
void WarpPaths::spend(std::uint32_t target, std::uint32_t weight) {
  const std::uint32_t end = loop_end_;  // jump() has just put the block there
  const bool is_another = end > wait_end_ ? target > wait_begin_ : end < wait_begin_;
  if (is_another) spent_ = 0;
  if (spent_ == 0 || end > wait_end_) {
    wait_begin_ = target;
    wait_end_ = end;
  }
  spent_ += weight;
}

void WarpPaths::yield(const Instruction* code) {
  if (top_ == 0) {
    spent_ = 0;
    return;
  }
  store();
  node(current_).spun = node(current_).spins = true;
  const std::uint32_t next = next_in_turn();
  if (next != none) return make_current(next);
  if (give_up_meeting(code)) return;
  for (std::uint32_t n = 0; n < top_; ++n) node(n).spun = false;
  make_current(next_in_turn());
}

/// Returns the next path that can run and has not used up its turn: first the paths behind the
/// current one, then the current one.
std::uint32_t WarpPaths::next_in_turn() const {
  for (std::uint32_t step = 1; step <= top_; ++step) {
    const std::uint32_t n = (current_ + step) % top_;
    if (is_runnable(n) && !node(n).spun) return n;
  }
  return none;
}

bool WarpPaths::give_up_meeting(const Instruction* code) {
  const auto has_waiting = [&](std::uint32_t n) { return may_wait_here(n) && lanes_at(n) != 0; };
  std::uint16_t n = current_ == none ? none : node(current_).parent;
  while (n != none && !has_waiting(n)) n = node(n).parent;
  for (std::uint16_t other = 0; n == none && other < top_; ++other)
    if (has_waiting(other)) n = other;
  if (n == none) return false;
  let_go(n, code);
  return true;
}

/// Lets the lanes that wait at `n` go on alone.  They, and the others that still meet at `n`, meet
/// at the next place that both reach.
void WarpPaths::let_go(std::uint16_t n, const Instruction* code) {
  const Node old = node(n);
  Node released;
  released.pc = old.pc;
  released.mask = lanes_at(n);
  released.reconvergence = old.reconvergence;
  released.parent = old.parent;
  released.state = State::running;
  released.apart = true;
  const std::uint32_t meet = next_meeting(code, old.pc, old.reconvergence);
  if (meet != no_reconvergence && meet != old.reconvergence) {
    Node join = old;
    join.pc = meet;
    join.state = State::joining;
    join.children = 2;
    join.spent = 0;
    join.spins = false;
    released.parent = add(join);
    released.reconvergence = meet;
    node(n).parent = released.parent;
    node(n).reconvergence = meet;
  } else if (old.parent != none) {
    ++node(old.parent).children;
  }
  node(n).mask &= ~released.mask;
  node(n).apart = true;
  given_up_ = true;
  make_current(add(released));
}

std::uint32_t WarpPaths::missing(std::uint32_t n) const {
  std::uint32_t arrived = 0;
  for (std::uint32_t m = 0; m < top_; ++m)
    if (node(m).state == State::gathering && node(m).members == node(n).members)
      arrived |= node(m).mask;
  return node(n).members & alive_ & ~arrived;
}

WarpPaths::Absent WarpPaths::absent_from(std::uint32_t n) const {
  return {node(n).pc, node(n).members, missing(n),
          static_cast<std::uint32_t>(std::countr_zero(node(n).mask))};
}

std::optional<WarpPaths::Absent> WarpPaths::first_incomplete() const {
  for (std::uint32_t n = 0; n < top_; ++n)
    if (node(n).state == State::gathering) return absent_from(n);
  return std::nullopt;
}

bool WarpPaths::go_on_without_absent(const Instruction* code) {
  for (std::uint32_t n = 0; n < top_; ++n) {
    if (node(n).state != State::gathering) continue;
    const std::uint32_t members = node(n).members;
    if (!goes_on_unchecked(code[node(n).pc], members)) continue;
    absent_ = absent_from(n);
    for (std::uint32_t m = n; m < top_; ++m)
      if (node(m).state == State::gathering && node(m).members == members)
        node(m).state = State::gathered;
    make_current(n);
    return true;
  }
  return false;
}

/// Lanes that others name, and that wait to meet these.
bool WarpPaths::let_missing_go(const Instruction* code) {
  for (std::uint32_t n = 0; n < top_; ++n) {
    if (node(n).state != State::gathering) continue;
    const std::uint32_t lanes = missing(n);
    for (std::uint16_t m = 0; m < top_; ++m)
      if (may_wait_here(m) && (lanes_at(m) & lanes) != 0) {
        let_go(m, code);
        return true;
      }
  }
  return false;
}

bool WarpPaths::unblock(const Instruction* code, bool barriers_too) {
  if (runnable() || finished()) return false;
  if (!barriers_too)
    for (std::uint32_t n = 0; n < top_; ++n)
      if (node(n).state == State::at_barrier) return false;
  if (go_on_without_absent(code)) return true;
  if (turn_ == 0) return false;
  return let_missing_go(code) || (barriers_too && give_up_meeting(code));
}

/// Joins paths at the same instruction that would meet at the same place: paths that a `.sync`
/// instruction or a barrier has just released together, and paths of which one has given up meeting
/// others.
void WarpPaths::become_one() {
  const std::uint32_t synchronized = turn_ != 0 ? together_ : 0;
  if (!given_up_ && synchronized == 0) return;
  for (std::uint32_t a = 0; a < top_; ++a) {
    if (node(a).state != State::running || a == current_) continue;
    for (std::uint32_t b = top_; --b > a;) {
      if (b >= top_) continue;
      const bool same = node(b).state == State::running && b != current_ &&
                        node(b).pc == node(a).pc && node(b).parent == node(a).parent &&
                        node(b).reconvergence == node(a).reconvergence;
      const bool apart = node(a).apart || node(b).apart;
      const bool met = ((node(a).mask | node(b).mask) & ~synchronized) == 0;
      if (!same || !(apart || met)) continue;
      node(a).mask |= node(b).mask;
      node(a).apart = apart;
      node(a).spun = node(a).spins = false;
      node(a).spent = 0;
      if (node(a).parent != none) --node(node(a).parent).children;
      remove(b);
    }
  }
}

}  // namespace lockstep::isa
