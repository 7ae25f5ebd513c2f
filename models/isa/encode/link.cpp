#include "models/isa/encode/link.hpp"

#include <algorithm>
#include <map>

#include "core/memory/round_up.hpp"

namespace lockstep::isa {

using Kind = ir::Operand::Kind;

namespace {

bool is_register(const ir::Operand& operand) {
  return (operand.kind == Kind::reg || operand.kind == Kind::predicate) &&
         operand.index != ir::no_register;
}

template <class Visit>
void for_each_register(const ir::Function& function, Visit&& visit) {
  const auto all = [&](const std::vector<ir::Operand>& operands) {
    for (const ir::Operand& operand : operands)
      if (is_register(operand)) visit(operand.index);
  };
  all(function.inputs);
  all(function.results);
  for (const ir::Block& block : function.blocks)
    for (const ir::Operation& operation : block.operations) {
      if (is_register(operation.guard)) visit(operation.guard.index);
      all(operation.destinations);
      all(operation.sources);
    }
}

/// Direct callees of a function, functions whose address it takes, and whether it has indirect
/// calls.
struct Mentions {
  std::vector<std::uint32_t> called, taken;
  bool indirect = false;
};

Mentions mentions_of(const ir::Function& function) {
  Mentions result;
  for (const ir::Block& block : function.blocks)
    for (const ir::Operation& operation : block.operations)
      for (std::size_t s = 0; s < operation.sources.size(); ++s) {
        const ir::Operand& operand = operation.sources[s];
        const bool callee = operation.opcode == Opcode::call && s == 0;
        if (operand.kind == Kind::function)
          (callee ? result.called : result.taken).push_back(operand.index);
        else if (callee)
          result.indirect = true;
      }
  return result;
}

/// Tarjan's strongly connected components; callees' components are numbered first.
class Cycles {
 public:
  explicit Cycles(Link& link) : link_(link), low_(link.functions.size()), order_(low_.size(), 0) {
    for (std::uint32_t f = 0; f < order_.size(); ++f)
      if (order_[f] == 0) visit(f);
  }
  std::uint32_t count() const { return components_; }

 private:
  void visit(std::uint32_t f) {
    order_[f] = low_[f] = ++next_;
    stack_.push_back(f);
    for (const std::uint32_t callee : link_.functions[f].callees) {
      if (order_[callee] == 0) {
        visit(callee);
        low_[f] = std::min(low_[f], low_[callee]);
      } else if (std::find(stack_.begin(), stack_.end(), callee) != stack_.end()) {
        low_[f] = std::min(low_[f], order_[callee]);
      }
    }
    if (low_[f] != order_[f]) return;
    const auto first = std::find(stack_.begin(), stack_.end(), f);
    const bool several = stack_.end() - first > 1;
    for (auto member = first; member != stack_.end(); ++member) {
      LinkedFunction& function = link_.functions[*member];
      function.cycle = components_;
      function.recursive = several || std::find(function.callees.begin(), function.callees.end(),
                                                *member) != function.callees.end();
    }
    stack_.erase(first, stack_.end());
    ++components_;
  }

