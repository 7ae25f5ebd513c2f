/// Finds tenants that wait for ever.
///
/// At every epoch components report the progress of each tenant (noc/progress.hpp), and the host
/// counts the time without progress. The time runs ten times as fast while the tenant's warps issue
/// and wait for no page, since polling warps would see a change at once. It runs a tenth as fast
/// while other tenants get on, because the tenant may wait for their transfers and kernels; and it
/// stands still then for a tenant without blocks on SMs, whose turn may come late. So a run finds
/// the same at the same simulated time on any ranks and threads.
///
/// Simplified: a warp that counts in a register for ever makes progress by this rule, even if it
/// polls; see isa::backward_branch_limit.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/noc/progress.hpp"

namespace lockstep {

class ProgressWatch {
 public:
  /// `limit`: zero for none.
  ProgressWatch(Time limit, std::size_t tenants) : limit_(limit), tenants_(tenants) {}

  /// Checks an epoch that has ended. `seen`: progress that all components have seen in it.
  void look(Time end, std::span<const std::uint8_t> seen);
  /// Returns the tenants that the last check found for the first time since their last progress.
  const std::vector<std::size_t>& found() const { return found_; }
  /// Returns since when the tenant has not got on.
  Time since(std::size_t tenant) const { return tenants_[tenant].since; }
  Time limit() const { return limit_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(tenants_, last_);
  }

 private:
  /// A single look sees too few of the warps' instructions.
  static constexpr std::uint32_t least_looks = 8;
  static constexpr std::int64_t factor = 10;

  struct OfTenant {
    Time since;   ///< time of the tenant's last progress
    Time waited;  ///< time waited since then, as it counts
    std::uint32_t looks = 0;
    bool was_found = false;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(since, waited, looks, was_found);
    }
  };
  static bool gets_on(std::uint8_t bits) {
    return (bits & progress::unfinished) == 0 || (bits & (progress::got_on | progress::stepped));
  }
  /// Returns how much of an epoch counts.
  static Time counted(Time epoch, std::uint8_t bits, bool others_get_on);

  const Time limit_;
  std::vector<OfTenant> tenants_;
  Time last_;
  std::vector<std::size_t> found_;
};

}  // namespace lockstep
