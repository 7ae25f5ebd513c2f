/// Everything an SM knows, and the functions that move it.  Each group of functions stands in the
/// file of its mechanism; `serialize` covers all that changes.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/engine/outbox.hpp"
#include "models/isa/text/warp_print.hpp"
#include "models/sm/access/access.hpp"
#include "models/sm/access/coalescer.hpp"
#include "models/sm/access/lane_pattern.hpp"
#include "models/sm/blocks/block_slot.hpp"
#include "models/sm/blocks/grid_slot.hpp"
#include "models/sm/blocks/range_allocator.hpp"
#include "models/sm/blocks/register_arena.hpp"
#include "models/sm/blocks/warp.hpp"
#include "models/sm/exception_scheme/exception_scheme.hpp"
#include "models/sm/front_end/event_wheel.hpp"
#include "models/sm/front_end/execution_units.hpp"
#include "models/sm/l1/l1_cache.hpp"
#include "models/sm/l1/miss_table.hpp"
#include "models/sm/parameters/sm_statistics.hpp"
#include "models/sm/ports/reception_port.hpp"
#include "models/sm/ports/request_port.hpp"
#include "models/sm/streaming_multiprocessor.hpp"
#include "models/sm/translation/translation_unit.hpp"
#include "models/sm/warp_scheduler/warp_scheduler.hpp"

namespace lockstep {

/// "0x1f40"
std::string hexadecimal(std::uint64_t value);

struct SmState {
  explicit SmState(StreamingMultiprocessor::Setup setup);

  // What does not change.
  const StreamingMultiprocessor::Setup setup;
  const SmParameters& parameters;
  const OccupancyLimits limits;
  const Clock clock;
  const std::unique_ptr<ExceptionScheme> exceptions;
  std::shared_ptr<const IssueTables> tables;
  const std::shared_ptr<ConstantRows> constant_rows;
  std::uint64_t local_base = 0;  ///< physical, of this SM

  // What every window touches, from what `statistics` ends with to the translations that
  // `translation` begins with: see warm_window.
  SmStatistics statistics;

  // Issue.
  std::array<std::uint64_t, unit_classes> ready{};    ///< warps, by unit of their next instruction
  std::array<std::uint64_t, stall_causes> waiting{};  ///< the other resident warps, by cause
  std::uint64_t memory_open = ~std::uint64_t{0};      ///< all ones: a memory instruction can issue
  ExecutionUnits units;
  EventWheel wheel;
  WarpScheduler scheduler;
  std::int64_t cycle = -1;       ///< last one simulated
  std::int64_t wake = no_cycle;  ///< next one with something to do
  std::int64_t accounted = -1;   ///< stalls are counted up to this cycle
  std::uint64_t resident = 0;    ///< warp slots taken
  Outbox* outbox = nullptr;      ///< of the window that is running
  /// Operand::scratch, of the window that is running: of the running thread, in whose caches it
  /// stays.
  std::uint32_t* scratch_rows = nullptr;

  // Memory.
  std::vector<Access> queue;  ///< ring of memory instructions; [head] is first
  std::uint32_t queue_head = 0, queue_count = 0;
  std::int64_t queue_wake = no_cycle;
  std::int64_t lookup_cycle = -1;  ///< cycle in which `lookups` tags were looked up
  std::uint32_t lookups = 0;
  bool queue_stalled = false;  ///< the head waits for an answer to make room
  bool stalled_by_translation = false;
  bool no_page_entry = false;  ///< the line looked up last must wait for an entry
  std::int64_t stalled_since = 0;
  std::int64_t shared_free = 0;       ///< cycle from which the shared memory banks are free
  std::int64_t gate_wake = no_cycle;  ///< when they have few enough accesses before them again
  L1Cache l1;
  MissTable misses;
  SlotPool<Flight> flights;
  SlotPool<StoreRecord> stores;
  RequestPort port;
  ReceptionPort reception;
  std::vector<std::byte> shared;
  std::vector<GridSlot> grids;
  std::vector<BlockSlot> blocks;
  TranslationUnit translation;
  std::uint64_t fault_waits = 0;         ///< warps that wait for pages that were refused
  std::int64_t fault_waits_counted = 0;  ///< cycle up to which they have been counted

