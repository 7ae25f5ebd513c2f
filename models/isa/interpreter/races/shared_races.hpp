/// Races in shared memory: accesses of the same byte by two threads of a block, at least one of
/// them a write, that neither barriers nor member masks nor strong accesses order.
///
/// For each byte the last write is remembered, with the later reads, one of each warp.  Atomics and
/// ordered accesses (volatile, relaxed, acquire, release) do not race with each other, and order
/// the accesses before and behind them.  Two writes of the same value are no race either.
/// Source: Flanagan and Freund, "FastTrack: Efficient and Precise Dynamic Race Detection", PLDI
/// 2009; PTX ISA 8.x, "Memory Consistency Model", sections "Conflict and Data-races" and
/// "Causality order".
///
/// Simplified: a strong access of shared memory counts as if it had its fences, and a strong load
/// of global memory as if it had the fence behind it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/isa/interpreter/races/warp_clocks.hpp"

namespace lockstep::isa {

enum class AccessKind : std::uint8_t { load, store, atomic };

/// Two accesses, the earlier one first.
struct SharedRace {
  struct Side {
    AccessKind kind = AccessKind::load;
    std::uint32_t pc = 0;
    std::uint32_t thread = 0;  ///< number of the thread in the block
  };
  std::uint64_t block = 0;
  std::uint32_t offset = 0;  ///< offset in shared memory
  Side first, second;
};

/// The first race of each pair of a kernel's instructions, in either order.
class RaceList {
 public:
  void add(const SharedRace& race) {
    const auto [one, other] = std::minmax(race.first.pc, race.second.pc);
    if (seen_.insert({one, other}).second) races_.push_back(race);
  }
  const std::vector<SharedRace>& races() const { return races_; }

 private:
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen_;
  std::vector<SharedRace> races_;
};

class SharedRaces {
 public:
  /// Accesses that some lanes of a warp make at once.
  struct Access {
    std::uint32_t warp = 0, pc = 0;
    AccessKind kind = AccessKind::load;
    bool is_strong = false;
  };

  SharedRaces(std::uint64_t block, std::uint32_t warps, RaceList& found);

  /// Notes an access of a lane: `value` has the bytes of a store, and as many are accessed.
  void access(const Access& access, unsigned lane, std::uint32_t offset, unsigned bytes,
              const std::byte* value);
  /// Orders by a strong access: called before a lane's access is noted, and after all accesses of
  /// the instruction are. `place`: key of the place.  `releases`: the access releases even without
  /// a fence before it.
  void before_strong(const Access& access, std::uint64_t place);
  void after_strong(const Access& access, std::uint64_t place, bool releases);
  void fence(std::uint32_t warp) { clocks_.teach(warp, fenced_[warp]); }

  /// `lanes` meet, out of those that have not exited.
  void meet(std::uint32_t warp, std::uint32_t lanes, std::uint32_t alive) {
    clocks_.meet(warp, lanes, alive);
  }
  void exit(std::uint32_t warp) { clocks_.teach(warp, exited_); }
  void arrive(unsigned barrier, std::uint32_t warp) { clocks_.teach(warp, barriers_[barrier]); }
  /// Lets the warp go on behind the barrier. A barrier of the whole block no longer waits for
  /// threads that have exited.
  void release(unsigned barrier, std::uint32_t warp, bool of_block) {
    if (of_block) clocks_.learn(warp, exited_);
    clocks_.learn(warp, barriers_[barrier]);
  }
  void clear(unsigned barrier) { barriers_[barrier].clear(); }

  /// Number of the barrier of a cluster, behind the named ones of a block.
  static constexpr unsigned barrier_of_cluster = 16;
  /// Mark of keys of shared memory; keys of global memory are addresses.
  static constexpr std::uint64_t shared_place = std::uint64_t{1} << 63;

 private:
  static constexpr unsigned page_bytes = 256;
  /// Most places of strong accesses with clocks of their own; all further places share one.
  static constexpr std::size_t most_places = std::size_t{1} << 16;
  static constexpr std::uint64_t other_places = ~std::uint64_t{0};
  struct Write {
    WarpClocks::Time time = 0;  ///< time of the access; 0: none
    std::uint32_t pc = 0;
    std::uint8_t warp = 0, lane = 0;
    AccessKind kind = AccessKind::store;
    bool is_strong = false;
    std::byte value{};
  };
  struct Read {
    WarpClocks::Time time = 0;
    std::uint32_t pc = 0, lanes = 0;
    std::uint8_t warp = 0;
    bool is_strong = false;
  };
  struct Byte {
    Write write;
    std::vector<Read> reads;
  };
  using Page = std::array<Byte, page_bytes>;

  Byte& byte(std::uint32_t offset);
  void check_write(const Access& access, unsigned lane, std::uint32_t offset, const Byte& byte,
                   const std::byte* value);
  void check_reads(const Access& access, unsigned lane, std::uint32_t offset, const Byte& byte);
  void note_read(const Access& access, unsigned lane, Byte& byte);
  void report(const Access& access, unsigned lane, std::uint32_t offset, SharedRace::Side first);

  const std::uint64_t block_;
  WarpClocks clocks_;
  RaceList& found_;
  std::map<std::uint32_t, std::unique_ptr<Page>> pages_;
  std::uint32_t last_number_ = ~0u;
  Page* last_page_ = nullptr;
  std::array<WarpClocks::Knowledge, barrier_of_cluster + 1> barriers_;
  WarpClocks::Knowledge exited_;
  std::vector<WarpClocks::Knowledge> fenced_;  ///< knowledge of each warp at its last fence
  std::unordered_map<std::uint64_t, WarpClocks::Knowledge> places_;
};

}  // namespace lockstep::isa
