/// Checkpoints of a run: everything that a process needs to continue the run, on any ranks and
/// threads.
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

/// Returns the path of the checkpoint of a run with this output: beside it, with the ending .ckpt.
std::string checkpoint_path(const std::string& output);
/// Returns the output of the run of this checkpoint, which --output may replace.
std::string output_of_checkpoint(const std::string& checkpoint);

class Checkpoints {
 public:
  /// Makes the checkpoints.  `file` and `recorder`: nullptr on ranks other than 0; `output`: the
  /// name as a person gave it.
  Checkpoints(const Identity& identity, const std::string& output, RunOutput* file,
              StatisticsRecorder* recorder);

  /// Restores, on rank 0 and before RunOutput::start(), the parts outside of the engine. Throws
  /// UserError if the checkpoint is of another run, or if the output does not belong to it.
  void restore(CheckpointReader& source, const std::string& path);

  /// Writes a checkpoint between two windows, on all ranks. The output's rows reach the disk first,
  /// and the checkpoint before is kept. Returns nothing, or the reason for a failure ("" on ranks
  /// other than 0).
  [[nodiscard]] std::optional<std::string> write(Engine& engine);
  /// Writes, like write(), the checkpoint of a run that has been simulated up to `end` and is not
  /// checked yet. Throws UserError if it cannot be written.
  void write_over(Engine& engine, Time end, Time stop_at);
  /// Returns the end of the restored run; nothing if it had not ended. All ranks call it together
  /// and learn the result. Throws UserError if the run was to stop at another time.
  std::optional<Time> over_at(Time stop_at, Communicator& communicator) const;

  /// Removes the checkpoints of a run that has come to its end.
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
