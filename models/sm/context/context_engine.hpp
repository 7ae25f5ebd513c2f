/// Moves contexts between the SM and its area of GPU memory, in lines of 128 bytes.
///
/// A line is sent when the request port has nothing else to do, so that demand requests go first.
/// Lines of the context that began to move first go before lines of later contexts. A context has
/// arrived when all its lines are answered. Loaded contexts have the bytes that stand in memory.
/// Compressed registers pass the compressor, and on their way back the decompressor, one register a
/// cycle and one context after the other. Source: 000, section 4.1; preemption.md, sections 5
/// (128-byte writes, behind demand requests) and 7.3 (`share`: each context has the SM's whole part
/// of the bandwidth); 002, section III.C (two cycles, pipelined).
///
/// Simplified: contexts without traffic (`share`, and ideal ones, which move in a cycle) are kept
/// here. With `share` a context moves while the block's requests in flight are answered (003,
/// section 4.1: the block stalls for the estimated time). Cost model: at most one line per SM
/// cycle, and the times of the network and the partitions; a line with compressed registers leaves
/// when its share of them has passed.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "models/noc/messages.hpp"
#include "models/sm/context/block_context.hpp"
#include "models/sm/load_store/context_answers.hpp"
#include "models/sm/parameters/sm_context.hpp"
#include "models/sm/parameters/sm_setup.hpp"
#include "models/sm/parameters/sm_statistics.hpp"
#include "models/sm/ports/sm_ports.hpp"

namespace lockstep {

class ContextEngine final : public ContextAnswers {
 public:
  explicit ContextEngine(const SmContext& sm)
      : constants_(sm.constants),
        statistics_(sm.statistics),
        ports_(sm.ports),
        traffic_(sm.constants.setup.contexts.traffic) {}

  /// Number of a place in the area; it identifies a transfer.
  using Place = std::uint32_t;

  /// Saves a context.  `still`: cycles for which the block has already issued nothing.
  void save(Place place, TenantId tenant, BlockContext context, SmCycle now,
            std::int64_t still = 0);
  /// `parts`: as it was saved.
  void restore(Place place, TenantId tenant, std::size_t bytes, const ContextParts& parts,
               SmCycle now);

  /// Takes contexts that do not go through memory: they leave with a block that returns to another
  /// SM.
  std::vector<std::byte> take_kept(Place place);
  void keep(Place place, std::span<const std::byte> context);
  void forget(Place place) { kept_.erase(place); }

  /// Returns the cycle in which the engine wants to send a line or is done.
  SmCycle wake() const { return wake_; }
  void advance(SmCycle now);
  /// The answer to a request of the engine has come.
  void answered(const MemoryResponse& response, const std::byte* payload, SmCycle usable,
                SmCycle now) override;

  struct Done {
    Place place = 0;
    bool saved = false;
    std::vector<std::byte> bytes;  ///< bytes of a restored context
  };
  /// Returns a completed transfer; each one is returned once.
  std::optional<Done> take_done(SmCycle now);

  void serialize(Archive& archive) {
    archive.section("sm/context_engine", 4);
    archive(transfers_, wake_, compressor_free_, decompressor_free_, kept_);
  }

 private:
  struct Transfer {
    Place place = 0;
    TenantId tenant;
    bool saves = false;
    std::vector<std::byte> bytes;  ///< bytes in whole lines
    ContextParts parts;
    std::uint32_t sent = 0, answered = 0;
    SmCycle ready;             ///< cycle in which the last answer is in
    SmCycle first = no_cycle;  ///< first cycle of compression or decompression

    std::uint32_t lines() const { return static_cast<std::uint32_t>(bytes.size() / line_bytes); }
    bool is_done(SmCycle now) const { return answered == lines() && ready <= now; }
    /// Returns the cycle in which the context's next line can leave.
    SmCycle line_ready() const;
    /// Returns the cycle of the next look at the context, if nothing is answered before.
    SmCycle wake(SmCycle now) const;
    void serialize(Archive& archive) {
      archive(place, tenant, saves, bytes, parts, sent, answered, ready, first);
    }
  };

  void begin(Transfer transfer, SmCycle now, std::int64_t still = 0);
  /// Sends a line that is ready, of the first context whose port is free.
  void send_one(SmCycle now);
  /// Sends a line of the transfer.  Returns false if the port is busy.
  bool send_line(Transfer& transfer, SmCycle now);
  Transfer& transfer_at(PhysicalAddress line);

  const SmConstants& constants_;
  SmStatistics& statistics_;
  SmPorts& ports_;
  const ContextTraffic traffic_;
  std::deque<Transfer> transfers_;  ///< transfers in the order in which they began
  SmCycle wake_ = no_cycle;
  /// Cycles in which each unit is done with earlier transfers.
  SmCycle compressor_free_, decompressor_free_;
  std::map<Place, std::vector<std::byte>> kept_;  ///< contexts moved without traffic
};

}  // namespace lockstep
