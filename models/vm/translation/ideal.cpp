/// Every SM is told about every page when it is mapped, and about its removal by the shootdown; an
/// access to a known page costs as much as a hit in the L1 TLB.  An SM reports its first use of a
/// page to the GMMU, for the accessed bits that eviction sees; no access waits for that.  Absent
/// pages fault as usual: requested, refused, replayed.
/// Source: 004, sections 6.2 and 7.5 (the ideal TLB that both are compared with).
#include "models/vm/translation/translation.hpp"

namespace lockstep {

namespace {

class IdealTranslation final : public TranslationPath {
 public:
  TranslationTiming timing() const override { return {false, 0, Cycles{0}, Cycles{0}}; }
};

}  // namespace

PolicyRegistry<TranslationFactory>::Row ideal_translation() {
  return {"ideal",
          "every translation is known at once",
          {[](const GmmuPolicySetup&, std::unique_ptr<TlbFill>) {
            return std::unique_ptr<TranslationPath>(std::make_unique<IdealTranslation>());
          }},
          nullptr,
          [](const PolicyChoice&) {
            return PolicyTraits{{"knows all translations"}, {}};
          }};
}

}  // namespace lockstep
