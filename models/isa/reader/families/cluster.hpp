#pragma once

#include "models/isa/reader/families/family_reader.hpp"

namespace lockstep::isa {

/// Instructions that thread block clusters have of their own.
class ClusterReader : public FamilyReader {
 public:
  using FamilyReader::FamilyReader;
  void map_address(PtxInstruction& instruction);  ///< mapa
  void rank(PtxInstruction& instruction);         ///< getctarank
  void barrier(PtxInstruction& instruction);      ///< barrier.cluster
  void store(PtxInstruction& instruction);        ///< st.async
  void reduce(PtxInstruction& instruction);       ///< red.async

 private:
  /// Takes .shared::cluster; addresses without it are generic.  Returns the type of addresses.
  Type take_address_type(PtxInstruction& instruction);
  /// Makes an async_store with these modifiers.
  void send(PtxInstruction& instruction);
  /// Returns the address in shared memory of the cluster.
  ir::Operand place(PtxInstruction& instruction, const Argument& argument, bool is_generic);
};

}  // namespace lockstep::isa
