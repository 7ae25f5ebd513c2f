#include "models/isa/divergence.hpp"

#include "core/error/error.hpp"

namespace lockstep::isa {

void WarpPaths::start(std::uint32_t mask, std::uint32_t pc, std::uint32_t turn) {
  // A checkpoint keeps no slot without a warp, so nothing of the last warp may be left.
  for (std::uint32_t n = 0; n < top_ && n < inline_nodes; ++n) inline_[n] = Node{};
  if (top_ > inline_nodes) overflow_.clear();
  pc_ = pc;
  mask_ = alive_ = mask;
  reconvergence_ = no_reconvergence;
  backward_ = loop_end_ = 0;
  current_ = none;
  top_ = 0;
  resumed_ = together_ = 0;
  turn_ = turn;
  spent_ = wait_begin_ = wait_end_ = 0;
  given_up_ = false;
}

void WarpPaths::plant() {
  if (top_ != 0) return;
  together_ = 0;
  Node root;
  root.pc = pc_;
  root.mask = mask_;
  root.state = State::running;
  current_ = add(root);
}

std::uint32_t WarpPaths::lanes_at(std::uint32_t n) const {
  std::uint32_t lanes = node(n).mask;
  for (std::uint32_t child = 0; child < top_; ++child)
    if (node(child).state != State::unused && node(child).parent == n) lanes &= ~node(child).mask;
  return lanes;
}

std::uint16_t WarpPaths::add(const Node& added) {
  std::uint32_t n = 0;
  while (n < top_ && node(n).state != State::unused) ++n;
  if (n == top_) {
    LOCKSTEP_CHECK(top_ + 1u < none, "too many paths in a warp");
    ++top_;
    if (n >= inline_nodes) overflow_.resize(top_ - inline_nodes);
  }
  node(n) = added;
  return static_cast<std::uint16_t>(n);
}

void WarpPaths::remove(std::uint32_t n) {
  node(n) = Node{};
  const bool overflowed = top_ > inline_nodes;
  while (top_ > 0 && node(top_ - 1u).state == State::unused) --top_;
  if (overflowed) overflow_.resize(top_ > inline_nodes ? top_ - inline_nodes : 0);
}

void WarpPaths::store() {
  if (current_ == none) return;
  node(current_).pc = pc_;
  keep_turn(node(current_));
}

void WarpPaths::keep_turn(Node& n) const {
  n.spent = spent_;
  n.wait_begin = wait_begin_;
  n.wait_end = wait_end_;
}

void WarpPaths::make_current(std::uint32_t n) {
  current_ = static_cast<std::uint16_t>(n);
  Node& chosen = node(n);
  chosen.spun = false;
  pc_ = chosen.pc;
  mask_ = chosen.mask;
  reconvergence_ = chosen.reconvergence;
  resumed_ = chosen.state == State::gathered ? 1 : 0;
  spent_ = chosen.spent;
  wait_begin_ = chosen.wait_begin;
  wait_end_ = chosen.wait_end;
  if (!chosen.spins) return;
  // The next backward branch of any such loop ends the turn.
  spent_ = limit();
  wait_begin_ = 0;
  wait_end_ = no_reconvergence;
}

void WarpPaths::select() {
  std::uint32_t chosen = none;
  for (std::uint32_t n = top_; n-- > 0;) {
    if (!is_runnable(n)) continue;
    if (chosen == none) chosen = n;
    if (!node(n).spun) {
      make_current(n);
      return;
    }
  }
  if (chosen != none) {
    make_current(chosen);
    return;
  }
  current_ = none;
  mask_ = 0;
  resumed_ = 0;
  reconvergence_ = no_reconvergence;
}

void WarpPaths::diverge(std::uint32_t taken, std::uint32_t target, std::uint32_t meet) {
  if (target <= pc_ || target > loop_end_) backward_ = 0;
  // The arm that is added last runs first: the fall-through.
  const std::array arms{Arm{target, taken}, Arm{pc_ + 1, mask_ & ~taken}};
  part(arms, meet);
}

void WarpPaths::branch(std::span<const Arm> arms, std::uint32_t meet) {
  if (arms.size() == 1) {
    jump(arms[0].pc);
  } else {
    part(arms, meet);
  }
}

void WarpPaths::part(std::span<const Arm> arms, std::uint32_t meet) {
  plant();
  Node& self = node(current_);
  Node arm;
  arm.state = State::running;
  if (meet == no_reconvergence || meet == reconvergence_) {
    // The arms meet where this path meets its parent anyway: they are its siblings.
    arm.parent = self.parent;
    arm.reconvergence = self.reconvergence;
    arm.spins = self.spins;
    arm.apart = self.apart;
    keep_turn(arm);
  } else {
    keep_turn(self);
    self.pc = meet;
    self.state = State::joining;
    arm.parent = current_;
    arm.reconvergence = meet;
  }
  const std::uint16_t parent = arm.parent;
  const std::uint16_t self_index = current_;
  const bool joined = parent == self_index;
  if (!joined && parent != none)
    node(parent).children += static_cast<std::uint16_t>(arms.size() - 1);
  if (joined) self.children = static_cast<std::uint16_t>(arms.size());
  bool reuse = !joined;  // the first sibling takes over the node of this path
  for (const Arm& a : arms) {
    arm.pc = a.pc;
    arm.mask = a.lanes;
    if (reuse) {
      node(self_index) = arm;
      reuse = false;
    } else {
      add(arm);
    }
  }
  // Arms that start at the meeting point have met.
  for (std::uint32_t n = 0; n < top_; ++n)
    if (node(n).state == State::running && node(n).pc == node(n).reconvergence &&
        node(n).parent == parent && parent != none) {
      remove(n);
      child_gone(parent);
    }
  select();
}

void WarpPaths::child_gone(std::uint16_t n) {
  while (n != none) {
    Node& parent = node(n);
    if (--parent.children != 0) return;
    if (parent.mask != 0) {
      parent.state = State::running;
      if (parent.pc != parent.reconvergence || parent.parent == none) return;
    }
    const std::uint16_t next = parent.parent;
    remove(n);
    n = next;
  }
}

void WarpPaths::move_to(std::uint16_t n, std::uint32_t pc) {
  Node& leaf = node(n);
  leaf.pc = pc;
  leaf.state = State::running;
  leaf.members = 0;
  if (pc == leaf.reconvergence && leaf.parent != none) {
    const std::uint16_t parent = leaf.parent;
    remove(n);
    child_gone(parent);
  }
}

void WarpPaths::reconverge() {
  if (together_ != 0) {
    // advance() after an instruction that several paths executed.
    const std::uint32_t next = pc_, lanes = together_;
    for (std::uint32_t n = top_; n-- > 0;)
      if (n < top_ && node(n).state == State::gathered && node(n).pc + 1 == next &&
          (node(n).mask & lanes) != 0)
        move_to(static_cast<std::uint16_t>(n), next);
    current_ = none;
    become_one();
    together_ = 0;
    select();
    return;
  }
  const std::uint16_t self = current_;
  move_to(self, pc_);
  select();
}

void WarpPaths::call(std::uint32_t lanes, std::uint32_t target) {
  const Arm arm{target, lanes};
  call(std::span(&arm, 1));
}

void WarpPaths::call(std::span<const Arm> arms) {
  plant();
  const std::uint16_t self = current_;
  store();
  node(self).pc = pc_ + 1;
  node(self).state = State::calling;
  node(self).children = static_cast<std::uint16_t>(arms.size());
  Node callee;
  callee.state = State::running;
  callee.parent = self;
  for (const Arm& a : arms) {
    callee.pc = a.pc;
    callee.mask = a.lanes;
    add(callee);
  }
  select();
}

void WarpPaths::ret(std::uint32_t lanes) {
  std::uint16_t frame = top_ == 0 ? none : node(current_).parent;
  while (frame != none && node(frame).state != State::calling) frame = node(frame).parent;
  if (frame == none) {
    exit(lanes);
    return;
  }
  store();
  const bool all = lanes == mask_;
  std::uint16_t n = current_;
  for (std::uint16_t up = n; up != frame; up = node(up).parent) node(up).mask &= ~lanes;
  if (!all) {
    make_current(n);
    advance();
    return;
  }
  const std::uint16_t parent = node(n).parent;
  remove(n);
  child_gone(parent);
  select();
}

void WarpPaths::exit(std::uint32_t lanes) {
  backward_ = 0;
  alive_ &= ~lanes;
  if (top_ == 0) {
    mask_ &= ~lanes;
    if (mask_ != 0) advance();
    return;
  }
  store();
  const bool all = lanes == mask_;
  const std::uint16_t n = current_;
  for (std::uint16_t up = n; up != none; up = node(up).parent) node(up).mask &= ~lanes;
  if (all) {
    const std::uint16_t parent = node(n).parent;
    remove(n);
    child_gone(parent);
    settle();
    select();
  } else {
    make_current(n);
    settle();
    advance();
  }
}

void WarpPaths::wait() {
  plant();
  store();
  node(current_).state = State::at_barrier;
  select();
}

void WarpPaths::release(std::uint32_t lanes) {
  if (top_ == 0) return;
  store();
  const std::uint16_t before = current_;
  together_ = 0;
  for (std::uint32_t n = top_; n-- > 0;)
    if (n < top_ && node(n).state == State::at_barrier && (node(n).mask & ~lanes) == 0) {
      together_ |= node(n).mask;
      move_to(static_cast<std::uint16_t>(n), node(n).pc + 1);
    }
  if (top_ > 1) become_one();
  together_ = 0;
  // The running path goes on, whatever was released.
  if (before == none) select();
}

std::uint32_t WarpPaths::gather(std::uint32_t members) {
  plant();
  Node& self = node(current_);
  store();
  if (self.state != State::gathered) {
    self.state = State::gathering;
    self.members = members;
    settle();
    if (node(current_).state == State::gathering) {
      select();
      return 0;
    }
  }
  // All lanes have come: paths at this pc execute together.
  together_ = resumed_ = 0;
  for (std::uint32_t n = 0; n < top_; ++n)
    if (node(n).state == State::gathered && node(n).pc == pc_ && node(n).members == members)
      together_ |= node(n).mask;
  reconvergence_ = pc_ + 1;
  return together_;
}

void WarpPaths::settle() {
  for (std::uint32_t n = 0; n < top_; ++n) {
    if (node(n).state != State::gathering) continue;
    const std::uint32_t members = node(n).members;
    std::uint32_t arrived = 0;
    for (std::uint32_t m = n; m < top_; ++m)
      if (node(m).state == State::gathering && node(m).members == members) arrived |= node(m).mask;
    if ((members & alive_ & ~arrived) != 0) continue;
    for (std::uint32_t m = n; m < top_; ++m)
      if (node(m).state == State::gathering && node(m).members == members)
        node(m).state = State::gathered;
  }
}

}  // namespace lockstep::isa
