/// Engine for bulk copies: it copies many bytes between global and shared memory without a warp,
/// which only begins the copy.
///
/// Copies wait in a queue; the engine takes them in turn, cuts each into 128-byte lines and sends
/// these through the L1 TLB and past L1 on the way that loads and stores take.  A load's bytes go
/// to shared memory as they come, and when all are there they complete transactions of its
/// mbarrier. A store reads shared memory when its line leaves; it has been written when L2 has
/// acknowledged all lines.
///
/// A copy of a tile first needs its tensor map, which the engine keeps (map_cache.hpp), has at hand
/// among parameters and constants, or loads like a line. Each piece of a row of the tile within one
/// line of memory is a line (tile_lines.cpp); pieces outside of the tensor make no line.
///
/// A copy to several blocks of a cluster reads global memory once, into a room of its own, from
/// which the bytes of each line go to the blocks over the hub of the GPC (delivery_rooms.hpp).
///
/// A line whose page is not in GPU memory waits with the page, or in this engine where the SM
/// squashes faulting accesses. The engine keeps its copies, so under every exception scheme the
/// warp issues nothing again. A block with copies under way is not saved before they are through.
/// Source: modern-isa.md, section 3.3.
///
/// Simplified: the engine's writes to shared memory take no cycles of its banks.  Where lines of
/// others wait for a page that was refused and block the TLB (ReplayMode::block_tlb), the engine
/// waits, too.
///
/// Cost model: a copy's first line leaves bulk.start_latency after its issue, and
/// bulk.start_interval after that of the copy before it; others follow, bulk.lines_per_cycle.  A
/// map that is not kept delays them by bulk.map_latency, or by its loading.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "core/memory/ring.hpp"
#include "core/memory/slot_pool.hpp"
#include "models/isa/bulk/bulk_copy.hpp"
#include "models/isa/bulk/tensor_tile.hpp"
#include "models/sm/access/access.hpp"
#include "models/sm/blocks/mistakes.hpp"
#include "models/sm/bulk/bulk_groups.hpp"
#include "models/sm/bulk/copy_checks.hpp"
#include "models/sm/bulk/deliveries.hpp"
#include "models/sm/bulk/delivery_rooms.hpp"
#include "models/sm/bulk/map_cache.hpp"
#include "models/sm/bulk/transactions.hpp"
#include "models/sm/load_store/bulk_lines.hpp"
#include "models/sm/load_store/line_access.hpp"
#include "models/sm/parameters/sm_context.hpp"
#include "models/sm/translation/translation.hpp"

namespace lockstep {

class BulkEngine final : public BulkLines {
 public:
  BulkEngine(const SmContext& sm, FrontEnd& front_end, Translation& translation, LineAccess& lines,
             Flights& flights, Transactions& transactions, Deliveries& deliveries);

  // Instructions.
  /// Returns whether the queue has room for a copy. If not, tells the warp when to look again.
  bool has_room_for(WarpSlot slot);
  /// Begins a bulk_copy, with a copy for each lane. Throws a Mistake.
  void begin(WarpSlot slot, const isa::Instruction& instruction, const IssueRecord& record,
             std::uint32_t active, SmCycle now);
  void commit(WarpSlot slot) { groups_.commit(slot, entry_of(slot)); }
  /// Returns whether a bulk_group that waits may pass.
  bool is_through(WarpSlot slot, const isa::Instruction& instruction);

  // Cycles.
  SmCycle wake() const { return wake_; }
  void advance(SmCycle now);
  /// Returns whether a line has found no room.
  bool is_stalled() const { return stalled_; }
  /// An answer has come that may make room.
  void retry(SmCycle now) {
    stalled_ = false;
    wake_ = now;
  }

