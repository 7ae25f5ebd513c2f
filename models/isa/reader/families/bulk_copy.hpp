#pragma once

#include <vector>

#include "models/isa/bulk/bulk_copy.hpp"
#include "models/isa/reader/families/family_reader.hpp"

namespace lockstep::isa {

/// cp.async.bulk: copies of many bytes that one thread begins, and for which no thread need wait at
/// once.
class BulkCopyReader : public FamilyReader {
 public:
  using FamilyReader::FamilyReader;
  /// Precondition: the modifiers async and bulk are taken.
  void copy(PtxInstruction& instruction);

 private:
  enum class LoadKind : std::uint8_t { plain, multicast, send };
  /// Takes the modifiers of a copy to shared memory.  `may_send`: also from shared memory.
  LoadKind take_load(PtxInstruction& instruction, bool may_send);
  /// Returns the mask of ranks, 32 bits, of the argument.
  ir::Operand ranks(PtxInstruction& instruction, std::size_t which);
  void load(PtxInstruction& instruction);
  void store(PtxInstruction& instruction);
  void prefetch(PtxInstruction& instruction);
  void reduce(PtxInstruction& instruction);
  void reduce_in_cluster(PtxInstruction& instruction);
  /// Takes the operation of a reduction.
  void take_operation(PtxInstruction& instruction);
  void group(PtxInstruction& instruction, ir::BulkGroupStep step);
  /// Requires this number of arguments, and the policy that a hint names.
  void expect(PtxInstruction& instruction, std::size_t arguments, std::size_t hints);
  /// Begins the operation: its first source is the address.
  void begin(PtxInstruction& instruction, BulkCopyForm form, const Argument& address);
  /// Makes the operation: its sources are the global address, `places` and the bytes of `count`.
  void finish(PtxInstruction& instruction, ir::BulkCopyStep step, const Argument& global,
              const ir::Operand& places, const Argument& count);
  /// Returns two shared addresses, or two coordinates, as one source of 64 bits.
  ir::Operand pair(PtxInstruction& instruction, const ir::Operand& low, const ir::Operand& high);
  ir::Operand bytes(PtxInstruction& instruction, const Argument& argument);

  // tensor_copy.cpp
  void tile(PtxInstruction& instruction);
  void load_tile(PtxInstruction& instruction, unsigned rank);
  /// Stores or reduces.
  void store_tile(PtxInstruction& instruction, unsigned rank, ir::BulkCopyStep step);
  void prefetch_tile(PtxInstruction& instruction, unsigned rank);
  /// Makes the operation: its sources are the map's address, `places` and the coordinates.
  void finish_tile(PtxInstruction& instruction, BulkCopyForm form, const Argument& tile,
                   const ir::Operand& places);
  /// Returns the coordinates and the mask of ranks, if there is one, two in each operand.
  std::vector<ir::Operand> coordinates(PtxInstruction& instruction, const Argument& tile,
                                       BulkCopyForm form);
};

}  // namespace lockstep::isa
