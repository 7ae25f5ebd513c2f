/// The checkpoints of a run: everything that a process, on whatever ranks and threads, needs to go
/// on with it.
#pragma once

#include <optional>
#include <string>

#include "core/engine/engine.hpp"
#include "core/output/checkpoint_file.hpp"
#include "core/output/recorder.hpp"
#include "core/output/run_output.hpp"
#include "jobs/run/identity.hpp"
#include "jobs/run/run_cost.hpp"

namespace lockstep {

/// Returns the path of the checkpoint of a run that writes `output`: beside it, with the ending
/// .ckpt.
std::string checkpoint_path(const std::string& output);
/// Returns the output of the run of this checkpoint, unless --output names another one.
std::string output_of_checkpoint(const std::string& checkpoint);

class Checkpoints {
 public:
  /// `file` and `recorder` are those of rank 0, null elsewhere; `name` of the output is what a
  /// person gave.
  Checkpoints(const Identity& identity, const std::string& output, RunOutput* file,
              StatisticsRecorder* recorder);

  /// Restores, on rank 0 and before RunOutput::start(), the parts that are not the engine's. Throws
  /// UserError if the checkpoint is of another run, or the output not the one it goes with.
  void restore(CheckpointReader& source, const std::string& path);

  /// Writes a checkpoint between two windows, on all ranks. The output's rows are on disk before
  /// it, and the checkpoint before is kept. Returns nothing, or why it could not be written ("" on
  /// other ranks than 0).
  [[nodiscard]] std::optional<std::string> write(Engine& engine);
  /// Writes as write() does the checkpoint of a run that has been simulated to its end, at `end`,
  /// and is not checked yet. Throws UserError if it cannot be written.
  void write_over(Engine& engine, Time end, Time stop_at);
  /// Returns when the restored run came to its end; nothing if it had not. Known to all ranks that
  /// call it together. Throws UserError if the run was to stop at another time.
  std::optional<Time> over_at(Time stop_at, Communicator& communicator) const;

  /// The run has come to its end.
  void remove() const;

  const std::string& path() const { return path_; }
  RunCost cost(const RunSummary& segment) const { return before_.with(segment); }

 private:
  /// Writes the checkpoint of a run that has come to its end.
  struct Over {
    Time end = Time::never(), stop_at;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(end, stop_at);
    }
  };

  void save_run(CheckpointWriter& file, const RunSummary& so_far);

  const Identity& identity_;
  const std::string path_;
  RunOutput* const file_;
  StatisticsRecorder* const recorder_;
  RunCost before_;  ///< cost of the segments before this one
  Over over_;
  bool is_good_ = false;  ///< the file at the path belongs to this run
};

/// Throws UserError if Checkpoints::write() had a problem; for a run that ends.
void require_written(const std::optional<std::string>& problem);

}  // namespace lockstep
