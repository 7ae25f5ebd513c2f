/// Nothing stands between an L1 TLB miss and a walk, and results of walks are not kept.
///
/// Source: 001, section B.2 (TLB misses of a CU go to the GMMU, whose walker has many threads).
///
/// Simplified: requests of several SMs for a page still share one walk. Cost model: a request's
/// walk begins in the cycle in which it arrives.
#include "models/vm/translation/no_second_level.hpp"

namespace lockstep {

namespace {

class NoSecondLevel final : public TranslationPath {
 public:
  TranslationTiming timing() const override { return {true, 0, Cycles{0}, Cycles{0}}; }
};

}  // namespace

std::unique_ptr<TranslationPath> make_no_second_level() {
  return std::make_unique<NoSecondLevel>();
}

}  // namespace lockstep
