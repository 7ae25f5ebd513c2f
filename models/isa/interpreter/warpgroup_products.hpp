/// Products of warp groups in an interpreted block.
///
/// A warp's part completes when the warp issues it, a legal outcome: until the warp has waited, no
/// thread may change the operands or read the result.  A wait is over when all warps of the group
/// have issued the products, since one of them then tells the copier that B may be overwritten.  A
/// warp that reads registers of a product under way is reported, except for plain copies: compilers
/// write them at the end of a loop's round, and the copy then also counts as a register of the
/// product. Source: PTX ISA 9.0, "Asynchronous Warpgroup Level Matrix Instructions"; modern-isa.md,
/// section 3.4.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "models/isa/interpreter/warp.hpp"

namespace lockstep::isa {

class BlockRunner;

class WarpgroupProducts {
 public:
  explicit WarpgroupProducts(BlockRunner& block) : block_(block) {}

  void multiply(InterpretedWarp& warp, const Instruction& product, std::uint32_t active);
  /// Executes a fence, a commit or a wait.  Returns false for a wait that is not over.
  bool step(InterpretedWarp& warp, const Instruction& step);
  /// Checks an instruction that a warp with products under way is about to execute.
  void look_at(const InterpretedWarp& warp, const Instruction& instruction);

 private:
  /// Rows that products of a group write or read.
  struct Group {
    std::vector<std::uint16_t> written, read;
    std::uint64_t last = 0;  ///< number of its last product
  };
  struct OfWarp {
    std::deque<Group> committed;  ///< committed groups, the oldest first
    Group open;
    std::uint64_t issued = 0;  ///< products
  };
  OfWarp& of(const InterpretedWarp& warp);
  /// Returns whether all warps of the warp's group have issued that many products, or have ended.
  bool others_have_issued(const InterpretedWarp& warp, std::uint64_t products) const;
  void require_right(const InterpretedWarp& warp, const Instruction& product) const;
  /// Returns whether products under way write, or read, the row.
  static bool has(const OfWarp& products, std::vector<std::uint16_t> Group::*rows, Operand row);

  BlockRunner& block_;
  std::vector<OfWarp> warps_;  ///< one entry per warp; empty: no warp has multiplied
};

}  // namespace lockstep::isa
