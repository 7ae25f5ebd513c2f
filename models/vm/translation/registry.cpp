#include "core/parameters/registered.hpp"
#include "models/vm/translation/translation.hpp"

namespace lockstep {

const PolicyRegistry<TranslationFactory>& translation_paths() {
  static const PolicyRegistry<TranslationFactory> registry{
      LOCKSTEP_REGISTERED(TranslationFactory, shared_tlb_translation),
      LOCKSTEP_REGISTERED(TranslationFactory, page_walk_cache_translation),
      LOCKSTEP_REGISTERED(TranslationFactory, ideal_translation),
  };
  return registry;
}

const PolicyList& translation_policies() {
  return translation_paths().list();
}

std::unique_ptr<TranslationPath> make_translation_path(const GmmuPolicySetup& setup,
                                                       std::unique_ptr<TlbFill> fill) {
  return translation_paths().factory(setup.choice).make(setup, std::move(fill));
}

}  // namespace lockstep
