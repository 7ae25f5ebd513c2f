/// Selection of victims: the blocks of a running kernel that leave so that blocks of a preempting
/// one find their places.
///
/// For each SM the best candidate - the blocks in the way at one place of the preempting kernel -
/// is the one that loses least of those that are free within the bound, else the one that is free
/// soonest.  A round takes at most one candidate of each SM, the best SMs first, until there are
/// places for all blocks that want one.  Blocks that are on their way out cost nothing more.  Where
/// threads or block slots are short although a place is free, the cheapest further blocks leave.
/// Source: 003, section 3.3, Algorithm 1, lines 10 to 20; preemption.md, sections 6 and 7.3
/// (rounds).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "models/dispatch/victims/sm_release.hpp"
#include "models/sm/parameters/sm_places.hpp"

namespace lockstep {

/// Selection at an SM while blocks are being chosen.
class SmSelection {
 public:
  struct Setup {
    std::uint32_t sm = 0;
    const SmPlaces* places = nullptr;
    BlockResources used;  ///< resources of all blocks on the SM
    OccupancyLimits limits;
    /// Needs of a block of the preempting kernel and of the running one.
    BlockResources need, victim;
    std::uint32_t grid = 0;                ///< the running grid
    std::vector<SmRelease::Block> blocks;  ///< blocks of the grid, each with its technique and cost
  };
  explicit SmSelection(Setup setup);

  struct Choice {
    std::uint32_t place = 0;
    /// Indices in Setup::blocks of the blocks that leave beside those chosen before.
    std::vector<std::size_t> leave;
    Time latency;
    std::uint64_t overhead = 0;
    bool is_free = true;   ///< the place has no block
    bool widened = false;  ///< further blocks leave for threads or slots
  };
  /// Returns whether `a` is the better choice.
  static bool better(const Choice& a, const Choice& b, Time bound);
  std::optional<Choice> best(Time bound) const;
  void take(const Choice& choice);
  std::uint32_t sm() const { return setup_.sm; }
  /// Returns the blocks that have been chosen.
  SmRelease release() const;
  struct Counts {
    std::uint64_t candidates = 0;  ///< places where a block of the preempting kernel can stand
    std::uint64_t chosen = 0;
    std::uint64_t free_before = 0;  ///< chosen places that no block had to leave
    std::uint64_t widened = 0;
    /// Registers and shared memory that were free before, but in no free place.
    std::uint64_t fragmented_registers = 0, fragmented_shared = 0;
  };
  Counts counts() const { return counts_; }

 private:
  void count_fragments();
  std::optional<Choice> at(std::uint32_t place) const;
  /// Lets further blocks leave until threads and slots suffice. Returns false if they cannot.
  bool make_fit(Choice& choice) const;

  Setup setup_;
  BlockResources left_;  ///< resources in use when all choices have been carried out
  std::set<std::size_t> leaving_;
  std::set<std::uint32_t> granted_;
  Time latency_;
  std::uint64_t overhead_ = 0;
  Counts counts_;
};

/// burst: all wanted places at once; serial: at most one place of each SM at a time.
enum class SelectionRounds : std::uint8_t { burst, serial };

/// Chooses victims until there are `wanted` places.
void select_victims(std::vector<SmSelection>& sms, std::uint64_t wanted, Time bound,
                    SelectionRounds rounds = SelectionRounds::burst);

}  // namespace lockstep
