/// Every L1 TLB miss is answered in the cycle in which it arrives; what remains is the way to the
/// GMMU and back.  Pages that are not there fault as ever.
/// Source: 004, sections 6.2 and 7.5 (the ideal TLB that both are compared with).
#include "models/vm/translation/translation.hpp"

namespace lockstep {

namespace {

class IdealTranslation final : public TranslationPath {
 public:
  TranslationTiming timing() const override { return {false, 0, Cycles{0}, Cycles{0}}; }
};

}  // namespace

std::unique_ptr<TranslationPath> make_ideal_translation(const PolicyChoice&, const VmParameters&,
                                                        std::unique_ptr<TlbFill>) {
  return std::make_unique<IdealTranslation>();
}

}  // namespace lockstep
