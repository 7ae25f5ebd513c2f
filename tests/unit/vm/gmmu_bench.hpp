#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/vm/gmmu.hpp"
#include "tests/harness/message_sink.hpp"

namespace lockstep::test {

struct GmmuOptions {
  std::string translation = "shared-tlb", tlb_fill = "lru";
  bool l2_tlb = true, together = false;
  std::uint32_t sms = 3, walkers = 64, mshrs = 128, ports = 2;
  std::uint32_t far_fault_mshrs = 0;
  bool squashes = false;
  std::int64_t walk_latency = 0;
  ShootdownGranularity shootdown = ShootdownGranularity::entry;
  ShootdownScope scope = ShootdownScope::tenant;
  ReplayMode replay = ReplayMode::listed;
  LocalHandling local{Time{20'000'000'000}, 0, 0};
};

/// A GMMU at 1 GHz between SMs and a host that only listen and a memory that answers 60 ns after a
/// request has left.  A TLB array takes 10 ns, as does the walk cache.  Two tenants, whose tables
/// the bench writes itself; all addresses of entries are in one map.
class GmmuBench {
 public:
  static constexpr std::int64_t memory_round_trip = 60;
  static constexpr std::uint64_t present = PageTableEntry::present,
                                 writable = PageTableEntry::writable,
                                 accessed = PageTableEntry::accessed, dirty = PageTableEntry::dirty,
                                 large = PageTableEntry::large,
                                 untouched = PageTableEntry::untouched;

  explicit GmmuBench(const GmmuOptions& options = {});
  ~GmmuBench();

  std::unique_ptr<Gmmu> make() const;

  // What the tables say.

  /// Page of tenant 0 in a frame.
  void map(std::uint64_t page, std::uint64_t frame, std::uint64_t flags = present | writable,
           std::uint16_t tenant = 0);
  void map_large(std::uint64_t page, std::uint64_t frame, std::uint16_t tenant = 0);
  std::uint64_t& entry(std::uint64_t page, std::uint16_t tenant = 0);
  std::uint64_t& directory_entry(std::uint64_t page, std::uint16_t tenant = 0);

  // What arrives, at times in ns.

  void translate(std::int64_t at, std::uint16_t sm, std::uint64_t page, bool write = false,
                 std::uint16_t tenant = 0);
  /// Uses a page that it was told of.
  void use(std::int64_t at, std::uint16_t sm, std::uint64_t page);
  void written(std::int64_t at, std::uint16_t sm, std::uint64_t page, std::uint16_t tenant = 0);
  void replayed(std::int64_t at, std::uint16_t sm, std::uint64_t page, std::uint16_t tenant = 0);
  /// The host tells what the tables say now.
  void pages_mapped(std::int64_t at, std::uint64_t page, std::uint32_t count = 1,
                    std::uint16_t tenant = 0);
  /// 512 pages, which the tables have, become a large page: the host has written that and tells.
  void coalesced(std::int64_t at, std::uint64_t page);
  /// Tenant 0 gets an empty address space.
  void new_root(std::int64_t at);
  void end_tenant(std::int64_t at);
  void nothing_there(std::int64_t at, std::uint64_t page);
  void unmap(std::int64_t at, std::uint64_t page, std::uint32_t count = 1,
             std::uint16_t tenant = 0);
  /// The host gives zeroed frames for a granule, neighbours from `frame` on.
  void give_frames(std::int64_t at, std::uint64_t frame);
  /// The SM answers the last shootdown it got; `stored`: pages, counted from the span's first.
  void shot_down(std::int64_t at, std::uint16_t sm, const std::vector<std::uint32_t>& stored = {});

  /// Simulates everything before `ns`.
  void run_until(std::int64_t ns);

  /// What SMs and host were sent since the last call: "360 sm0 found 5 at 0x7000", by time.
  std::vector<std::string> sent() { return std::exchange(sent_, {}); }
  /// Likewise, what memory was asked for: "120 read 1".
  std::vector<std::string> asked_of_memory() { return std::exchange(memory_log_, {}); }
  /// Older faults that were pending, as refusals and far-faults said since the last call.
  std::vector<std::uint32_t> positions() { return std::exchange(positions_, {}); }
  std::vector<std::uint32_t> fault_positions() { return std::exchange(fault_positions_, {}); }
  /// Pages noted as walked in the last far-fault.
  const std::vector<std::uint64_t>& notes() const { return notes_; }
  /// Entries of the last `unmapped`.
  const std::vector<std::uint64_t>& unmapped() const { return unmapped_; }

  Gmmu& gmmu() { return *gmmu_; }
  const GmmuStatistics& statistics();
  std::string save();
  /// Goes on with a fresh GMMU that was given the state of the present one.
  void save_and_restore();

 private:
  static constexpr std::uint16_t tenants = 2;
  static constexpr Time latency{45'000'000};
  using Incoming = IncomingMessage;
  struct Order {
    std::int64_t at;
    std::uint32_t link, number;
    auto operator<=>(const Order&) const = default;
  };

  std::uint32_t host() const { return options_.sms; }
  std::uint32_t memory() const { return options_.sms + 1; }
  static Time time(std::int64_t ns) { return Time{ns * 1'000'000}; }

  template <class Body>
  void receive(std::int64_t at, MessageKind kind, const Body& body,
               std::span<const std::byte> payload, std::uint32_t link);

  std::uint64_t new_table() { return page_bytes * ++tables_; }
  /// Where the entry of a level stands; tables above it are made.
  std::uint64_t place(std::uint64_t page, unsigned level, std::uint16_t tenant);

  void collect();
  void describe(const MessageHeader& message, std::uint32_t component, std::ostream& line);
  void serve(const MessageHeader& message);

  const GmmuOptions options_;
  MessageSink sink_;
  std::unique_ptr<Gmmu> gmmu_;
  std::map<Order, std::unique_ptr<Incoming>> incoming_;
  std::uint32_t number_ = 0;
  std::int64_t now_ = 0;
  std::uint64_t tables_ = 0;
  std::vector<std::uint64_t> roots_;
  std::map<std::uint64_t, std::uint64_t> memory_;  ///< 64-bit words
  std::map<std::uint16_t, PageSpan> shootdowns_;
  std::vector<std::string> sent_, memory_log_;
  std::vector<std::uint64_t> notes_, unmapped_;
  std::vector<std::uint32_t> positions_, fault_positions_;
};

}  // namespace lockstep::test
