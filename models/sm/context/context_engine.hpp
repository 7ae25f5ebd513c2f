/// Moves contexts between the SM and its area of GPU memory, in lines of 128 bytes.
///
/// One context after the other.  A line is sent when the request port has nothing else to do, so
/// that demand requests go first; a context has arrived when all its lines are answered.  What is
/// loaded is what stands in memory.  Registers that are compressed pass the compressor, and the
/// decompressor on their way back, one a cycle.
/// Source: 000, section 4.1; preemption.md, section 5 (128-byte writes, behind demand requests);
/// 002, section III.C (two cycles, pipelined).
///
/// Simplified: a context waits for the answers to the one before.  Ideal: it takes a cycle, causes
/// no traffic, and is kept here.
/// Cost model: at most one line per SM cycle, otherwise that of the network and the partitions; a
/// line with compressed registers leaves when its share of them has passed.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "models/noc/messages.hpp"
#include "models/sm/context/block_context.hpp"
#include "models/sm/load_store/context_answers.hpp"
#include "models/sm/parameters/sm_setup.hpp"
#include "models/sm/ports/sm_ports.hpp"

namespace lockstep {

class ContextEngine final : public ContextAnswers {
 public:
  ContextEngine(const SmConstants& constants, SmPorts& ports, bool ideal)
      : constants_(constants), ports_(ports), ideal_(ideal) {}

  /// Number of a place of the area, by which a transfer is known.
  using Place = std::uint32_t;

  void save(Place place, TenantId tenant, BlockContext context, SmCycle now);
  void restore(Place place, TenantId tenant, std::size_t bytes, SmCycle now);

  /// When it wants to send a line or is done.
  SmCycle wake() const { return wake_; }
  void advance(SmCycle now);
  /// The answer to one of its requests has come.
  void answered(const MemoryResponse& response, const std::byte* payload, SmCycle usable,
                SmCycle now) override;

  struct Done {
    Place place = 0;
    bool saved = false;
    std::vector<std::byte> bytes;  ///< restored
  };
  /// The transfer that has been completed, once.
  std::optional<Done> take_done(SmCycle now);

  void serialize(Archive& archive) {
    archive.section("sm/context_engine", 2);
    archive(transfers_, wake_, kept_, compressed_);
  }

 private:
  struct Transfer {
    Place place = 0;
    TenantId tenant;
    bool saves = false;
    std::vector<std::byte> bytes;  ///< whole lines
    std::uint32_t sent = 0, answered = 0;
    SmCycle ready;             ///< its last answer is in
    SmCycle first = no_cycle;  ///< since then it is compressed, or its lines come
    std::uint32_t register_lines = 0, compressed = 0;

    std::uint32_t lines() const { return static_cast<std::uint32_t>(bytes.size() / line_bytes); }
    bool is_done(SmCycle now) const { return answered == lines() && ready <= now; }
    void serialize(Archive& archive) {
      archive(place, tenant, saves, bytes, sent, answered, ready, first, register_lines,
              compressed);
    }
  };

  void begin(Transfer transfer, SmCycle now);
  void send_line(Transfer& transfer, SmCycle now);
  /// When its next line can leave.
  SmCycle line_ready(const Transfer& transfer) const;

  const SmConstants& constants_;
  SmPorts& ports_;
  const bool ideal_;
  std::deque<Transfer> transfers_;
  SmCycle wake_ = no_cycle;
  std::map<Place, std::vector<std::byte>> kept_;  ///< ideal
  std::map<Place, std::uint32_t> compressed_;     ///< registers of what has been saved there
};

}  // namespace lockstep
