#include "models/isa/encode/waiting_loops.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "models/isa/operand_lists.hpp"

namespace lockstep::isa {
namespace {

/// Dependence of a value on writes of other threads.
enum Reads : std::uint8_t { none = 0, weakly = 1, strongly = 2 };

/// Longest loop that is followed; the end of a longer loop counts as read by weak loads.
constexpr std::uint32_t longest_followed = 20'000;
/// Values that are looked at in all loops of a program; later loops count as too long.
constexpr std::uint64_t most_looked_at = 50'000'000;

Reads read_by(const Instruction& instruction) {
  const MemoryFields& memory = instruction.memory;
  switch (memory.space) {
    case Space::generic:
    case Space::global:
    case Space::shared:
    case Space::shared_cluster:
      break;
    default:
      return none;
  }
  if (instruction.category == Category::phase_wait) return strongly;
  if (instruction.category == Category::atomic) return memory.returns ? strongly : none;
  if (instruction.category != Category::load) return none;
  return memory.ordering == Ordering::weak ? weakly : strongly;
}

/// Visits the instructions of a function and of its callees, each once.
template <class Visit>
void for_each_reached(const Program& program, std::uint32_t entry, Visit&& visit) {
  const std::vector<Instruction>& code = program.instructions;
  std::vector<bool> seen(code.size());
  std::vector<std::uint32_t> work;
  const auto go = [&](std::uint32_t pc) {
    if (pc >= code.size() || seen[pc]) return;
    seen[pc] = true;
    work.push_back(pc);
  };
  go(entry);
  while (!work.empty()) {
    const std::uint32_t pc = work.back();
    work.pop_back();
    const Instruction& i = code[pc];
    visit(i);
    bool goes_on = i.guard != no_predicate;
    switch (i.category) {
      case Category::branch:
        go(i.target);
        break;
      case Category::branch_indexed:
        for (const std::uint32_t target : program.branch_tables[i.target]) go(target);
        break;
      case Category::call_indirect:
        for (const std::uint32_t function : program.function_entries) go(function);
        goes_on = true;
        break;
      case Category::call:
        go(i.target);
        goes_on = true;
        break;
      case Category::ret:
      case Category::exit:
      case Category::trap:
        break;
      default:
        goes_on = true;
    }
    if (goes_on) go(pc + 1);
  }
}

/// Arguments that a call reads, and places of its results behind it.
struct Called {
  Reads reads = none;
  std::vector<Operand> rows;
  std::vector<std::uint8_t> predicates;
};

class CalledFunctions {
 public:
  explicit CalledFunctions(const Program& program) : program_(program) {}

  const Called& by(const Instruction& call) {
    const std::uint32_t callee = call.category == Category::call ? call.target : no_reconvergence;
    const auto known = by_entry_.find(callee);
    return known != by_entry_.end() ? known->second
                                    : by_entry_.emplace(callee, reached_from(callee)).first->second;
  }

 private:
  /// An indirect call may be one of any function.
  Called reached_from(std::uint32_t callee) const {
    Called called;
    const auto add = [&](const Instruction& i) {
      called.reads = std::max(called.reads, read_by(i));
      for (const Operand to : destinations_of(program_, i))
        if (to.is_register()) called.rows.push_back(to);
      for (const std::uint8_t to : i.predicate_destination)
        if (to != no_predicate) called.predicates.push_back(to);
    };
    if (callee != no_reconvergence) {
      for_each_reached(program_, callee, add);
    } else {
      for (const std::uint32_t entry : program_.function_entries)
        if (entry != no_reconvergence && entry != 0) for_each_reached(program_, entry, add);
    }
    return called;
  }

  const Program& program_;
  std::map<std::uint32_t, Called> by_entry_;
};

/// Contents of registers and predicates at one instruction; `reached`: control may reach it, as far
/// as known.
struct Values {
  std::vector<Reads> rows, predicates;
  bool reached = false;

  /// Returns whether anything is new.
  bool join(const Values& other) {
    bool changed = !reached;
    reached = true;
    const auto raise = [&](std::vector<Reads>& to, const std::vector<Reads>& from) {
      for (std::size_t i = 0; i < to.size(); ++i) {
        changed |= to[i] < from[i];
        to[i] = std::max(to[i], from[i]);
      }
    };
    raise(rows, other.rows);
    raise(predicates, other.predicates);
    return changed;
  }
};

/// Values of one loop, followed from its begin to its end until nothing changes, with the values
/// kept at each branch target.
class LoopValues {
 public:
  LoopValues(const Program& program, CalledFunctions& functions, std::uint32_t begin,
             std::uint32_t end)
      : program_(program),
        code_(program.instructions),
        functions_(functions),
        begin_(begin),
        end_(end),
        guards_(end - begin + 1),
        sent_(end - begin + 1) {
    const Values nothing{std::vector<Reads>(program.rows), std::vector<Reads>(program.predicates)};
    const auto add = [&](std::uint32_t pc) {
      if (pc >= begin && pc <= end) at_.try_emplace(pc, nothing);
    };
    add(begin);
    at_.at(begin).reached = true;
    for (std::uint32_t pc = begin; pc <= end; ++pc) for_each_target(code_[pc], add);
    do {
      ++passes_;
      changed_ = false;
      pass();
    } while (changed_);
  }

  std::uint64_t looked_at() const {
    return passes_ * (sent_.size() + at_.size() * (program_.rows + program_.predicates));
  }
  Reads guard_of(std::uint32_t pc) const {
    return std::max(guards_[pc - begin_], sent_[pc - begin_]);
  }

