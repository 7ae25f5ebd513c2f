#pragma once

#include <cstdint>
#include <vector>

#include "models/isa/encode/link.hpp"
#include "models/isa/instruction.hpp"

namespace lockstep::isa {

/// Layout of a warp's rows: first the pairs of 64-bit values, then single rows.  Behind the rows of
/// the functions' registers come the rows that carry parameters of calls, and those that recursion
/// and alloca need.
class RowLayout {
 public:
  explicit RowLayout(const Link& link);

  std::uint32_t pairs() const { return pairs_; }
  std::uint32_t rows() const { return 2 * pairs_ + singles_; }
  bool has_stack_end() const { return stack_end_ != ir::no_register; }

  Operand pair(std::uint32_t n) const;
  Operand single(std::uint32_t n) const;
  /// Returns two rows for values that are computed on the way.
  Operand spare_pair() const { return pair(spare_pair_); }
  Operand spare_single() const { return single(spare_single_); }
  /// Returns the row of the stack pointer of recursive calls.
  Operand stack_pointer() const { return single(stack_pointer_); }
  /// Returns the row of the stack's end, which alloca moves, if any function calls it.
  Operand stack_end() const { return single(stack_end_); }
  /// Returns the rows of each parameter of a call, by the classes of those before it.
  std::vector<Operand> call_rows(const std::vector<Type>& types) const;

 private:
  std::uint32_t pairs_ = 0, singles_ = 0;
  std::uint32_t call_pairs_ = 0, call_singles_ = 0;  ///< first rows that carry parameters
  std::uint32_t spare_pair_ = 0, spare_single_ = 0, stack_pointer_ = 0;
  std::uint32_t stack_end_ = ir::no_register;
};

}  // namespace lockstep::isa
