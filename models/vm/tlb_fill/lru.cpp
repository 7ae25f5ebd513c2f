/// Every finished walk fills the second-level TLB, in place of its least recently used entry.
/// Source: 004, section 6.4 (SharedTLB, the baseline).
#include "models/vm/tlb_fill/tlb_fill.hpp"

namespace lockstep {

namespace {

class LruFill final : public TlbFill {
 public:
  void fill(const FinishedWalk& walk, Time, Tlb& tlb) override {
    tlb.insert(walk.where, walk.entry);
  }
};

}  // namespace

PolicyRegistry<TlbFillFactory>::Row lru_tlb_fill() {
  return {"lru",
          "always in the second-level TLB (004, section 6.4)",
          {[](const GmmuPolicySetup&) -> std::unique_ptr<TlbFill> {
            return std::make_unique<LruFill>();
          }}};
}

}  // namespace lockstep