 private:
  template <class Visit>
  void for_each_target(const Instruction& i, Visit&& visit) const {
    if (i.category == Category::branch) visit(i.target);
    if (i.category == Category::branch_indexed)
      for (const std::uint32_t target : program_.branch_tables[i.target]) visit(target);
  }
  void pass() {
    Values values = at_.at(begin_);
    for (std::uint32_t pc = begin_; pc <= end_; ++pc) {
      if (const auto known = at_.find(pc); known != at_.end()) {
        if (values.reached) known->second.join(values);
        values = known->second;
      }
      if (values.reached) execute(pc, values);
    }
  }
  void execute(std::uint32_t pc, Values& values) {
    const Instruction& i = code_[pc];
    const bool guarded = i.guard != no_predicate;
    if (guarded) raise(guards_[pc - begin_], values.predicates[i.guard]);
    const Reads guard = guard_of(pc);
    switch (i.category) {
      case Category::branch:
        if (guarded && guard != none) send(pc, i.reconvergence, guard);
        [[fallthrough]];
      case Category::branch_indexed:
        for_each_target(i, [&](std::uint32_t target) {
          if (const auto known = at_.find(target); known != at_.end())
            changed_ |= known->second.join(values);
        });
        values.reached = guarded;
        break;
      case Category::ret:
      case Category::exit:
      case Category::trap:
        values.reached = guarded;
        break;
      case Category::call:
      case Category::call_indirect:
        add(functions_.by(i), values);
        break;
      default:
        compute(i, guard, guarded, values);
    }
  }
  void compute(const Instruction& i, Reads guard, bool guarded, Values& values) const {
    Reads value = std::max(guard, read_by(i));
    for (const Operand source : sources_of(program_, i))
      if (source.is_register()) value = std::max(value, values.rows[source.row()]);
    for (const std::uint8_t source : i.predicate_source)
      if (source != no_predicate) value = std::max(value, values.predicates[source]);
    const auto write = [&](Reads& to) { to = guarded ? std::max(to, value) : value; };
    for (const Operand to : destinations_of(program_, i))
      if (to.is_register())
        for (std::uint32_t r = 0; r < program_.width(to.row()); ++r)
          write(values.rows[to.row() + r]);
    for (const std::uint8_t to : i.predicate_destination)
      if (to != no_predicate) write(values.predicates[to]);
  }
  /// Instructions between the branch and the place where its lanes meet depend on the guard.
  void send(std::uint32_t branch, std::uint32_t meet, Reads guard) {
    const std::uint32_t end = meet > branch ? std::min(meet, end_ + 1) : end_ + 1;
    for (std::uint32_t pc = branch + 1; pc < end; ++pc) raise(sent_[pc - begin_], guard);
    // Lanes may meet where all of them leave the loop, in front of the code that goes round it.
    for (std::uint32_t pc = code_[branch].target; meet < pc && pc <= end_; ++pc) {
      if (pc < begin_) break;
      raise(sent_[pc - begin_], guard);
      if (code_[pc].category == Category::branch && code_[pc].guard == no_predicate) break;
    }
  }
  void add(const Called& called, Values& values) const {
    for (const Operand to : called.rows)
      for (std::uint32_t r = 0; r < program_.width(to.row()); ++r)
        values.rows[to.row() + r] = std::max(values.rows[to.row() + r], called.reads);
    for (const std::uint8_t to : called.predicates)
      values.predicates[to] = std::max(values.predicates[to], called.reads);
  }
  void raise(Reads& reads, Reads to) {
    if (reads >= to) return;
    reads = to;
    changed_ = true;
  }

  const Program& program_;
  const std::vector<Instruction>& code_;
  CalledFunctions& functions_;
  const std::uint32_t begin_, end_;
  std::map<std::uint32_t, Values> at_;  ///< values at each target of a branch
  std::vector<Reads> guards_;           ///< reads that decide the guard of each instruction
  std::vector<Reads> sent_;  ///< reads that decide the branches to each instruction or past it
  bool changed_ = false;
  std::uint64_t passes_ = 0;
};

bool leaves(const Instruction& instruction, std::uint32_t begin, std::uint32_t end) {
  switch (instruction.category) {
    case Category::branch:
      return instruction.target < begin || instruction.target > end;
    case Category::ret:
    case Category::exit:
      return true;
    default:
      return false;
  }
}

void mark(Instruction& branch, Reads reads) {
  if (reads == none) return;
  branch.flags |= flag_decides_wait;
  if (reads == strongly) branch.flags |= flag_strong_wait;
}

}  // namespace

void find_waiting_loops(Program& program) {
  std::vector<Instruction>& code = program.instructions;
  CalledFunctions functions(program);
  std::uint64_t looked_at = 0;
  for (std::uint32_t end = 0; end < code.size(); ++end) {
    const Instruction& last = code[end];
    if (last.category != Category::branch || last.target > end) continue;
    const std::uint32_t begin = last.target;
    if (end - begin > longest_followed || looked_at > most_looked_at) {
      mark(code[end], weakly);
      continue;
    }
    const LoopValues values(program, functions, begin, end);
    looked_at += values.looked_at();
    // Either branch may be unconditional: then a branch around it decides.
    Reads any = values.guard_of(end);
    for (std::uint32_t pc = begin; pc < end; ++pc)
      if (leaves(code[pc], begin, end)) {
        const Reads reads = values.guard_of(pc);
        any = std::max(any, reads);
        if (code[pc].category == Category::branch) mark(code[pc], reads);
      }
    mark(code[end], any);
  }
}

}  // namespace lockstep::isa
