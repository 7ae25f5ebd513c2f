/// Linking: the functions of a kernel's program, and the place of their registers and local memory.
///
/// Every function has fixed rows, disjoint from those of all its callers, so that a call moves
/// nothing but the program counter.  Functions that can call themselves, directly or through
/// others, save what is live to a stack in the thread's local memory around such calls; their
/// .local variables lie on that stack too.  A row holds either 32-bit values or halves of 64-bit
/// values: with both, lanes on different paths would overwrite each other's values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/isa/ir.hpp"
#include "models/isa/lowering/allocation/allocation.hpp"

namespace lockstep::isa {

/// A function ready for encoding, with the rows of its registers from the allocator, or with a row
/// for each register.
struct LinkInput {
  const ir::Function* function = nullptr;
  /// Rows of the registers; nullptr: every used register has rows of its own.
  const Allocation* allocation = nullptr;
};

/// Numbers of one function's registers, by class; rows follow when all functions are known.
struct RegisterSlots {
  std::vector<std::uint32_t> slot;  ///< slot of each register; no_register: not used
  std::uint32_t singles = 0, pairs = 0, predicates = 0;
};
RegisterSlots number_registers(const LinkInput& input);

struct LinkedFunction {
  std::uint32_t index = 0;  ///< number of the function in the module
  LinkInput input;
  RegisterSlots registers;
  std::vector<std::uint32_t> callees;  ///< positions of the callees in Link::functions
  bool recursive = false;
  std::uint32_t cycle = 0;  ///< number of the cycle: functions that call each other have the same
  // First single, pair, predicate and local byte; of recursive functions local bytes count from the
  // stack pointer.
  std::uint32_t single_base = 0, pair_base = 0, predicate_base = 0;
  std::uint64_t local_base = 0;
};

/// The functions a kernel reaches, itself first.
struct Link {
  std::vector<LinkedFunction> functions;
  std::uint32_t singles = 0, pairs = 0, predicates = 0;
  std::uint64_t local_bytes = 0;
  bool recursive = false, indirect = false;
  /// Position of each module function; no_register: not linked.
  std::vector<std::uint32_t> position;
};

/// Returns the module indices of the functions that a kernel reaches, itself first; only their code
/// is looked at.
std::vector<std::uint32_t> reached_functions(std::uint32_t kernel,
                                             std::span<const LinkInput> functions,
                                             std::span<const std::uint32_t> taken);

/// `taken`: module functions whose address stands in a variable.
Link link(std::uint32_t kernel, std::span<const LinkInput> functions,
          std::span<const std::uint32_t> taken);

}  // namespace lockstep::isa
