/// Liveness of registers.
///
/// Most virtual registers live and die within a block.  Liveness between blocks is therefore solved
/// register by register, from the blocks that read a register first up to those that write it: the
/// cost is proportional to the result, and not to blocks times registers.
/// Source: Appel, Palsberg: Modern Compiler Implementation, 2nd edition, section 19.6 (for SSA
/// form; here blocks say what they do to a register).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <unordered_map>
#include <vector>

#include "models/isa/ir.hpp"
#include "models/isa/lowering/analysis/flow.hpp"
#include "models/isa/lowering/analysis/register_set.hpp"

namespace lockstep::isa::lowering {

/// Walks blocks from their ends to their beginnings with the set of live registers.  A guarded
/// write keeps the old value alive, unless all later reads are under that guard. A return reads the
/// function's results.  The liveness of a register does not depend on that of others.
class LiveWalker {
 public:
  explicit LiveWalker(const ir::Function& function)
      : function_(function),
        live_(function.registers.size()),
        only_under_(function.registers.size()) {}
  /// Begins at the end of a block, where nothing is live, or `live_out`.
  void begin();
  void begin(const PackedRegisters& live_out);
  void step_back(const ir::Operation& operation);
  const RegisterSet& live() const { return live_; }
  std::uint32_t live_rows() const { return rows_; }
  void keep(std::uint32_t index);  ///< from here upwards the register is live in all lanes

 private:
  using Guard = std::uint32_t;  ///< twice the predicate, plus one if negated, plus one; 0: none
  static Guard guard_of(const ir::Operation& operation);
  void insert(std::uint32_t index);
  void erase(std::uint32_t index);
  void forget_guard(std::uint32_t predicate);

  const ir::Function& function_;
  RegisterSet live_;
  /// Guard of each register that is live only for the guard's lanes.
  std::vector<Guard> only_under_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>>
      guarded_;  ///< registers that may be live only under each predicate
  std::uint32_t rows_ = 0;
};

/// Registers live at the ends of blocks.  A register that no write reaches is not live, even if a
/// guarded write or an impossible path reads it.
struct Liveness {
  std::vector<PackedRegisters> live_in, live_out;
  Liveness(const ir::Function& analysed, const Flow& flow);
  /// Solves liveness again, after operations changed.
  void solve(const Flow& flow);

  const ir::Function& function;
};

/// Returns for each block whether it is reached from behind one of `blocks`.
std::vector<bool> reached_from(const Flow& flow, const std::vector<std::uint32_t>& blocks);

}  // namespace lockstep::isa::lowering