  // Lines.
  void all_lines_done(std::uint16_t copy, SmCycle usable, SmCycle now) override;
  std::byte* room(std::uint16_t copy) override;
  void bytes_came(std::uint16_t copy, const CopyTarget& target, std::uint32_t lanes,
                  SmCycle now) override;
  isa::Type atomic_type(std::uint16_t copy, unsigned bytes) const override;
  unsigned lane(std::uint16_t copy) const override { return copies_[copy].lane; }
  void line_sent(std::uint16_t copy) override { ++copies_[copy].unacknowledged; }
  void line_acknowledged(std::uint16_t copy, SmCycle now) override;
  void line_refused(std::uint16_t copy, const Access& line, SmCycle now) override;
  bool page_came(TlbKey page, SmCycle now) override;
  std::uint64_t waiting_warps() const override;
  void drop_tenant(TenantId tenant, SmCycle now) override;

  std::string waiting_for() const;
  void serialize(Archive& archive);

 private:
  using Step = isa::ir::BulkCopyStep;
  /// State of the tensor map of a copy of a tile.
  enum class MapState : std::uint8_t {
    known,   ///< the SM has the map, or the copy needs none
    wanted,  ///< the map is in global memory
    asked,   ///< the map has been requested
  };

  struct Copy {
    std::uint64_t global = 0;  ///< global address; for a tile, that of its map
    std::uint32_t shared = 0, barrier = 0, bytes = 0;
    std::uint32_t next = 0;  ///< bytes of which lines have been made
    std::uint32_t unacknowledged = 0;
    std::uint32_t pc = 0, entry = 0;
    SmCycle ready;  ///< cycle from which the first line can leave
    Step step = Step::load;
    std::uint16_t group = 0, flight = 0xffff;
    std::uint8_t warp = 0, lane = 0, tenant = 0, grid = 0;
    isa::Type element = isa::Type::none;  ///< type of a reduction
    isa::AtomicOperation operation = isa::AtomicOperation::none;
    bool writes() const { return step == Step::store || step == Step::reduce; }
    bool started = false, lines_done = false;
    std::uint16_t mask = 0;  ///< ranks of the blocks that get the bytes; 0: only this block
    bool failed = false;     ///< the copy was a mistake, or its tenant ended before the map came
    // Members of a copy of a tile:
    std::uint8_t rank = 0;
    MapState map_state = MapState::known;
    std::uint32_t map_version = 0;
    std::array<std::int32_t, isa::TensorMap::most_rank> first{};
    isa::TensorMap::Bytes map{};

    template <class A>
    void serialize(A& archive) {
      archive(global, shared, barrier, bytes, next, unacknowledged, pc, entry, ready, step, group,
              flight, warp, lane, tenant, grid, element, operation, started, lines_done, failed,
              rank, map_state, map_version, first, map, mask);
    }
  };
  /// Line whose page was refused, named by its place in `held_`.
  struct KeptLine {
    std::uint16_t line = 0;
    TlbKey page;

    template <class A>
    void serialize(A& archive) {
      archive(line, page);
    }
  };
  struct Landed {
    SmCycle when;
    std::uint16_t copy = 0;

    template <class A>
    void serialize(A& archive) {
      archive(when, copy);
    }
  };

  /// Sends bytes of a copy to the blocks of its mask.  `completes`: as with Deliveries::deliver.
  void forward(std::uint16_t copy, DeliveryRooms::Run run, std::uint32_t completes, SmCycle now);
  std::uint32_t entry_of(WarpSlot slot) const { return blocks_.block_of(blocks_.warp(slot)).entry; }
  static WarpSlot slot_of(const Copy& copy) { return WarpSlot(copy.warp); }
  /// Puts a copy into the queue and begins its flight.  Returns its number.
  std::uint16_t enter(WarpSlot slot, const isa::Instruction& instruction, const IssueRecord& record,
                      unsigned lane, SmCycle now);
  void enter_bytes(WarpSlot slot, const isa::Instruction& instruction, const IssueRecord& record,
                   const isa::BulkCopy& given, unsigned lane, std::uint32_t mask, SmCycle now);
  /// Makes an access of the next line of the copy.  Returns how many of its bytes the line has, or
  /// that many bytes need no line if `line_.active` is 0.
  std::uint32_t make_line(std::uint16_t copy);
  std::uint32_t make_line_of_bytes(const Copy& copy);
  /// Puts the bytes from `global` on a line that stores or reduces. Returns how many bytes fit.
  /// `position`: position of the first byte in the copied data.
  std::uint32_t begin_writing(const Copy& copy, std::uint64_t global, std::uint32_t position,
                              std::uint32_t bytes);
  /// Writes operands into the line at `at`.
  void write_operands(const Copy& copy, std::uint32_t at, const std::byte* from,
                      std::uint32_t bytes);
  /// Begins an access of the copy to `bytes` bytes from `global` on, in one line; the caller fills
  /// in the lanes.
  void begin_line(const Copy& copy, Access::Kind kind, std::uint64_t global, unsigned bytes);

