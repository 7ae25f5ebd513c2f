#include "models/isa/lowering/analysis/liveness.hpp"

#include <algorithm>

#include "models/isa/lowering/analysis/operation.hpp"

namespace lockstep::isa::lowering {

void LiveWalker::begin() {
  for (const std::uint32_t r : live_.members()) only_under_[r] = 0;
  live_.clear();
  guarded_.clear();
  rows_ = 0;
}

void LiveWalker::begin(const PackedRegisters& live_out) {
  begin();
  live_out.for_each([&](std::uint32_t r) { insert(r); });
}

LiveWalker::Guard LiveWalker::guard_of(const ir::Operation& operation) {
  return is_register(operation.guard)
             ? 2 * operation.guard.index + (operation.guard.negated ? 1 : 0) + 1
             : 0;
}

void LiveWalker::insert(std::uint32_t index) {
  if (live_.insert(index)) rows_ += rows_of(function_.registers[index].type);
}

void LiveWalker::erase(std::uint32_t index) {
  if (live_.erase(index)) rows_ -= rows_of(function_.registers[index].type);
  only_under_[index] = 0;
}

void LiveWalker::keep(std::uint32_t index) {
  insert(index);
  only_under_[index] = 0;
}

/// Forgets the guard: above its definition the predicate has another value.
void LiveWalker::forget_guard(std::uint32_t predicate) {
  const auto found = guarded_.find(predicate);
  if (found == guarded_.end()) return;
  for (const std::uint32_t r : found->second)
    if (only_under_[r] != 0 && (only_under_[r] - 1) / 2 == predicate) only_under_[r] = 0;
  guarded_.erase(found);
}

void LiveWalker::step_back(const ir::Operation& operation) {
  if (operation.opcode == Opcode::ret)
    for (const ir::Operand& result : function_.results)
      if (is_register(result)) keep(result.index);
  const Guard guard = guard_of(operation);
  const bool guarded = is_guarded(operation);
  for_each_definition(operation, [&](const ir::Operand& d) {
    if (!guarded || (guard != 0 && only_under_[d.index] == guard)) erase(d.index);
    if (d.kind == Kind::predicate) forget_guard(d.index);
  });
  for (const ir::Operand& use : operation.sources) {
    if (!is_register(use)) continue;
    if (!guarded || guard == 0) {
      keep(use.index);
    } else if (!live_.contains(use.index)) {
      insert(use.index);
      only_under_[use.index] = guard;
      guarded_[operation.guard.index].push_back(use.index);
    } else if (only_under_[use.index] != guard) {
      only_under_[use.index] = 0;
    }
  }
  if (is_register(operation.guard)) keep(operation.guard.index);
}

namespace {

/// Effects of blocks on registers: pairs in the order of registers, then of blocks.
class Effects {
 public:
  void add(std::uint32_t r, std::uint32_t block) { pairs_.emplace_back(r, block); }
  void sort() { std::sort(pairs_.begin(), pairs_.end()); }
  /// Calls `visit` with the blocks of a register; registers are asked for in ascending order.
  template <class Visit>
  void for_each(std::uint32_t r, Visit&& visit) {
    while (next_ < pairs_.size() && pairs_[next_].first < r) ++next_;
    for (std::size_t k = next_; k < pairs_.size() && pairs_[k].first == r; ++k)
      visit(pairs_[k].second);
  }

 private:
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_;
  std::size_t next_ = 0;
};

class Solver {
 public:
  Solver(const ir::Function& function, const Flow& flow)
      : function_(function),
        flow_(flow),
        in_(flow.successors.size()),
        out_(flow.successors.size()),
        ends_(flow.successors.size()),
        is_read_(function.registers.size()),
        is_input_(function.registers.size()) {
    for (const ir::Operand& input : function.inputs)
      if (is_register(input)) is_input_[input.index] = true;
    find_reads();
    find_writes();
  }

