#include "models/vm/translation/translation.hpp"

namespace lockstep {

const PolicyRegistry<MakeTranslationPath>& translation_paths() {
  static const PolicyRegistry<MakeTranslationPath> registry{
      {"shared-tlb", "a second-level TLB of all SMs, if the GPU has one (004, section 6.2)",
       make_shared_tlb},
      {"page-walk-cache", "no second-level TLB; walks look page table entries up (004, 6.2)",
       make_page_walk_cache},
      {"ideal", "every translation is known at once", make_ideal_translation},
  };
  return registry;
}

const PolicyList& translation_policies() {
  return translation_paths().list();
}

std::unique_ptr<TranslationPath> make_translation_path(const PolicyChoice& choice,
                                                       const VmParameters& parameters,
                                                       std::unique_ptr<TlbFill> fill) {
  return translation_paths().factory(choice)(choice, parameters, std::move(fill));
}

}  // namespace lockstep
