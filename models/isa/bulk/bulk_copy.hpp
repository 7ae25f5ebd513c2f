/// Bulk copies: the meaning of the instruction, for the SM's engine and the interpreter, and the
/// texts of its mistakes.
///
/// A thread names the first byte in global memory, the first byte in shared memory of its block,
/// the number of bytes, and for a load the mbarrier that counts the bytes when they have come.
/// Source: PTX ISA 8.x, "Data Movement and Conversion Instructions: Non-tensor asynchronous copy:
/// cp.async.bulk"; modern-isa.md, section 3.3.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>

#include "models/isa/barriers/mbarrier.hpp"
#include "models/isa/bulk/tensor_map.hpp"
#include "models/isa/instruction.hpp"
#include "models/isa/ir.hpp"

namespace lockstep::isa {

/// Instruction::target of a bulk copy.
struct BulkCopyForm {
  ir::BulkCopyStep step = ir::BulkCopyStep::load;
  unsigned rank = 0;       ///< rank of the tensor for a tile; 0: bytes side by side
  bool multicast = false;  ///< true: a load goes to the blocks of the cluster that a mask names

  constexpr std::uint32_t packed() const {
    return static_cast<std::uint32_t>(step) | rank << 8 | std::uint32_t{multicast} << 16;
  }
  static constexpr BulkCopyForm unpack(std::uint32_t bits) {
    return {static_cast<ir::BulkCopyStep>(bits & 0xff), bits >> 8 & 0xff, (bits >> 16 & 1) != 0};
  }
  constexpr bool writes() const {
    return step == ir::BulkCopyStep::store || step == ir::BulkCopyStep::reduce;
  }
};

/// Where an instruction has the mask of ranks of a copy to several blocks: half a row of 64 bits.
struct RanksPlace {
  unsigned source = 0, half = 0;
};
/// Returns the place of the ranks: behind the bytes or, for a tile, like one more coordinate.
constexpr RanksPlace ranks_place(BulkCopyForm form) {
  return form.rank == 0 ? RanksPlace{3, 0} : RanksPlace{2 + form.rank / 2, form.rank % 2};
}

struct BulkCopy {
  static constexpr std::uint64_t unit = 16;  ///< addresses and sizes are multiples of this

  /// Address in global memory; a send: source in the block's shared memory.
  std::uint64_t global = 0;
  std::uint64_t bytes = 0;
  std::uint32_t shared = 0;  ///< address in the block's shared memory, or an address of cluster.hpp
  std::uint32_t barrier = 0;  ///< barrier of a load: an address like `shared`
};

/// Returns a lane's copy.  `places`, `bytes`: rows of source[1] and source[2].
inline BulkCopy bulk_copy_of(std::uint64_t global, const std::uint32_t* places,
                             const std::uint32_t* bytes, unsigned lane) {
  BulkCopy copy;
  copy.global = global;
  copy.shared = places[2 * lane];
  copy.barrier = places[2 * lane + 1];
  std::memcpy(&copy.bytes, bytes + 2 * lane, sizeof copy.bytes);
  return copy;
}

/// Returns the mistake in a copy by a block with this much shared memory, if there is one. The
/// place in global memory is not checked here.
InstructionMistake bulk_copy_mistake(ir::BulkCopyStep step, const BulkCopy& copy,
                                     std::uint64_t shared_bytes);

/// Copy of a tile, as a thread asks for it.
struct TileCopy {
  std::uint64_t map = 0;  ///< address of the tensor map
  std::uint32_t shared = 0, barrier = 0;
  std::array<std::int32_t, TensorMap::most_rank> first{};  ///< coordinates of the box
};
/// Returns a lane's copy of a tile with `rank` dimensions.  `row` finds the row of an operand.
template <class Row>
TileCopy tile_copy_of(const Instruction& instruction, std::uint64_t map, unsigned lane, Row&& row) {
  TileCopy copy;
  copy.map = map;
  const std::uint32_t* places = row(instruction.source[1]);
  copy.shared = places[2 * lane];
  copy.barrier = places[2 * lane + 1];
  const unsigned rank = BulkCopyForm::unpack(instruction.target).rank;
  for (unsigned d = 0; d < rank; ++d)
    copy.first[d] = static_cast<std::int32_t>(row(instruction.source[2 + d / 2])[2 * lane + d % 2]);
  return copy;
}

/// Returns the bytes of the map at the address in a bank that begins at `base`; nullptr: there is
/// none.
const std::byte* map_in_bank(std::span<const std::byte> bank, std::uint64_t base,
                             std::uint64_t address);
InstructionMistake no_map_mistake(std::uint64_t address);
/// Returns the mistake in the map's address or bytes for an instruction of that rank, if there is
/// one.
InstructionMistake map_mistake(std::uint64_t address, const TensorMap::Bytes& bytes, unsigned rank);
/// Returns the mistake in reducing elements of the tensor, if there is one.
InstructionMistake reduction_mistake(AtomicOperation operation, const TensorMap& map);
/// Returns the mistake in a tile's copy by a block with this much shared memory, if there is one.
/// The map and the place in global memory are not checked here.
InstructionMistake tile_copy_mistake(ir::BulkCopyStep step, const TileCopy& copy,
                                     const TensorMap& map, std::uint64_t shared_bytes);

}  // namespace lockstep::isa