  // Blocks.
  RangeAllocator shared_ranges;
  RegisterArena registers;
  std::deque<BlockReference> staged;
  BlockResources used;
  std::uint32_t shared_carve_out = 0;
  Link to_dispatcher, to_gmmu;
  std::vector<std::uint32_t> tenant_blocks;  ///< resident
  std::vector<std::uint32_t> tenant_warps;
  std::vector<std::int64_t> tenant_counted;   ///< active and warp cycles are counted up to here
  std::vector<std::uint8_t> tenant_violated;  ///< an access to an invalid page was reported

  std::map<unsigned, isa::WarpPrint> prints;  ///< by warp slot, of those amid a printf

  std::array<Warp, 64> warps;

  /// The next cycle in which something happens if no warp can issue.
  std::int64_t next_work() const { return std::min({wheel.next(), queue_wake, gate_wake}); }
  Time time_of(std::int64_t c) const { return clock.edge(Cycles{c}); }
  std::uint16_t slot_of(const Warp& warp) const {
    return static_cast<std::uint16_t>(&warp - warps.data());
  }
  /// Of the access `behind` the queue's head.
  std::uint32_t queue_place(std::uint32_t behind) const {
    const std::uint32_t place = queue_head + behind;
    const auto size = static_cast<std::uint32_t>(queue.size());
    return place < size ? place : place - size;
  }
  static std::uint64_t bit(unsigned warp) { return std::uint64_t{1} << warp; }
  std::uint64_t& waits(StallCause cause) { return waiting[static_cast<std::size_t>(cause)]; }

  // issue_path.hpp
  /// The warp's next instruction becomes ready or waits.
  inline void evaluate(unsigned warp, std::int64_t now);
  inline void on_event(std::uint16_t event, std::int64_t now);
  /// The scoreboard bits of an instruction's destinations are set; each falls at `when`.
  inline void commit_at(unsigned warp, const IssueRecord& record, std::int64_t when);

  /// Whether a memory instruction can issue.
  inline void update_memory_gate(std::int64_t now);

  // issue.cpp
  void issue(unsigned warp, std::int64_t now);
  /// No path of the warp can run.
  void evaluate_halted(unsigned warp, std::int64_t now);
  void report_if_stuck(unsigned block, std::int64_t now);
  isa::WarpIdentity identity_of(const Warp& warp, std::int64_t now) const;
  isa::WarpContext context_of(const Warp& warp) const {
    return grids[warp.grid].context_of(warp.registers, scratch_rows);
  }
  void wait_for_memory(unsigned warp);
  void end_wait(StallCause cause, unsigned warp, std::int64_t now);
  void resume_at(unsigned warp, std::int64_t when);
  std::uint32_t guarded(const Warp& warp, const isa::Instruction& instruction) const;

  // control.cpp
  void issue_control(unsigned warp, const isa::Instruction& instruction, const IssueRecord& record,
                     std::int64_t now);
  void execute_together(unsigned warp, const isa::Instruction& instruction,
                        const IssueRecord& record, std::int64_t now);
  /// `end` takes `active` lanes off; barriers then expect fewer threads.
  template <class End>
  void end_lanes(unsigned warp, End&& end, std::uint32_t active, std::int64_t now);

  // barriers.cpp
  void barrier(unsigned warp, const isa::Instruction& instruction, std::uint32_t lanes,
               std::int64_t now);
  /// A barrier has come between the block's stores until now and what its warps do from now on.
  static void order_stores(BlockSlot& block);
  void check_barrier(unsigned block, unsigned number, std::int64_t now);
  void release_from_barrier(unsigned warp, unsigned number, const NamedBarrier& done,
                            std::uint32_t expected, std::int64_t now);
  void write_reduction(const isa::WarpContext& context, const isa::Instruction& instruction,
                       std::uint32_t lanes, std::uint32_t population, std::uint32_t threads);

  // print.cpp
  /// Executes a `print` of the active lanes.
  void print(unsigned slot, const isa::Instruction& instruction, std::uint32_t active,
             std::int64_t now);

  // ordering.cpp
  /// All that a release by this warp must wait for is acknowledged.
  bool released(const Warp& warp) const;
  void wait_for_acknowledgements(unsigned warp);
  void fence(unsigned warp, const IssueRecord& record, std::int64_t now);
  void acknowledged(std::uint16_t store, std::int64_t now);

