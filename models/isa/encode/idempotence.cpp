#include "models/isa/encode/idempotence.hpp"

#include <algorithm>
#include <deque>

#include "models/isa/bulk/bulk_copy.hpp"
#include "models/isa/encode/successors.hpp"
#include "models/isa/ir.hpp"
#include "models/isa/operand_lists.hpp"

namespace lockstep::isa {

namespace {

/// A predicate, negated or not, under which instructions are executed.
struct Guard {
  std::uint8_t predicate = no_predicate;
  bool negated = false;

  bool always() const { return predicate == no_predicate; }
  bool operator==(const Guard&) const = default;
};

Guard guard_of(const Instruction& instruction) {
  return {instruction.guard, instruction.guard_negated};
}

/// Origins of the pointers that a pair of rows may hold: in any lane, and in lanes for which
/// `guard` is true.  The latter were written last under the guard, with its predicate unchanged
/// since.
struct PairState {
  PointerOrigins any = 0;
  Guard guard;  ///< always(): nothing more is known
  PointerOrigins guarded = 0;

  bool operator==(const PairState&) const = default;
  PointerOrigins under(Guard reader) const {
    return !reader.always() && reader == guard ? guarded : any;
  }
  void write(PointerOrigins origins, Guard writer) {
    *this = writer.always() ? PairState{origins, {}, 0} : PairState{any | origins, writer, origins};
  }
  void join(const PairState& other) {
    any |= other.any;
    *this = guard == other.guard ? PairState{any, guard, guarded | other.guarded}
                                 : PairState{any, {}, 0};
  }
};

/// State of each pair of rows; pointers are in the pairs with 64-bit values.
using State = std::vector<PairState>;

class OriginAnalysis {
 public:
  explicit OriginAnalysis(const Program& program) : program_(program) {
    of_constant_.assign(program.constant_rows, 0);
    for (const ConstantRow& row : program.constants)
      if (row.row < of_constant_.size()) of_constant_[row.row] = origins_of(row);
  }

  /// Returns the state before each instruction; empty: control never reaches it.
  std::vector<State> run() const {
    const auto next = successors(program_);
    std::vector<State> before(program_.instructions.size());
    if (before.empty()) return before;
    before[0].assign((program_.pair_rows + 1) / 2, {});
    std::deque<std::uint32_t> work{0};
    while (!work.empty()) {
      const std::uint32_t pc = work.front();
      work.pop_front();
      State after = before[pc];
      execute(program_.instructions[pc], after);
      for (const std::uint32_t n : next[pc])
        if (join(before[n], after)) work.push_back(n);
    }
    return before;
  }

  PointerOrigins origins_of(Operand operand, Guard guard, const State& state) const {
    if (!operand.valid()) return 0;
    if (operand.base() == Operand::constants) return of_constant_[operand.row()];
    if (operand.is_register() && operand.row() < program_.pair_rows)
      return state[operand.row() / 2].under(guard);
    return 0;
  }

 private:
  static PointerOrigins origins_of(const ConstantRow& row) {
    if (row.source == ConstantRow::Source::global_symbol) return from_variables;
    if (row.bytes < 8) return 0;
    const auto place = static_cast<std::uint64_t>(row.offset) / 8;
    return place < most_followed_parameters && row.offset % 8 == 0 ? PointerOrigins{1} << place
                                                                   : from_anywhere;
  }
  static bool join(State& into, const State& from) {
    const State before = into;
    if (into.empty()) into = from;
    for (std::size_t i = 0; i < from.size(); ++i) into[i].join(from[i]);
    return into != before;
  }
  void execute(const Instruction& instruction, State& state) const {
    const Guard guard = guard_of(instruction);
    PointerOrigins origins = 0;
    if (is_memory(instruction.category)) {
      origins = from_anywhere;
    } else {
      for (const Operand source : sources_of(program_, instruction))
        origins |= origins_of(source, guard, state);
    }
    for (const Operand destination : destinations_of(program_, instruction))
      if (destination.is_register() && destination.row() < program_.pair_rows)
        state[destination.row() / 2].write(origins, guard);
    for (const std::uint8_t predicate : instruction.predicate_destination)
      for (PairState& pair : state)
        if (predicate != no_predicate && pair.guard.predicate == predicate)
          pair = {pair.any, {}, 0};
  }

  const Program& program_;
  std::vector<PointerOrigins> of_constant_;
};

bool is_call(Category category) {
  return category == Category::call || category == Category::call_indirect;
}

bool is_global(const MemoryFields& memory) {
  return memory.space == Space::global || memory.space == Space::generic;
}

}  // namespace

PointerOrigins GlobalUse::written() const {
  PointerOrigins all = 0;
  for (const Write& write : writes) all |= write.origins;
  return all;
}

PointerOrigins GlobalUse::overwritten(
    const std::function<std::uint32_t(unsigned)>& buffer_of) const {
  const PointerOrigins to = written();
  if ((read & from_anywhere) != 0) return to;
  PointerOrigins found = to & read;
  for (unsigned w = 0; w < most_followed_parameters; ++w) {
    if ((to >> w & 1) == 0) continue;
    const std::uint32_t buffer = buffer_of(w);
    for (unsigned r = 0; r < most_followed_parameters; ++r)
      if ((read >> r & 1) != 0 && buffer != 0 && buffer_of(r) == buffer)
        found |= PointerOrigins{1} << w;
  }
  return found;
}

GlobalUse find_global_use(const Program& program) {
  const bool follows =
      std::none_of(program.instructions.begin(), program.instructions.end(),
                   [](const Instruction& instruction) { return is_call(instruction.category); });
  const OriginAnalysis analysis(program);
  const std::vector<State> before = follows ? analysis.run() : std::vector<State>{};
  GlobalUse use;
  use.addresses.assign(program.instructions.size(), 0);
  for (std::uint32_t pc = 0; pc < program.instructions.size(); ++pc) {
    const Instruction& instruction = program.instructions[pc];
    if (instruction.category == Category::print) use.writes.push_back({pc, from_anywhere});
    const bool in_bulk = instruction.category == Category::bulk_copy;
    if ((!is_memory(instruction.category) && !in_bulk) || !is_global(instruction.memory)) continue;
    PointerOrigins origins = from_anywhere;
    if (follows && !before[pc].empty())
      if (const PointerOrigins known =
              analysis.origins_of(instruction.source[0], guard_of(instruction), before[pc]))
        origins = known;
    const BulkCopyForm form = in_bulk ? BulkCopyForm::unpack(instruction.target) : BulkCopyForm{};
    if (form.rank != 0) origins = from_anywhere;  // the tensor map may name any address
    use.addresses[pc] = origins;
    const bool stores = instruction.category == Category::store || form.writes();
    if (stores || instruction.category == Category::atomic) use.stored |= origins;
    if (instruction.category == Category::atomic || form.step == ir::BulkCopyStep::reduce) {
      use.writes.push_back({pc, from_anywhere});
    } else if (stores) {
      use.writes.push_back({pc, origins});
    } else if (instruction.category == Category::load || instruction.category == Category::copy ||
               in_bulk) {
      use.read |= origins;
    }
  }
  return use;
}

}  // namespace lockstep::isa
