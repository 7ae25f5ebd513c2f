/// All rows that an instruction reads or writes, in its record or in its operand list.
///
/// An instruction's record has room for four destinations and five sources.  An instruction with
/// more (a matrix instruction reads ten and more) has an operand list in its program.  `Holder`
/// owns instructions and lists: a Program, or the SM's table of one.
/// Source: modern-isa.md, section 5.1.
#pragma once

#include <span>

#include "models/isa/instruction.hpp"

namespace lockstep::isa {

constexpr bool is_listed(const Instruction& instruction) {
  return (instruction.flags & flag_listed) != 0;
}

template <class Holder>
auto& list_of(Holder& holder, const Instruction& instruction) {
  return holder.operand_lists[static_cast<std::size_t>(instruction.offset)];
}

/// Returns the rows that the instruction reads; some of a record's are invalid.
template <class Holder>
std::span<const Operand> sources_of(const Holder& holder, const Instruction& instruction) {
  if (is_listed(instruction)) [[unlikely]]
    return list_of(holder, instruction).sources;
  return instruction.source;
}

/// Calls the function with each row that the instruction reads, as a reference that it may replace.
template <class Holder>
std::span<const Operand> destinations_of(const Holder& holder, const Instruction& instruction) {
  if (is_listed(instruction)) [[unlikely]]
    return list_of(holder, instruction).destinations;
  return instruction.destination;
}

/// Calls the function with each row that the instruction reads or writes, as a reference that it
/// may replace.
template <class Holder>
void for_each_named_source(Holder& holder, Instruction& instruction, auto&& function) {
  std::span<Operand> rows = instruction.source;
  if (is_listed(instruction)) rows = list_of(holder, instruction).sources;
  for (Operand& row : rows) function(row);
}

/// Calls the function with each row that the instruction reads or writes, to be replaced.
template <class Holder>
void for_each_named_row(Holder& holder, Instruction& instruction, auto&& function) {
  std::span<Operand> rows = instruction.destination;
  if (is_listed(instruction)) rows = list_of(holder, instruction).destinations;
  for (Operand& row : rows) function(row);
  for_each_named_source(holder, instruction, function);
}

}  // namespace lockstep::isa