  // load_store_unit.cpp
  /// True when the warp must wait for the value (an acquire).
  bool issue_memory(unsigned warp, const isa::Instruction& instruction, const IssueRecord& record,
                    std::uint32_t active, std::int64_t now);
  bool issue_generic(unsigned warp, const isa::Instruction& instruction, const IssueRecord& record,
                     std::uint32_t active, const LaneAddresses& generic, std::int64_t now);
  /// Enters global or local lanes into the queue, as part of `flight` or of a new one.  Returns the
  /// flight, none if nothing waits for an answer.
  std::uint16_t issue_lines(unsigned warp, const isa::Instruction& instruction,
                            const IssueRecord& record, std::uint32_t active,
                            const LaneAddresses& address, bool local, std::uint16_t flight,
                            std::int64_t now);
  /// True when it was one of the simple kind that this knows.
  bool issue_consecutive(unsigned warp, const isa::Instruction& instruction,
                         const IssueRecord& record, std::uint32_t active, std::int64_t now);
  /// The queue's next entry, to be coalesced; then it is entered, as said at issue_lines.
  Access& begin_access(unsigned warp, const isa::Instruction& instruction,
                       const IssueRecord& record, std::uint32_t active, bool local);
  std::uint16_t enter_access(Access& access, const isa::Instruction& instruction,
                             const IssueRecord& record, std::uint16_t flight, std::int64_t now);
  std::uint16_t begin_flight(unsigned warp, std::uint32_t pc, const IssueRecord& record);
  /// Looks up lines of the queue's first instructions, as many as a cycle allows.
  void pump_queue(std::int64_t now);
  /// Something is to be done again only when an answer has come.
  void stall_queue(bool by_translation, std::int64_t now);
  void wake_queue(std::int64_t now);
  [[noreturn]] void misaligned(const Warp& warp, const LaneAddresses& address, std::uint32_t active,
                               unsigned bytes) const;

  // local_memory.cpp
  void check_local(const Warp& warp, const LaneAddresses& offset, std::uint32_t active,
                   unsigned bytes) const;
  void start_local(Access& access, const Warp& warp, const LaneAddresses& offset);
  /// The access goes on with the next word of its lanes; false when that was the last.
  bool next_part(Access& access);
  void coalesce_local(Access& access);
  void forget_local(const BlockSlot& block);

  // global_access.cpp
  /// The next line of the access at the head of the queue; false: no room, try again later.
  bool process_group(Access& access, std::int64_t now);
  /// The line `group` with its translation; false: no room.
  bool process_line(Access& access, unsigned group, std::uint64_t physical, bool in_host,
                    std::int64_t now);
  bool load_group(Access& access, unsigned group, std::uint64_t physical, std::uint32_t destination,
                  std::int64_t now);
  bool store_group(Access& access, unsigned group, std::uint64_t physical,
                   std::uint32_t destination, std::int64_t now);
  bool atomic_group(Access& access, unsigned group, std::uint64_t physical,
                    std::uint32_t destination, std::int64_t now);
  /// A load that must not use L1, or cannot (host memory).
  bool bypass_group(Access& access, unsigned group, std::uint64_t physical,
                    std::uint32_t destination, std::int64_t now);
  /// The group's bytes in the places of their line, and which ones they are.
  L1Cache::DirtyBytes store_image(const Access& access, unsigned group, std::byte* image) const;
  void store_to_l1(std::uint64_t tag, std::uint8_t sectors, const L1Cache::DirtyBytes& mask,
                   const std::byte* image);
  static void merge_bytes(std::byte* to, const std::byte* from, const L1Cache::DirtyBytes& mask,
                          std::uint8_t sectors);
  /// The request is for the caller to fill in.
  MemoryRequest& send_store(std::uint32_t destination, std::uint8_t sectors,
                            const L1Cache::DirtyBytes& mask, const std::byte* image,
                            std::int64_t now);
  /// Pending fills of these sectors are not to be cached.
  void close_pending(std::uint64_t tag, std::uint8_t sectors);
  void close_miss(std::uint16_t miss);
  std::uint16_t make_waiter(const Access& access, unsigned group, std::uint8_t missing);
  void deliver(const Access& access, unsigned group, std::uint32_t lanes, const std::byte* line);
  void fill_request(MemoryRequest& request, const Access& access, unsigned group,
                    std::uint64_t physical, MemoryOperation operation, std::uint8_t sectors,
                    std::uint32_t tag);

