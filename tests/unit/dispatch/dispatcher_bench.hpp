#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/dispatch/dispatcher.hpp"
#include "tests/harness/message_sink.hpp"

namespace lockstep {

struct BenchOptions {
  std::uint32_t sms = 4;
  std::string sharing = "exclusive", preemption = "none";
  std::vector<std::uint32_t> sms_per_tenant{0, 0};
  Cycles block_interval{2};
  std::uint32_t clusters = 1;
  std::vector<std::uint32_t> gpcs = {};
  bool launch_overlap = false;
  std::vector<std::uint64_t> instructions{0, 0};
  std::vector<Time> latency_bounds{Time::never(), Time::never()};
  bool switches_blocks = false;
  Placement placement = Placement::summed;  ///< if not that, sent() says where blocks go
};

/// A dispatcher at 1 GHz between a host and some SMs that only listen: launches take 100 ns, a
/// block leaves every 2 ns.  Each SM has room for two blocks of 32 threads of kernel 0, one of
/// kernel 1 ("wide"); kernel 2 ("huge") fits nowhere; kernel 3 ("meeting") is a small one whose
/// blocks meet at a barrier of the grid.
class DispatcherBench {
 public:
  explicit DispatcherBench(const BenchOptions& options = {});
  ~DispatcherBench();

  std::unique_ptr<Dispatcher> make() const;

  struct Launch {
    std::uint32_t grid = 0, blocks = 1;
    std::uint16_t tenant = 0, kernel = 0;
    std::uint16_t stream = 0;
    std::uint32_t registers = 0;
    std::uint32_t priority = 0;
    bool queued = false;
    std::uint32_t primary = 0;  ///< 1 + the grid beside which it may begin
    std::uint8_t cluster = 1;   ///< blocks
  };
  void launch(double at_ns, const Launch& launch);
  void block_done(double at_ns, std::uint32_t grid, std::uint32_t sm, std::uint64_t block,
                  const InstructionCount& executed = {}, const BlockWork& work = {});
  /// The same, but stores of the block are still to be acknowledged; later they are.
  void block_leaves_stores(double at_ns, std::uint32_t grid, std::uint32_t sm, std::uint64_t block);
  void stores_done(double at_ns, std::uint32_t grid, std::uint32_t sm);
  void block_flushed(double at_ns, std::uint32_t grid, std::uint32_t sm, std::uint64_t block,
                     const InstructionCount& executed, const InstructionCount& lost);
  void status(double at_ns, std::uint32_t grid, std::uint32_t sm,
              const std::vector<BlockStatus>& blocks);
  /// A block is done that has let the next grid go.
  void block_that_let_go_done(double at_ns, std::uint32_t grid, std::uint32_t sm,
                              std::uint64_t block);
  /// An SM tells something of a block, by its grid: block_saved, block_restored, block_returned,
  /// block_lets_go.
  void block(double at_ns, MessageKind kind, std::uint32_t grid, std::uint32_t sm,
             std::uint64_t block);
  /// A block that was staged has started there.
  void started(double at_ns, std::uint32_t grid, std::uint32_t sm, std::uint64_t block,
               const BlockPosition& at);
  /// What an SM gives away, if anything, from place 100 * sm + block of its contexts.
  void block_given(double at_ns, std::uint32_t grid, std::uint32_t sm,
                   std::optional<std::uint64_t> block, const InstructionCount& executed = {});
  void context_free(double at_ns, std::uint32_t sm, std::uint32_t place);
  void grid_stopped(double at_ns, std::uint32_t grid, std::uint32_t sm);
  void abort_tenant(double at_ns, std::uint16_t tenant);

  /// Simulates everything before `ns`, with what was received since.
  void run_until(double ns);

  /// What was sent since the last call, as "106 sm2 block 1.0" (departure in ns, grid.block), by
  /// time, then destination.
  std::vector<std::string> sent();
  /// Only the blocks sent, without times: "sm0:1.0 sm1:1.1".
  std::string blocks();

  Dispatcher& dispatcher() { return *dispatcher_; }
  /// Goes on with a fresh dispatcher that was given the state of the present one.
  void save_and_restore();

 private:
  static Time time(double ns) { return Time{static_cast<std::int64_t>(ns * 1e6)}; }

  template <class Body>
  void receive(double at_ns, MessageKind kind, const Body& body,
               std::span<const std::byte> payload = {});

  BenchOptions options_;
  isa::Module module_;
  MessageSink sink_;
  std::deque<IncomingMessage> received_;
  std::unique_ptr<Dispatcher> dispatcher_;
};

}  // namespace lockstep
