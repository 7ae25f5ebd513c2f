#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/checkpoint/archive.hpp"
#include "core/parameters/policy.hpp"
#include "core/time/time.hpp"
#include "models/vm/messages.hpp"
#include "models/vm/tlb.hpp"

namespace lockstep {

/// A page walk that found its page.
struct FinishedWalk {
  std::uint64_t page = 0;
  std::uint16_t tenant = 0;
  PageTableEntry entry;
  std::span<const TranslateRequest> requests;  ///< who waited, the first one started the walk
};

/// Plug point `tlb_fill`: where the result of a page walk is kept.
///
/// Contract: `fill` puts the entry into the TLB or into an array of the policy's own, which `find`
/// then looks up; what `drop` names is not found any more.  Depend on nothing but the arguments and
/// what serialize keeps.
/// Source: memory-interference.md, sections 5.3.3 and 7.3 (004, sections 6.4.2 and 6.5).
class TlbFill {
 public:
  virtual ~TlbFill() = default;

  virtual void fill(const FinishedWalk& walk, Time now, Tlb& tlb) = 0;
  /// An entry beside the TLB that translates the page, looked up together with the TLB's arrays.
  virtual const PageTableEntry* find(std::uint16_t /*tenant*/, std::uint64_t /*page*/) {
    return nullptr;
  }
  /// A lookup of a tenant has ended.
  virtual void on_lookup(std::uint16_t /*tenant*/, bool /*hit*/, Time /*now*/) {}
  /// Each returns the number of entries dropped.
  virtual std::uint32_t drop(std::uint16_t /*tenant*/, std::uint64_t /*page*/) { return 0; }
  virtual std::uint32_t drop_tenant(std::uint16_t /*tenant*/) { return 0; }
  virtual std::uint32_t drop_all() { return 0; }
  virtual void serialize(Archive&) {}
};

using MakeTlbFill = std::unique_ptr<TlbFill> (*)(const PolicyChoice&);
const PolicyRegistry<MakeTlbFill>& tlb_fills();
const PolicyList& tlb_fill_policies();
std::unique_ptr<TlbFill> make_tlb_fill(const PolicyChoice& choice);

std::unique_ptr<TlbFill> make_lru_fill(const PolicyChoice&);

}  // namespace lockstep
