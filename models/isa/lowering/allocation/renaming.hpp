/// Renaming of registers into others, with liveness kept up to date.
///
/// Operations are listed by the registers that they mention, and liveness is solved again for the
/// renamed register alone, along these lists: the cost of a copy depends on the mentions of its
/// ends and not on the length of the function.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/isa/ir.hpp"
#include "models/isa/lowering/analysis/flow.hpp"
#include "models/isa/lowering/analysis/liveness.hpp"
#include "models/isa/lowering/analysis/registers.hpp"

namespace lockstep::isa::lowering {

class Renaming {
 public:
  Renaming(ir::Function& function, const Flow& flow);

  /// Returns whether either register is written, apart from copies between them, where the other is
  /// needed afterwards.
  bool interfere(std::uint32_t a, std::uint32_t b) const;
  /// Renames `from` to `to` everywhere; copies of a register to itself disappear.  Precondition:
  /// the two do not interfere.
  void rename(std::uint32_t from, std::uint32_t to);

 private:
  using Places = std::vector<Place>;  ///< places in ascending order

  ir::Operation& at(Place place) {
    return function_.blocks[place.block].operations[place.operation];
  }
  const ir::Operation& at(Place place) const {
    return function_.blocks[place.block].operations[place.operation];
  }
  /// Returns the places that decide where these registers are live: mentions, and definitions of
  /// their guards.
  Places deciding(std::uint32_t a, std::uint32_t b) const;
  void find_writers();
  void spread_liveness(std::uint32_t r);
  /// Stamps blocks at whose begin, and at whose end, the register is newly live.  `written`: for
  /// each block, whether a write may reach it; nullptr: writes reach it wherever that matters.
  void find_new(std::uint32_t r, const Places& places, const std::vector<bool>* written);
  bool is_live_above(std::uint32_t r, std::uint32_t block, const Places& decided) const;
  bool is_live_below(std::uint32_t r, std::uint32_t block) const;
  /// The walker stands at the end of a block and knows of these registers alone.
  void begin_walk(std::uint32_t block, std::initializer_list<std::uint32_t> registers) const;

  ir::Function& function_;
  const Flow& flow_;
  Liveness liveness_;
  std::vector<Places> mentions_;                     ///< places that mention each register
  std::vector<Places> definitions_;                  ///< places that write each predicate
  std::vector<std::vector<std::uint32_t>> writers_;  ///< blocks that write each register
  mutable LiveWalker walker_;
  /// Last stamp of find_new at the begin and end of each block.
  std::vector<std::uint32_t> in_stamp_, out_stamp_;
  std::vector<std::uint32_t> new_in_, new_out_;  ///< blocks that got the current stamp
  std::uint32_t stamp_ = 1;
};

}  // namespace lockstep::isa::lowering
