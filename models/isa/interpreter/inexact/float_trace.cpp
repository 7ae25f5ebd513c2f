#include "models/isa/interpreter/inexact/float_trace.hpp"

#include <algorithm>
#include <cmath>

namespace lockstep::isa {

bool adds_floats(const Instruction& instruction) {
  return instruction.category == Category::atomic &&
         instruction.memory.atomic == AtomicOperation::add && is_float(instruction.memory.type);
}

bool adds_floats(const Program& program) {
  return std::any_of(program.instructions.begin(), program.instructions.end(),
                     [](const Instruction& i) { return adds_floats(i); });
}

void FloatTrace::look_at_page(std::uint64_t number) {
  loaded_page_ = number;
  page_before_ = before_.words().page(number);
  page_now_ = words_.page(number);
}

void FloatTrace::look_at(std::uint64_t address, unsigned bytes) {
  constexpr std::uint64_t page = WordMap<Word>::page_words;
  for (std::uint64_t word = address / 4; 4 * word < address + bytes; ++word) {
    if (word / page != loaded_page_) return;  // behind the page's end lies no aligned access
    if (page_before_ != nullptr) read_.include((*page_before_)[word % page].off);
    if (page_now_ != nullptr && (*page_now_)[word % page].additions > 0)
      use_sum((*page_now_)[word % page].type);
  }
}

void FloatTrace::store(std::uint64_t address, Type type, double value) {
  const auto magnitude = static_cast<float>(std::isfinite(value) ? std::fabs(value) : 0);
  words_.at(address) = {type, true, 0, magnitude};
  if (address / WordMap<Word>::page_bytes == loaded_page_) look_at_page(loaded_page_);
}

void FloatTrace::add(std::uint64_t address, Type type, double added, double sum) {
  Word& word = words_.at(address);
  word.type = type;
  ++word.additions;
  for (const double value : {added, sum})
    if (std::isfinite(value))
      word.magnitude = std::max(word.magnitude, static_cast<float>(std::fabs(value)));
  loaded_page_ = ~std::uint64_t{0};
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
           std::any_of(
               program.instructions.begin(), program.instructions.end(), [&](const Instruction& i) {
                 return std::find(i.source.begin(), i.source.end(), result) != i.source.end();
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
