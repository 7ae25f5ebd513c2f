/// Operand log: a replay queue whose instructions read their operands again from a log.
///
/// A memory instruction writes its addresses and data to the SM's log when it reads them; they stay
/// there until its last check.  Source registers are free after operand read, as without
/// exceptions. An entry holds 8 bytes of each of 32 lanes.  The log is divided among the blocks
/// that fit in the SM; a warp whose block has no entries left waits (`log_full`).
/// Source: 000, sections 3.3 and 5.2.
///
/// Simplified: if several kernels share an SM, each block may use the share that it would have
/// among blocks of its own kernel, as far as the log has entries.
#include <algorithm>
#include <vector>

#include "core/parameters/parameters.hpp"
#include "models/sm/exception_scheme/exception_scheme.hpp"
#include "models/sm/exception_scheme/queue_entries.hpp"

namespace lockstep {

namespace {

struct OperandLogParameters {
  Bytes bytes;
  std::uint32_t entries;
  static auto schema() {
    using namespace literals;
    using P = OperandLogParameters;
    return parameters<P>()
        .field("bytes", &P::bytes, 16_KiB, range(256_B, 1_MiB), "log of an SM, in entries of 256 B")
        .field("entries", &P::entries, 0, range(0, 64),
               "memory instructions of a warp between issue and commit; 0: no limit",
               "instructions");
  }
};

class OperandLog final : public ExceptionScheme {
 public:
  explicit OperandLog(const OperandLogParameters& parameters)
      : entries_(static_cast<std::uint32_t>(parameters.bytes.count() / 256)),
        queues_(parameters.entries),
        blocks_(64) {}

  bool logs_operands() const override { return true; }
  std::uint32_t log_entries() const override { return entries_; }
  bool hears_commits() const override { return queues_.limited(); }

  std::optional<StallCause> refusal(const Pipeline& pipeline, WarpSlot warp,
                                    const PreciseRecord& record) override {
    if (queues_.full(warp)) return StallCause::queue_full;
    if (!has_room(share_of(pipeline, warp), record.log_entries)) return StallCause::log_full;
    return std::nullopt;
  }
  void issued(const Pipeline& pipeline, WarpSlot warp, const PreciseRecord& record) override {
    queues_.take(warp);
    share_of(pipeline, warp).used += record.log_entries;
    used_ += record.log_entries;
    pipeline.statistics.tenant[pipeline.blocks.tenant_of(warp).value()].logged_entries +=
        record.log_entries;
  }
  void checked(const Pipeline& pipeline, WarpSlot warp, const PreciseRecord& record,
               SmCycle now) override {
    share_of(pipeline, warp).used -= record.log_entries;
    used_ -= record.log_entries;
    wake(pipeline, warp, now);
  }
  void committed(const Pipeline&, WarpSlot warp, const PreciseRecord&, SmCycle) override {
    queues_.give_back(warp);
  }
  void context_out(const Pipeline& pipeline, WarpSlot warp, const PreciseRecord& record,
                   SmCycle now) override {
    checked(pipeline, warp, record, now);
    queues_.give_back(warp);
  }
  void context_in(const Pipeline& pipeline, WarpSlot warp, const PreciseRecord& record) override {
    issued(pipeline, warp, record);
  }
  void block_entered(const Pipeline& pipeline, BlockPlace place) override {
    const BlockSlot& block = pipeline.blocks.block(place);
    const BlockResources& shape = pipeline.blocks.grid(block.grid).block;
    const std::uint32_t together = blocks_per_sm(shape, pipeline.constants.limits);
    blocks_[place.value()] = {0, std::max(shape.log_entries, entries_ / std::max(together, 1u))};
    promised_ = 0;
    for (std::uint8_t p = 0; p < pipeline.constants.parameters.blocks; ++p)
      if (pipeline.blocks.block(BlockPlace(p)).used) promised_ += blocks_[p].size;
  }
  void serialize(Archive& archive) override { archive(used_, promised_, queues_, blocks_); }

 private:
  /// Wakes warps that wait for the entries that this warp has freed.  A warp that looks and finds
  /// no room costs its scheduler a cycle, so no more warps are woken than have room.
  void wake(const Pipeline& pipeline, WarpSlot warp, SmCycle now) {
    ResidentBlocks& blocks = pipeline.blocks;
    // Warps of other blocks wait for entries of their own block, unless more entries are promised
    // than there are.
    const bool common = promised_ > entries_;
    const std::uint64_t helped =
        common ? ~std::uint64_t{0} : blocks.block_of(blocks.warp(warp)).warps;
    std::uint32_t claimed = 0;  // entries of the block's share claimed by warps before
    for_each_warp(pipeline.front_end.waiting(StallCause::log_full) & helped, [&](WarpSlot slot) {
      const Warp& waiting = blocks.warp(slot);
      const std::uint32_t wanted =
          blocks.grid_of(waiting).issue->precise[waiting.paths.pc()].log_entries;
      if (!has_room(share_of(pipeline, slot), claimed + wanted)) return;
      if (!common) claimed += wanted;
      pipeline.front_end.look_again(slot, now);
    });
  }
  /// Entries of a block.
  struct Share {
    std::uint32_t used = 0, size = 0;
    template <class A>
    void serialize(A& archive) {
      archive(used, size);
    }
  };
  bool has_room(const Share& share, std::uint32_t entries) const {
    return share.used + entries <= share.size && used_ + entries <= entries_;
  }
  Share& share_of(const Pipeline& pipeline, WarpSlot warp) {
    return blocks_[pipeline.blocks.warp(warp).block];
  }

  std::uint32_t entries_, used_ = 0;
  std::uint32_t promised_ = 0;  ///< sum of the shares when a block last came
  QueueEntries queues_;
  std::vector<Share> blocks_;  ///< share of each block, by its place
};

}  // namespace

PolicyRegistry<MakeExceptionScheme>::Row operand_log() {
  return {"operand-log",
          "memory instructions wait in a queue to be issued again with operands from a log "
          "(000, section 3.3)",
          [](const PolicyChoice& choice) -> std::unique_ptr<ExceptionScheme> {
            return std::make_unique<OperandLog>(choice.parameters<OperandLogParameters>());
          },
          &schema_of<OperandLogParameters>()};
}

}  // namespace lockstep
