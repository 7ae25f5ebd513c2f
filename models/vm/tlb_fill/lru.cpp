/// Every finished walk fills the second-level TLB, over its least recently used entry.
/// Source: 004, section 6.4 (SharedTLB, the baseline).
#include "models/vm/tlb_fill/tlb_fill.hpp"

namespace lockstep {

namespace {

class LruFill final : public TlbFill {
 public:
  void fill(const FinishedWalk& walk, Time, Tlb& tlb) override {
    tlb.insert(walk.tenant, walk.page, walk.entry);
  }
};

}  // namespace

std::unique_ptr<TlbFill> make_lru_fill(const PolicyChoice&) {
  return std::make_unique<LruFill>();
}

}  // namespace lockstep
