#pragma once

#include "models/isa/reader/families/family_reader.hpp"

namespace lockstep::isa {

class AtomicReader : public FamilyReader {
 public:
  using FamilyReader::FamilyReader;
  void atomic(PtxInstruction& instruction);  ///< atom, red

 private:
  void atomic_of_eight(PtxInstruction& instruction);
};

}  // namespace lockstep::isa
