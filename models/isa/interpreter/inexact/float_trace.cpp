#include "models/isa/interpreter/inexact/float_trace.hpp"

#include <algorithm>
#include <cmath>

#include "models/isa/operand_lists.hpp"

namespace lockstep::isa {

bool adds_floats(const Instruction& instruction) {
  return instruction.category == Category::atomic &&
         instruction.memory.atomic == AtomicOperation::add && is_float(instruction.memory.type);
}

bool adds_floats(const Program& program) {
  return std::any_of(program.instructions.begin(), program.instructions.end(),
                     [](const Instruction& i) { return adds_floats(i); });
}

void FloatTrace::look_at(const Loaded& loaded, std::uint64_t address, unsigned bytes) {
  // No aligned access reaches behind a page.
  for (std::uint64_t word = address / 4; 4 * word < address + bytes; ++word) {
    const std::uint64_t at = word % WordMap<Word>::page_words;
    if (loaded.before != nullptr) read_.include((*loaded.before)[at].off);
    if (loaded.now != nullptr && (*loaded.now)[at].additions > 0) use_sum((*loaded.now)[at].type);
  }
}

void FloatTrace::add(std::uint64_t address, Type type, double added, double sum) {
  const std::uint64_t number = address / WordMap<Word>::page_bytes;
  WordMap<Word>::Page& page = words_.page_at(number);
  remember(number, page);
  Word& word = page[address / 4 % WordMap<Word>::page_words];
  word.type = type;
  ++word.additions;
  for (const double value : {added, sum})
    if (std::isfinite(value))
      word.magnitude = std::max(word.magnitude, static_cast<float>(std::fabs(value)));
}

void FloatTrace::use_sum(Type type) {
  constexpr float addends = 1024;
  read_.include({static_cast<float>(unit_roundoff(type)), 4 * std::sqrt(addends)});
}

bool FloatTrace::uses_result(const Program& program, std::uint32_t pc) {
  const auto known = uses_result_.find(pc);
  if (known != uses_result_.end()) return known->second;
  const Instruction& atomic = program.instructions[pc];
  const auto is_used = [&](Operand result) {
    return result.is_register() &&
           std::any_of(program.instructions.begin(), program.instructions.end(),
                       [&](const Instruction& i) {
                         const auto sources = sources_of(program, i);
                         return std::find(sources.begin(), sources.end(), result) != sources.end();
                       });
  };
  const bool uses = atomic.memory.returns &&
                    std::any_of(atomic.destination.begin(), atomic.destination.end(), is_used);
  return uses_result_[pc] = uses;
}

void FloatTrace::take(const FloatTrace& other) {
  read_.include(other.read_);
  other.words_.for_each([&](std::uint64_t address, const Word& theirs) {
    if (theirs.is_stored) {
      words_.at(address) = theirs;
    } else if (theirs.additions > 0) {
      Word& mine = words_.at(address);
      mine.type = theirs.type;
      mine.additions += theirs.additions;
      mine.magnitude = std::max(mine.magnitude, theirs.magnitude);
    }
  });
}

}  // namespace lockstep::isa