  Link& link_;
  std::vector<std::uint32_t> low_, order_, stack_;
  std::uint32_t next_ = 0, components_ = 0;
};

void find_functions(Link& result, std::uint32_t kernel, std::span<const LinkInput> functions,
                    std::span<const std::uint32_t> taken) {
  result.position.assign(functions.size(), ir::no_register);
  std::vector<std::uint32_t> pointed;
  std::vector<Mentions> mentions;
  const auto add = [&](std::uint32_t index) {
    if (result.position[index] != ir::no_register || functions[index].function == nullptr) return;
    result.position[index] = static_cast<std::uint32_t>(result.functions.size());
    LinkedFunction function;
    function.index = index;
    function.input = functions[index];
    result.functions.push_back(std::move(function));
  };
  add(kernel);
  for (std::size_t f = 0; f < result.functions.size(); ++f) {
    mentions.push_back(mentions_of(*result.functions[f].input.function));
    for (const std::uint32_t callee : mentions[f].called) add(callee);
    for (const std::uint32_t callee : mentions[f].taken) {
      pointed.push_back(callee);
      add(callee);
    }
    if (mentions[f].indirect && !result.indirect) {
      result.indirect = true;
      for (const std::uint32_t callee : taken) {
        pointed.push_back(callee);
        add(callee);
      }
    }
  }
  for (std::size_t f = 0; f < result.functions.size(); ++f) {
    std::vector<std::uint32_t> callees = mentions[f].called;
    if (mentions[f].indirect) callees.insert(callees.end(), pointed.begin(), pointed.end());
    for (std::uint32_t& callee : callees) callee = result.position[callee];
    std::sort(callees.begin(), callees.end());
    callees.erase(std::unique(callees.begin(), callees.end()), callees.end());
    std::erase(callees, ir::no_register);
    result.functions[f].callees = std::move(callees);
  }
}

/// Places functions so that a function's registers lie behind those of all its callers.
void place(Link& link, std::uint32_t cycles) {
  struct Frame {
    std::uint32_t singles = 0, pairs = 0, predicates = 0;
    std::uint64_t local = 0;
  };
  std::vector<Frame> start(cycles);
  // Callers have higher component numbers than callees.
  for (std::uint32_t cycle = cycles; cycle-- > 0;) {
    Frame frame = start[cycle];
    for (LinkedFunction& f : link.functions) {
      if (f.cycle != cycle) continue;
      f.single_base = frame.singles;
      f.pair_base = frame.pairs;
      f.predicate_base = frame.predicates;
      frame.singles += f.registers.singles;
      frame.pairs += f.registers.pairs;
      frame.predicates += f.registers.predicates;
      if (!f.recursive) {
        f.local_base = frame.local;
        frame.local = round_up(frame.local + f.input.function->local_bytes, 16);
      }
      link.recursive |= f.recursive;
    }
    for (const LinkedFunction& f : link.functions) {
      if (f.cycle != cycle) continue;
      for (const std::uint32_t callee : f.callees) {
        const std::uint32_t below = link.functions[callee].cycle;
        if (below == cycle) continue;
        start[below].singles = std::max(start[below].singles, frame.singles);
        start[below].pairs = std::max(start[below].pairs, frame.pairs);
        start[below].predicates = std::max(start[below].predicates, frame.predicates);
        start[below].local = std::max(start[below].local, frame.local);
      }
    }
    link.singles = std::max(link.singles, frame.singles);
    link.pairs = std::max(link.pairs, frame.pairs);
    link.predicates = std::max(link.predicates, frame.predicates);
    link.local_bytes = std::max(link.local_bytes, frame.local);
  }
}

}  // namespace

RegisterSlots number_registers(const LinkInput& input) {
  const ir::Function& function = *input.function;
  RegisterSlots result;
  result.slot.assign(function.registers.size(), ir::no_register);
  std::map<std::uint32_t, std::uint32_t> singles, pairs;  // slot of each row
  for_each_register(function, [&](std::uint32_t index) {
    if (result.slot[index] != ir::no_register) return;
    const unsigned rows = rows_of(function.registers[index].type);
    if (input.allocation == nullptr) {
      result.slot[index] = rows == 0   ? result.predicates++
                           : rows == 1 ? result.singles++
                                       : result.pairs++;
      return;
    }
    const std::uint16_t row = input.allocation->row_of_register[index];
    if (row == no_row) return;
    if (rows == 0) {
      result.slot[index] = row;
      result.predicates = std::max(result.predicates, row + 1u);
    } else if (const auto& places = input.allocation->place_of_register; !places.empty()) {
      result.slot[index] = places[index];
      std::uint32_t& count = rows == 1 ? result.singles : result.pairs;
      count = std::max(count, places[index] + 1u);
    } else {
      auto& numbers = rows == 1 ? singles : pairs;
      result.slot[index] =
          numbers.try_emplace(row, static_cast<std::uint32_t>(numbers.size())).first->second;
    }
  });
  if (input.allocation != nullptr && input.allocation->place_of_register.empty()) {
    result.singles = static_cast<std::uint32_t>(singles.size());
    result.pairs = static_cast<std::uint32_t>(pairs.size());
  }
  return result;
}

std::vector<std::uint32_t> reached_functions(std::uint32_t kernel,
                                             std::span<const LinkInput> functions,
                                             std::span<const std::uint32_t> taken) {
  Link reached;
  find_functions(reached, kernel, functions, taken);
  std::vector<std::uint32_t> indices;
  for (const LinkedFunction& f : reached.functions) indices.push_back(f.index);
  return indices;
}

Link link(std::uint32_t kernel, std::span<const LinkInput> functions,
          std::span<const std::uint32_t> taken) {
  Link result;
  find_functions(result, kernel, functions, taken);
  for (LinkedFunction& f : result.functions) f.registers = number_registers(f.input);
  const Cycles cycles(result);
  place(result, cycles.count());
  return result;
}

}  // namespace lockstep::isa
