#include "core/parameters/registered.hpp"
#include "models/vm/tlb_fill/tlb_fill.hpp"

namespace lockstep {

const PolicyRegistry<TlbFillFactory>& tlb_fills() {
  static const PolicyRegistry<TlbFillFactory> registry{
      LOCKSTEP_REGISTERED(TlbFillFactory, lru_tlb_fill),
      LOCKSTEP_REGISTERED(TlbFillFactory, mask_tlb_fill),
  };
  return registry;
}

const PolicyList& tlb_fill_policies() {
  return tlb_fills().list();
}

std::unique_ptr<TlbFill> make_tlb_fill(const GmmuPolicySetup& setup) {
  return tlb_fills().factory(setup.choice).make(setup);
}

}  // namespace lockstep
