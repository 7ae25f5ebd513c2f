#include "models/vm/tlb_fill/tlb_fill.hpp"

namespace lockstep {

const PolicyRegistry<MakeTlbFill>& tlb_fills() {
  static const PolicyRegistry<MakeTlbFill> registry{
      {"lru", "always in the second-level TLB (004, section 6.4)", make_lru_fill},
  };
  return registry;
}

const PolicyList& tlb_fill_policies() {
  return tlb_fills().list();
}

std::unique_ptr<TlbFill> make_tlb_fill(const PolicyChoice& choice) {
  return tlb_fills().factory(choice)(choice);
}

}  // namespace lockstep
