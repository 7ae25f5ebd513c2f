#pragma once

#include "models/isa/l2_hint.hpp"
#include "models/isa/reader/families/family_reader.hpp"

namespace lockstep::isa {

/// Loads, stores, fences and prefetches.
class MemoryReader : public FamilyReader {
 public:
  using FamilyReader::FamilyReader;
  void load(PtxInstruction& instruction);
  void store(PtxInstruction& instruction);
  void fence(PtxInstruction& instruction);
  void prefetch(PtxInstruction& instruction);
  void apply_priority(PtxInstruction& instruction);
  void discard(PtxInstruction& instruction);
  /// Reads createpolicy: makes a constant of the L2 policy.
  void create_policy(PtxInstruction& instruction);

 private:
  void fence_of_barriers(PtxInstruction& instruction);
  static void ask_for(PtxInstruction& instruction, L2Priority priority);
  void expect_line(PtxInstruction& instruction);
  /// Reads a prefetch of a map, which becomes no instruction.
  void prefetch_map(PtxInstruction& instruction);
  void fence_of_asynchronous_reads(PtxInstruction& instruction);
  std::uint8_t policy_fraction(PtxInstruction& instruction, const Argument& written);
  bool parameter_access(PtxInstruction& instruction, bool is_store);
  void read_kernel_parameter(PtxInstruction& instruction, const Argument& name,
                             const Symbol& symbol);
  void move_parameter(PtxInstruction& instruction, const Argument& name, const Symbol& symbol,
                      bool is_store);
};

}  // namespace lockstep::isa
