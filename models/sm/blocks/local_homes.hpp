#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "models/noc/ids.hpp"

namespace lockstep {

/// Places of local memory that warps keep while their block is not on chip and other blocks have
/// its slots.  There are more places than warp slots.
///
/// A block that returns to another SM keeps its homes, which that SM borrows: the block's local
/// memory stays where it is.  The homes come back when the block has ended, or with the block.
class LocalHomes {
 public:
  /// `lendable`: number of the `count` homes that other SMs may have at once; 0: blocks do not
  /// leave and have no homes.
  LocalHomes(LocalHome first, std::uint32_t count, std::uint32_t lendable)
      : first_(first), lendable_(lendable), tenants_(count), lent_(count) {
    for (std::uint32_t home = count; home > 0; --home)
      free_.push_back(LocalHome(first.value() + home - 1));
  }

  bool are_kept() const { return lendable_ > 0; }
  std::vector<LocalHome> take(std::uint32_t warps, TenantId tenant) {
    std::vector<LocalHome> homes;
    for (; warps > 0; --warps) {
      homes.push_back(free_.back());
      free_.pop_back();
      tenants_[number(homes.back())] = tenant;
    }
    return homes;
  }
  /// Returns whether the homes are another SM's.
  bool borrowed(const std::vector<LocalHome>& homes) const {
    return !homes.empty() && !is_own(homes.front());
  }
  void give_back(const std::vector<LocalHome>& homes) {
    if (borrowed(homes)) return due_.push_back(homes);
    mark(homes, false);
    free_.insert(free_.end(), homes.rbegin(), homes.rend());
  }
  TenantId tenant_at(LocalHome home) const {
    return is_own(home) ? tenants_[number(home)] : borrowed_.at(home.value());
  }

  /// Returns whether a block with these homes may return to another SM.
  bool can_lend(const std::vector<LocalHome>& homes) const {
    const auto is_away = [&](LocalHome home) { return lent_[number(home)]; };
    return borrowed(homes) || std::all_of(homes.begin(), homes.end(), is_away) ||
           static_cast<std::size_t>(std::count(lent_.begin(), lent_.end(), true)) + homes.size() <=
               lendable_;
  }
  void lend(const std::vector<LocalHome>& homes) {
    if (borrowed(homes)) return forget(homes);
    mark(homes, true);
  }
  /// Takes the homes of a block that comes.  The SM's own homes stay lent until the block is on
  /// chip: until then its context stands in a place of another SM and takes none of the places that
  /// homes were counted for.
  void borrow(const std::vector<LocalHome>& homes, TenantId tenant) {
    if (!borrowed(homes)) return;
    for (const LocalHome home : homes) borrowed_[home.value()] = tenant;
  }
  /// The block is on chip.
  void entered(const std::vector<LocalHome>& homes) {
    if (!borrowed(homes)) mark(homes, false);
  }

  /// Forgets homes that return to their first SM, or go on to a third SM.
  void forget(const std::vector<LocalHome>& homes) {
    for (const LocalHome home : homes) borrowed_.erase(home.value());
  }

  /// Returns borrowed homes whose blocks have ended, in one list for each block; the caller sends
  /// them home.
  std::vector<std::vector<LocalHome>>& due() { return due_; }
  bool any_due() const { return !due_.empty(); }

  void serialize(Archive& archive) { archive(free_, tenants_, lent_, borrowed_, due_); }

 private:
  bool is_own(LocalHome home) const {
    return home.value() >= first_.value() && number(home) < tenants_.size();
  }
  std::size_t number(LocalHome home) const { return home.value() - first_.value(); }
  void mark(const std::vector<LocalHome>& homes, bool lent) {
    for (const LocalHome home : homes) lent_[number(home)] = lent;
  }

  const LocalHome first_;
  const std::uint32_t lendable_;
  std::vector<LocalHome> free_;
  std::vector<TenantId> tenants_;               ///< tenant that uses each home
  std::vector<bool> lent_;                      ///< homes whose block is with another SM
  std::map<std::uint32_t, TenantId> borrowed_;  ///< tenant that uses each borrowed home
  std::vector<std::vector<LocalHome>> due_;
};

}  // namespace lockstep
