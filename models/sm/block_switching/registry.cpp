#include "models/sm/block_switching/registry.hpp"

#include "core/parameters/registered.hpp"
#include "models/sm/block_switching/block_switching.hpp"
#include "models/sm/exception_scheme/registry.hpp"

namespace lockstep {

static PolicyTraits traits_of_switching(const PolicyChoice& choice) {
  PolicyTraits traits;
  if (extra_blocks_of(choice) != 0)
    traits.needs = {needs_squashing("takes a block away that has faulted")};
  return traits;
}

static const PolicyRegistry<MakeBlockSwitching>& switchings() {
  static const PolicyRegistry<MakeBlockSwitching> rows{
      {
          LOCKSTEP_REGISTERED(MakeBlockSwitching, no_block_switching),
          LOCKSTEP_REGISTERED(MakeBlockSwitching, switch_on_fault),
      },
      traits_of_switching};
  return rows;
}

const PolicyList& block_switching_policies() {
  return switchings().list();
}

std::unique_ptr<BlockSwitching> make_block_switching(const PolicyChoice& choice) {
  return switchings().factory(choice)(choice);
}

std::uint32_t extra_blocks_of(const PolicyChoice& choice) {
  return make_block_switching(choice)->extra_blocks();
}

}  // namespace lockstep
