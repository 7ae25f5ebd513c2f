/// No block switching: a block whose warps have faulted keeps its place.
#include "models/sm/block_switching/block_switching.hpp"

namespace lockstep {

PolicyRegistry<MakeBlockSwitching>::Row no_block_switching() {
  return {"none", "a block keeps its place until it is done",
          [](const PolicyChoice&) -> std::unique_ptr<BlockSwitching> {
            return std::make_unique<BlockSwitching>();
          }};
}

}  // namespace lockstep
