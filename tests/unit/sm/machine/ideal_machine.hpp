/// SMs in front of a memory that answers every request after a fixed time: a harness for tests and
/// benchmarks of the SM alone.
#pragma once

#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/isa/load.hpp"
#include "models/noc/grid_messages.hpp"
#include "models/sm/parameters/idempotence_check.hpp"
#include "models/sm/parameters/sm_statistics.hpp"
#include "models/sm/streaming_multiprocessor.hpp"
#include "models/vm/messages.hpp"
#include "tests/harness/message_sink.hpp"
#include "tests/unit/sm/machine/ideal_memory.hpp"

namespace lockstep {

/// A message of any kind with room for the largest payload.
struct Parcel {
  alignas(8) std::array<std::byte, 24 + 96 + 8192> bytes;
  MessageHeader& header() { return *reinterpret_cast<MessageHeader*>(bytes.data()); }
  const MessageHeader& header() const {
    return *reinterpret_cast<const MessageHeader*>(bytes.data());
  }
};

class IdealMachine {
 public:
  struct Options {
    // Not inline: the schemas that tell the defaults are long code.
    Options();
    Options(const Options&);
    ~Options();

    SmParameters parameters;
    NocParameters noc;
    std::string warp_scheduler = "lrr";
    std::string exception_scheme = "stall-on-fault";  ///< as a scenario has it
    std::string block_switching = "none";             ///< the same
    ContextKind contexts = ContextKind::occupied;
    ContextTraffic traffic = ContextTraffic::real;
    StopPlaces stops = StopPlaces::any;
    bool tells_stays = false;
    std::uint32_t sms = 1, partitions = 4;
    Cycles request_latency{140}, response_latency{20};
    Cycles memory_latency{33};  ///< between arrival of a request and departure of its answer
    std::size_t memory_bytes = 1 << 20;
    L1TlbParameters l1_tlb;
    ReplayMode replay = ReplayMode::listed;
    Cycles gmmu_link{45};
    Cycles gmmu_latency{10};  ///< between arrival of a request and departure of its answer
    /// The TLBs know the memory, as large pages, when a grid starts.
    bool knows_pages = true;
    std::vector<std::string> tenants{"alone"};
    bool follows_blocks = false;
    IdempotenceCheck idempotence = IdempotenceCheck::marks;
    std::uint64_t overwritten = 0;  ///< of every launch: GridLaunch::overwritten
    /// Behind its last block a grid is told to have ended.
    bool ends_grids = true;
  };
  static constexpr std::uint64_t virtual_base = isa::first_global_address;

  IdealMachine(isa::Module module, const Options& options);
  ~IdealMachine();

  /// What SM i saves.
  std::string state(std::uint32_t i = 0);
  /// A new SM with this state takes the place of SM i.
  void save_and_restore(std::uint32_t i = 0);
  /// Of SM 0, up to `cycle()`.
  const SmStatistics& statistics();

  const isa::Module& module() const { return module_; }
  StreamingMultiprocessor& sm(std::uint32_t i = 0) { return *sms_[i]; }
  Clock clock() const { return clock_; }
  std::int64_t cycle() const { return now_; }

  /// A place of the memory as the kernel sees it.
  static constexpr std::uint64_t address(std::uint64_t offset) { return virtual_base + offset; }
  template <class T>
  T get(std::uint64_t offset) const {
    T value;
    std::memcpy(&value, memory_.bytes.data() + offset, sizeof value);
    return value;
  }
  template <class T>
  void put(std::uint64_t offset, T value) {
    std::memcpy(memory_.bytes.data() + offset, &value, sizeof value);
  }
  std::vector<std::byte>& memory() { return memory_.bytes; }

