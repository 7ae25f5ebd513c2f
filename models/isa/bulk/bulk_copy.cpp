#include "models/isa/bulk/bulk_copy.hpp"

#include <fmt/format.h>

#include "models/isa/bulk/reduction.hpp"

namespace lockstep::isa {

using ir::BulkCopyStep;

InstructionMistake bulk_copy_mistake(BulkCopyStep step, const BulkCopy& copy,
                                     std::uint64_t shared_bytes) {
  constexpr const char* advice = "copy whole units of 16 bytes, between places that are multiples";
  if (copy.bytes % BulkCopy::unit != 0)
    return {fmt::format("bulk copy of {} bytes, which are no multiple of 16", copy.bytes), advice};
  if (copy.global % BulkCopy::unit != 0)
    return {fmt::format("bulk copy at address {:#x}, which is not a multiple of 16", copy.global),
            advice};
  if (step == BulkCopyStep::prefetch) return {};
  if (copy.shared % BulkCopy::unit != 0)
    return {fmt::format("bulk copy at shared address {:#x}, which is not a multiple of 16",
                        copy.shared),
            advice};
  if (copy.bytes > shared_bytes || copy.shared > shared_bytes - copy.bytes)
    return {fmt::format("bulk copy of {} bytes at shared address {:#x}, outside of the block's {} "
                        "bytes",
                        copy.bytes, copy.shared, shared_bytes),
            "check the index, the declaration and the launch's `shared:`"};
  if (step == BulkCopyStep::load || step == BulkCopyStep::send)
    return place_mistake(Space::shared, copy.barrier, shared_bytes);
  return {};
}

const std::byte* map_in_bank(std::span<const std::byte> bank, std::uint64_t base,
                             std::uint64_t address) {
  const std::uint64_t offset = address - base;
  const bool is_there = offset <= bank.size() && bank.size() - offset >= TensorMap::bytes;
  return is_there ? bank.data() + offset : nullptr;
}

InstructionMistake no_map_mistake(std::uint64_t address) {
  return {fmt::format("no tensor map is at address {:#x}", address),
          "give the address of a __grid_constant__ parameter, or in global or constant memory"};
}

InstructionMistake map_mistake(std::uint64_t address, const TensorMap::Bytes& bytes,
                               unsigned rank) {
  constexpr const char* advice =
      "give the address of what cuTensorMapEncodeTiled has made, as a __grid_constant__ parameter "
      "or in global or constant memory";
  if (address % TensorMap::alignment != 0)
    return {fmt::format("tensor map at address {:#x}, which is not a multiple of {}", address,
                        TensorMap::alignment),
            advice};
  if (const std::string mistake = mistake_in_bytes(bytes); !mistake.empty())
    return {fmt::format("tensor map at address {:#x}: {}", address, mistake), advice};
  const unsigned has = decode(bytes).rank;
  if (has != rank)
    return {fmt::format("tensor map at address {:#x} has {} dimensions, the instruction has {}",
                        address, has, rank),
            "copy with the .1d to .5d that the map was made with"};
  return {};
}

InstructionMistake reduction_mistake(AtomicOperation operation, const TensorMap& map) {
  if (reduction_exists(operation, reduced_type(map.type))) return {};
  return {fmt::format("elements of type {} of a tensor map have no such reduction",
                      static_cast<unsigned>(map.type)),
          "types are numbered as in CUtensorMapDataType: see PTX ISA, cp.reduce.async.bulk.tensor"};
}

InstructionMistake tile_copy_mistake(BulkCopyStep step, const TileCopy& copy, const TensorMap& map,
                                     std::uint64_t shared_bytes) {
  constexpr std::uint32_t unit = 128;
  if (step == BulkCopyStep::prefetch) return {};
  if (copy.shared % unit != 0)
    return {fmt::format("tile at shared address {:#x}, which is not a multiple of {}", copy.shared,
                        unit),
            "align what tiles are copied to by 128 bytes, and by 1024 with a swizzle of 128"};
  const std::uint64_t bytes = map.box_bytes();
  if (bytes > shared_bytes || copy.shared > shared_bytes - bytes)
    return {fmt::format("tile of {} bytes at shared address {:#x}, outside of the block's {} bytes",
                        bytes, copy.shared, shared_bytes),
            "check the box of the map, the declaration and the launch's `shared:`"};
  if (step == BulkCopyStep::load) return place_mistake(Space::shared, copy.barrier, shared_bytes);
  return {};
}

}  // namespace lockstep::isa