  // translate.cpp
  enum class Lookup : std::uint8_t { found, parked, wait };
  /// The TLB does not have what the line needs.
  Lookup translate(Access& access, unsigned group, std::int64_t now);
  bool recall(std::uint64_t key, const Access& access, std::int64_t now);
  void on_pages_mapped(const PagesMapped& mapped, std::span<const std::byte> entries);
  void ask(std::uint16_t miss, std::int64_t now);
  void on_translation(const TranslationAnswer& answer, std::int64_t now);
  void page_found(std::uint64_t key, std::uint16_t miss, PageTableEntry entry, std::int64_t now);
  void page_refused(std::uint16_t miss, std::int64_t now);
  void page_invalid(std::uint16_t miss, std::int64_t now);
  bool can_leave(std::uint16_t miss, PageTableEntry entry);
  void start_draining(std::uint16_t miss, PageTableEntry entry, std::int64_t now);
  /// The first line of the first page that drains leaves; false: no room, try again later.
  bool drain_group(std::int64_t now);
  void page_done(std::uint16_t miss, std::int64_t now);
  void on_replay(const PageNotice& notice, std::int64_t now);
  /// Tells the GMMU that what waited for a refused page has gone out, if it waits for that.
  void tell_replayed(std::uint16_t miss, std::int64_t now);
  void tell_page(MessageKind kind, std::uint64_t key, std::int64_t now);
  void report_violation(const Access& access, unsigned group, std::int64_t now);

  // fault_waits.cpp
  void count_fault_waits(std::int64_t up_to);
  /// The warp has a line parked for a page that was refused.
  void wait_for_fault(unsigned warp, std::int64_t now);
  /// The page has come, or never will.
  void end_fault_wait(std::uint16_t miss, std::int64_t now);
  void find_fault_waits();

  // shootdown.cpp
  void on_flush(std::uint16_t tenant);
  void on_shootdown(const PageSpan& span, std::span<const std::byte> entries, std::int64_t now);
  /// Drops translations of a span; bit i of the result: this SM stored to page i.
  std::array<std::uint64_t, pages_per_large / 64> drop_translations(const PageSpan& span);
  /// Drops L1 sectors of frames and keeps pending fills from being cached.
  void drop_frames(std::span<const std::uint64_t> frames);
  /// Marks the requests sent to frames; returns how many.
  std::uint32_t mark_requests(std::span<const std::uint64_t> frames, std::uint16_t shootdown);
  void shootdown_request_done(std::uint16_t shootdown, std::int64_t now);
  void answer_shootdown(std::uint16_t shootdown, std::int64_t now);

  // abort.cpp
  void abort_tenant(std::uint16_t tenant, std::int64_t now);
  void drop_staged(std::uint16_t tenant, std::int64_t now);
  /// Ends the threads of the tenant's warps; returns those to be looked at again.
  std::uint64_t kill_warps(std::uint16_t tenant);
  void drop_queued(std::uint16_t tenant, std::int64_t now);
  void drop_parked(std::uint16_t tenant, std::int64_t now);
  /// So many lines of the access will not be sent.
  void forget_lines(const Access& access, unsigned count);

  // local_access.cpp
  bool all_dirty(const Access& access, unsigned group, std::uint16_t line);
  bool has_dirty(std::uint16_t line, std::uint8_t sectors);
  bool local_store_group(Access& access, unsigned group, std::uint64_t physical, std::int64_t now);
  /// A line for `tag`, the dirty bytes of the one before on their way; none: all are reserved.
  std::uint16_t make_room(std::uint64_t tag, bool local, std::int64_t now);
  void write_back(std::uint16_t line, std::uint8_t sectors, std::int64_t now);

  // responses.cpp
  void on_response(const MessageHeader& message, std::int64_t now);
  std::int64_t usable_at(Time complete) const;
  void on_fill(const MemoryResponse& response, std::uint16_t miss, const std::byte* payload,
               std::int64_t usable, std::int64_t now);
  void hand_over(std::uint16_t waiter, std::uint8_t sectors, const std::byte* line);
  void cache_fill(Miss& miss, std::uint8_t sectors, const std::byte* data, std::int64_t usable,
                  std::int64_t now);
  void on_atomic(std::uint16_t waiter, const std::byte* payload, std::int64_t usable,
                 std::int64_t now);
  void answered(std::uint16_t flight, std::int64_t usable, std::int64_t now);
  void flight_done(std::uint16_t flight, std::int64_t now);