  /// Launches a kernel at `cycle() + 1`; blocks are dealt to SMs in turn.  A parameter takes as
  /// many words of `arguments` as it needs.
  void launch(const std::string& kernel, std::array<std::uint32_t, 3> blocks,
              std::array<std::uint32_t, 3> threads, const std::vector<std::uint64_t>& arguments,
              std::uint32_t dynamic_shared = 0, std::uint16_t tenant = 0);

  /// GridLaunch::primary of the launches that follow.
  std::uint32_t primary = 0;

  /// Advances all SMs to `horizon` (a cycle).
  void advance_to(std::int64_t horizon);
  /// The same in windows short enough for answers to come in between.
  void run_to(std::int64_t horizon);
  /// Windows of `window` cycles until all blocks are done; the cycle of the last one's end.
  std::int64_t run(std::int64_t window = 90, std::int64_t limit = 100'000'000);

  /// Every request that was sent, in order: for tests.
  struct Seen {
    std::int64_t departure;  ///< cycle
    MemoryRequest request;
    std::vector<std::byte> payload;
  };
  /// Of one window, those to one destination stand together: sort_seen() puts all in their order.
  void sort_seen();
  bool record = false;
  std::vector<Seen> seen;
  std::uint64_t requests = 0;

  /// What the GMMU answers, by page number; what is not here is invalid.
  struct PageState {
    TranslationStatus status = TranslationStatus::found;
    PageTableEntry entry;
    std::uint32_t position = 0;  ///< of a refusal: see TranslationAnswer
  };
  std::map<std::uint64_t, PageState> pages;
  /// A page is there from now on, and the tenant's SMs are told to ask again; when they hear of it,
  /// which is behind every refusal that is under way.
  std::int64_t page_comes(std::uint64_t page, std::uint16_t tenant = 0);
  static constexpr std::uint64_t page_of(std::uint64_t offset) {
    return (virtual_base + offset) / page_bytes;
  }
  /// What an SM told GMMU, host and dispatcher, as "translate 3 w" or "saved 7" (a block), with the
  /// cycle of departure; pages count from the first of the memory.  Not of blocks that are done.
  struct Told {
    std::int64_t departure;
    std::string text;
  };
  std::vector<Told> told;
  BlockGiven given;  ///< the last one
  std::vector<std::byte> given_context;

  template <class Body>
  void post(std::uint32_t sm, std::int64_t at, MessageKind kind, const Body& body,
            std::span<const std::byte> payload = {}) {
    post_bytes(sm, at, kind, std::as_bytes(std::span(&body, 1)), payload);
  }

 private:
  /// Puts a new SM, as it is at the start, in the place of SM i.
  void fresh_sm(std::uint32_t i);
  struct Pending {
    std::vector<Parcel*> parcels;
  };
  static constexpr std::int64_t no_cycle_ = std::int64_t{1} << 62;

  void post_bytes(std::uint32_t sm, std::int64_t at, MessageKind kind,
                  std::span<const std::byte> body, std::span<const std::byte> payload);
  Parcel* take_parcel();
  void advance_sm(std::uint32_t i, std::int64_t horizon);
  void post_large_pages(std::uint32_t sm, std::uint16_t tenant);
  /// The GMMU answers; anything else is only noted.
  void deliver_notice(std::uint32_t sm, const MessageHeader& header);
  void deliver(std::uint32_t sm, const MessageHeader& header);

  isa::Module module_;
  Options options_;
  Clock clock_;
  AddressMapping mapping_;
  std::shared_ptr<const IssueTables> tables_;
  IdealMemory memory_;
  std::vector<std::unique_ptr<StreamingMultiprocessor>> sms_;
  std::vector<Pending> inboxes_;
  MessageSink sent_;
  std::deque<Parcel> parcels_;
  std::vector<Parcel*> free_;
  std::vector<const MessageHeader*> headers_;
  std::int64_t now_ = 0, last_done_ = 0;
  std::uint64_t blocks_left_ = 0;
  std::uint32_t grids_ = 0, sequence_ = 0;
};

}  // namespace lockstep