  // tile_lines.cpp
  void begin_tiles(WarpSlot slot, const isa::Instruction& instruction, const IssueRecord& record,
                   std::uint32_t active, const LaneAddresses& address, SmCycle now);
  /// Returns the copy that a lane asks for, with its map if the SM has the map.  Throws a Mistake.
  Copy tile_copy(const Warp& warp, const isa::Instruction& instruction, const isa::TileCopy& given,
                 unsigned lane);
  /// Throws a Mistake if the copy's map, which is known, or a value derived from it is wrong.
  void require_right_tile(const Warp& warp, const Copy& copy);
  MapCache::Key key_of(const Copy& copy) const;
  /// The map of the copy has come, to be used from `usable` on.
  void map_came(std::uint16_t copy, SmCycle usable, SmCycle now);
  /// Sets the members that follow from the copy's map, which is known now.
  void know_map(std::uint16_t copy, SmCycle now);
  /// Looks for the map of the copy, and requests it if it is absent.  Returns whether it is there.
  bool fetch_map(std::uint16_t copy, SmCycle now);
  const isa::TensorTile& tile_of(std::uint16_t copy);
  std::uint32_t make_line_of_tile(std::uint16_t copy);
  std::uint32_t load_run(const Copy& copy, const isa::TensorTile& tile, const isa::TileRun& run);
  std::uint32_t write_run(const Copy& copy, const isa::TensorTile& tile, const isa::TileRun& given,
                          const std::byte* shared);

  /// Looks a line up and sends it.  Returns false if there is no room.
  bool send(Access& line, SmCycle now);
  bool send_unless_kept(Access& line, SmCycle now);
  /// Sends as many lines as the cycle allows.  Returns the cycle in which the next line can leave.
  SmCycle send_lines(SmCycle now);
  void leave_queue(SmCycle now);
  /// Reports to mbarriers the loaded bytes that can now be used.
  void land(SmCycle now);
  void end_if_written(std::uint16_t copy, SmCycle now);
  void end_flight(WarpSlot slot, SmCycle now);
  /// Makes the warp check again whether its wait is over.
  void tell(WarpSlot slot, SmCycle now);

  const SmConstants& constants_;
  ResidentBlocks& blocks_;
  Mistakes& mistakes_;
  FrontEnd& front_end_;
  Translation& translation_;
  LineAccess& lines_;
  Flights& flights_;
  Transactions& transactions_;
  Deliveries& deliveries_;
  const CopyChecks checks_;
  SlotPool<Copy> copies_;
  Ring<std::uint16_t> queue_{4};      ///< queued copies; the first one is in the engine
  SlotPool<Access> held_;             ///< accesses of kept_ and again_
  std::vector<KeptLine> kept_;        ///< lines that wait for pages, oldest first
  std::vector<std::uint16_t> again_;  ///< lines whose pages have come, oldest first
  std::vector<Landed> landed_;        ///< loads whose bytes will soon be usable
  BulkGroups groups_;
  MapCache maps_;
  DeliveryRooms rooms_;
  isa::TensorTile tile_;  ///< tile of the copy `tile_of_`
  std::uint16_t tile_of_ = BulkLines::none;
  Access line_;  ///< line being looked up
  SmCycle wake_ = no_cycle;
  SmCycle next_start_;      ///< cycle from which the next copy's first line may leave
  SmCycle line_cycle_{-1};  ///< cycle in which `lines_sent_` lines were sent
  std::uint32_t lines_sent_ = 0;
  std::uint64_t wait_for_room_ = 0;  ///< mask of waiting warps
  bool stalled_ = false;
};

}  // namespace lockstep
