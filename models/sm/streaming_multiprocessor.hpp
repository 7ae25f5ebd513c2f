/// The streaming multiprocessor: blocks in, memory requests and finished blocks out.
///
/// Stages are explicit: fetch (the instruction buffer holds a warp's next instruction unless its
/// line is missing in the instruction cache; a branch empties the buffer for its latency), issue
/// (scoreboard, unit and queue free), operand read, execute (the last translation check of a memory
/// instruction is its turn in the load-store unit), commit (the scoreboard bit of a destination
/// falls).  A warp instruction computes its values when it issues; loads get theirs when the memory
/// answers.
/// Source: architecture.md, sections 3 and 8; hot-path.md (layout); gpu-parameters.md, section 3.
///
/// Simplified: register banks never conflict; one result bus per unit.  Without l0_bytes of
/// `instruction_cache` and `constant_cache` every fetch, and every load of a constant or parameter,
/// hits (as in the configurations of section 7).
/// Cost model: see sm_parameters.hpp.
#pragma once

#include <memory>
#include <string>

#include "core/engine/answer_receiver.hpp"
#include "core/engine/component.hpp"
#include "models/noc/grid_counts.hpp"
#include "models/noc/progress.hpp"
#include "models/sm/parameters/sm_setup.hpp"

namespace lockstep {

class BlockLog;
class SmCore;

class StreamingMultiprocessor final : public Component,
                                      public AnswerReceiver,
                                      public GridCounter,
                                      public ProgressSource {
 public:
  using Setup = SmSetup;
  explicit StreamingMultiprocessor(Setup setup);
  ~StreamingMultiprocessor() override;

  Time next_activity() const override;
  void advance(Time horizon, Inbox inbox, Outbox& outbox) override;
  void serialize(Archive& archive) override;
  StatisticsView statistics(Time now) override;
  std::vector<StatisticsView> parts(Time now) override;
  bool finished() const override;
  bool awaits_answers() const override;
  std::string waiting_for() const override;
  void take_grid_counts(Time now, std::vector<GridContribution>& taken) override;
  void take_progress(Time now, std::span<std::uint8_t> tenants) override;
  const BlockLog& block_log() const;

 private:
  std::unique_ptr<SmCore> core_;
};

}  // namespace lockstep