  // bring.cpp
  /// What the window will surely touch is brought near.
  void warm_window(Inbox inbox) const;
  void warm_ready_warps() const;
  struct Answers;
  void warm_answers(Inbox inbox) const;
  void warm_answers(const Answers& answers) const;

  // shared_memory.cpp
  /// Lane l uses address[l] + offset; `commits`: the destinations wait only for this.
  void issue_shared(unsigned warp, const isa::Instruction& instruction, const IssueRecord& record,
                    std::uint32_t active, const std::uint32_t* address, std::int64_t offset,
                    bool commits, std::int64_t now);
  /// A word to each of all lanes, which is what most of these instructions do.
  void load_shared_words(unsigned warp, const isa::Instruction& instruction,
                         const IssueRecord& record, std::int64_t now);
  std::byte* shared_place(const BlockSlot& block, const LanePattern& pattern, std::int64_t base,
                          unsigned bytes);
  void serve_shared(const Warp& warp, unsigned degree, std::int64_t now);
  void issue_constant(unsigned warp, const isa::Instruction& instruction, const IssueRecord& record,
                      std::uint32_t active, const LaneAddresses& address, bool commits,
                      std::int64_t now);

  [[noreturn]] void bad_shared_address(const Warp& warp, const isa::Instruction& instruction,
                                       const std::uint32_t* address, std::int64_t offset,
                                       std::uint32_t active) const;

  // blocks.cpp
  void start_grid(const GridLaunch& launch, std::span<const std::byte> payload);
  void end_grid(std::uint32_t grid);
  /// The slot of a grid by its number.
  unsigned slot_of_grid(std::uint32_t grid) const;
  void start_staged(std::int64_t now);
  void start_block(const BlockReference& reference, unsigned grid, std::int64_t now);
  void choose_carve_out(const GridSlot& grid, std::int64_t now);
  void warp_drained(unsigned warp, std::int64_t now);
  void finish_block(unsigned block, std::int64_t now);
  void rebuild_pointers();

  void forget_ended_grids();
  /// Sets the operand bases of a warp in its slot.
  void point_warp(unsigned warp);

  // errors.cpp
  struct Mistake {
    std::string where, what, advice;
  };
  Mistake mistake(const Warp& warp, std::uint32_t pc, unsigned lane, const std::string& what,
                  const std::string& advice) const;
  /// Throws a Mistake, from within issue() and before anything waits for the instruction.
  [[noreturn]] void user_error(const Warp& warp, std::uint32_t pc, unsigned lane,
                               const std::string& what, const std::string& advice) const;
  /// Throws what the program itself said when it gave up.
  [[noreturn]] void trapped(const Warp& warp, const isa::Instruction& trap, unsigned lane) const;
  /// Tells the host, which ends the tenant.
  void report(std::uint16_t tenant, const Mistake& mistake, std::int64_t now);
  /// The warp stands still until its tenant is ended.
  void halt(unsigned slot, const Mistake& mistake, std::int64_t now);

  // accounting.cpp
  void account_stalls(std::int64_t up_to);
  /// These schedulers issued nothing in so many cycles.
  void count_stalled(unsigned schedulers, std::uint64_t cycles);
  void count_residency(std::int64_t up_to);
  void flush_instructions(GridSlot& grid);
  void flush_statistics(std::int64_t up_to);

  // streaming_multiprocessor.cpp
  template <class Policy>
  void run(Policy& policy, Time horizon, Inbox inbox);
  template <class Policy>
  void step(Policy& policy, std::int64_t now);
  template <class Policy>
  unsigned issue_cycle(Policy& policy, std::uint64_t candidates, std::int64_t now);
  template <class Policy>
  void issue_more(Policy& policy, unsigned side, std::int64_t now);
  template <class Policy>
  void issue_chosen(Policy& policy, unsigned side, std::uint64_t candidates, std::int64_t now);
  /// Warps whose next instruction could issue now.
  std::uint64_t issuable() const;
  std::int64_t next_arrival(Inbox inbox, std::size_t next) const;
  void take(const MessageHeader& message, std::int64_t now);

  void serialize(Archive& archive);
};

}  // namespace lockstep