  void run(Liveness& liveness) {
    for (std::uint32_t r = 0; r < is_read_.size(); ++r) {
      if (!is_read_[r]) continue;
      mark_ends(r);
      spread(r, nullptr);
      if (in_[0] == stamp_ && !is_input_[r]) {  // a path reads the register before any write
        std::vector<std::uint32_t> writers;
        writes_.for_each(r, [&](std::uint32_t b) { writers.push_back(b); });
        const std::vector<bool> written = reached_from(flow_, writers);
        mark_ends(r);
        spread(r, &written);
      }
      for (const std::uint32_t b : live_in_) liveness.live_in[b].insert(r);
      for (const std::uint32_t b : live_out_) liveness.live_out[b].insert(r);
    }
  }

 private:
  /// Registers that are live where a block begins, because of the block itself.
  void find_reads() {
    LiveWalker walker(function_);
    for (const std::uint32_t b : flow_.order) {
      walker.begin();
      const auto& operations = function_.blocks[b].operations;
      for (auto o = operations.size(); o-- > 0;) walker.step_back(operations[o]);
      for (const std::uint32_t r : walker.live().members()) {
        reads_.add(r, b);
        is_read_[r] = true;
      }
    }
    reads_.sort();
  }

  /// Finds the writers of these registers, and the places where a write ends the earlier value.
  void find_writes() {
    LiveWalker walker(function_);
    RegisterSet written(function_.registers.size());
    for (const std::uint32_t b : flow_.order) {
      walker.begin();
      written.clear();
      const auto& operations = function_.blocks[b].operations;
      for (const ir::Operation& operation : operations)
        for_each_definition(operation, [&](const ir::Operand& d) {
          if (is_read_[d.index] && written.insert(d.index)) walker.keep(d.index);
        });
      if (written.size() == 0) continue;
      for (auto o = operations.size(); o-- > 0;) walker.step_back(operations[o]);
      for (const std::uint32_t r : written.members()) {
        writes_.add(r, b);
        if (!walker.live().contains(r)) kills_.add(r, b);
      }
    }
    writes_.sort();
    kills_.sort();
  }

  void mark_ends(std::uint32_t r) {
    ++stamp_;
    kills_.for_each(r, [&](std::uint32_t b) { ends_[b] = stamp_; });
  }

  /// Spreads liveness.  `written`: for each block, whether a write may reach it; nullptr: writes
  /// reach it wherever that matters.
  void spread(std::uint32_t r, const std::vector<bool>* written) {
    live_in_.clear();
    live_out_.clear();
    reads_.for_each(r, [&](std::uint32_t b) { work_.push_back(b); });
    while (!work_.empty()) {
      const std::uint32_t b = work_.back();
      work_.pop_back();
      if (in_[b] == stamp_ || (written != nullptr && !(*written)[b])) continue;
      in_[b] = stamp_;
      live_in_.push_back(b);
      for (const std::uint32_t p : flow_.predecessors[b]) {
        if (!flow_.reachable(p) || out_[p] == stamp_) continue;
        out_[p] = stamp_;
        live_out_.push_back(p);
        if (ends_[p] != stamp_) work_.push_back(p);
      }
    }
  }

  const ir::Function& function_;
  const Flow& flow_;
  Effects reads_, writes_, kills_;
  /// Last stamp of each block at its begin and end, and where the value's life ends.
  std::vector<std::uint32_t> in_, out_, ends_;
  std::uint32_t stamp_ = 0;
  std::vector<bool> is_read_, is_input_;  ///< flags of each register
  std::vector<std::uint32_t> live_in_, live_out_, work_;
};

}  // namespace

std::vector<bool> reached_from(const Flow& flow, const std::vector<std::uint32_t>& blocks) {
  std::vector<bool> reached(flow.successors.size());
  std::vector<std::uint32_t> work = blocks;
  while (!work.empty()) {
    const std::uint32_t b = work.back();
    work.pop_back();
    for (const std::uint32_t s : flow.successors[b])
      if (!reached[s]) {
        reached[s] = true;
        work.push_back(s);
      }
  }
  return reached;
}

Liveness::Liveness(const ir::Function& analysed, const Flow& flow) : function(analysed) {
  solve(flow);
}

void Liveness::solve(const Flow& flow) {
  live_in.assign(function.blocks.size(), {});
  live_out = live_in;
  if (!function.blocks.empty()) Solver(function, flow).run(*this);
}

}  // namespace lockstep::isa::lowering
