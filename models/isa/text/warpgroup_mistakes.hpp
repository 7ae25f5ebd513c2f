/// Mistakes in products of warp groups, reported alike by the interpreter and the SM.
#pragma once

#include <optional>

#include "models/isa/instruction.hpp"
#include "models/isa/matrix/shared_operand.hpp"

namespace lockstep::isa {

/// Returns the mistake in a product that a warp is about to execute, if there is one. `warps`:
/// number in the block; `row`: returns the lanes of an operand.
template <class Row>
InstructionMistake product_mistake(const Instruction& product, const OperandList& list,
                                   std::size_t warp, std::size_t warps, std::uint64_t shared_bytes,
                                   Row&& row) {
  const std::size_t first = warp / warps_of_group * warps_of_group;
  if (first + warps_of_group > warps)
    return {"wgmma needs the four warps of a warp group, and the block ends with " +
                std::to_string(warps - first) + " of them",
            "launch blocks of a multiple of 128 threads"};
  const WarpgroupForm form = unpack_warpgroup_form(product.target);
  const auto descriptor = [&](std::size_t source) {
    const std::uint32_t* lanes = row(list.sources[source]);
    return lanes[0] | std::uint64_t{lanes[1]} << 32;
  };
  std::size_t at = registers_of_d(form);
  std::optional<std::uint64_t> a;
  if (form.a_in_registers)
    at += registers_of_a;
  else
    a = descriptor(at++);
  return shared_operand_mistake(form, a, descriptor(at), shared_bytes);
}

}  // namespace lockstep::isa
