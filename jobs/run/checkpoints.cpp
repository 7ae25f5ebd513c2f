#include "jobs/run/checkpoints.hpp"

#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <memory>

#include "core/error/error.hpp"
#include "core/parameters/units.hpp"

namespace lockstep {
namespace {

constexpr const char* output_ending = ".h5";
constexpr const char* ending = ".ckpt";

std::string without(const std::string& path, const std::string& end) {
  return path.ends_with(end) ? path.substr(0, path.size() - end.size()) : path;
}

/// Returns the digest of the run that wrote `output`; "" if the file does not say.
std::string digest_in(const h5::File& output) {
  if (!output.has("/run")) return "";
  return output.text_attribute("/run", "run_digest");
}

void require_same(const std::vector<RankFact>& saved, const std::vector<RankFact>& own,
                  const std::string& path) {
  const auto difference = first_difference(saved, "it", own, "this one");
  if (!difference) return;
  throw UserError(path, "is the checkpoint of another run: " + *difference,
                  "resume with the command line and files it was begun with");
}

}  // namespace

std::string checkpoint_path(const std::string& output) {
  return without(output, output_ending) + ending;
}

std::string output_of_checkpoint(const std::string& checkpoint) {
  return without(without(checkpoint, previous_checkpoint("")), ending) + output_ending;
}

Checkpoints::Checkpoints(const Identity& identity, const std::string& output, RunOutput* file,
                         StatisticsRecorder* recorder)
    : identity_(identity), path_(checkpoint_path(output)), file_(file), recorder_(recorder) {}

void Checkpoints::restore(CheckpointReader& source, const std::string& path) {
  std::vector<RankFact> facts;
  restore_part(source, "identity", [&](Archive& archive) { archive(facts); });
  require_same(facts, identity_.facts(), path);
  std::string output;
  restore_part(source, "run", [&](Archive& archive) { archive(output, before_, over_); });
  if (output != digest_in(file_->before())) {
    throw UserError(file_->path(), "is not the output of the run whose checkpoint is " + path,
                    "name that one with --output, or start the run anew");
  }
  restore_part(source, "recorder", [&](Archive& archive) { archive(*recorder_); });
  recorder_->take_rows(file_->before());
  std::error_code absent;
  is_good_ = std::filesystem::equivalent(path, path_, absent);
}

void Checkpoints::save_run(CheckpointWriter& file, const RunSummary& so_far) {
  file.describe("version", LOCKSTEP_VERSION);
  file.describe("scenario_digest", identity_.digest());
  std::vector<RankFact> facts = identity_.facts();
  save_part(file, "identity", [&](Archive& archive) { archive(facts); });
  std::string output = identity_.run_digest();
  RunCost cost = this->cost(so_far);
  save_part(file, "run", [&](Archive& archive) { archive(output, cost, over_); });
  save_part(file, "recorder", [&](Archive& archive) { archive(*recorder_); });
}

std::optional<std::string> Checkpoints::write(Engine& engine) {
  std::exception_ptr failure;
  // All ranks take part, so that a rank that fails does not leave the others waiting.
  const auto all_could = [&](auto&& action) {
    std::int64_t good[1] = {0};
    try {
      good[0] = action() ? 1 : 0;
    } catch (...) {
      failure = std::current_exception();
    }
    engine.communicator().minimum(good);
    return good[0] == 1;
  };
  const auto keep_rows = [&] {
    if (recorder_) recorder_->flush();
    if (file_) file_->reach_disk();
    return true;
  };
  if (!all_could(keep_rows)) {
    if (failure) std::rethrow_exception(failure);
    return "";
  }
  std::unique_ptr<CheckpointWriter> writer;
  const auto begin = [&] {
    if (!file_) return true;
    writer = std::make_unique<CheckpointWriter>(path_);
    save_run(*writer, engine.so_far());
    return true;
  };
  const auto save = [&] { return engine.save(writer.get()); };
  const auto finish = [&] {
    if (writer) writer->finish(is_good_);
    return true;
  };
  if (all_could(begin) && all_could(save) && all_could(finish)) {
    is_good_ = true;
    return std::nullopt;
  }
  try {
    if (failure) std::rethrow_exception(failure);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

void Checkpoints::write_over(Engine& engine, Time end, Time stop_at) {
  over_ = {end, stop_at};
  require_written(write(engine));
}

std::optional<Time> Checkpoints::over_at(Time stop_at, Communicator& communicator) const {
  std::int64_t end[1] = {over_.end.femtoseconds()};
  communicator.minimum(end);
  if (end[0] == Time::never().femtoseconds()) return std::nullopt;
  if (over_.end != Time::never() && over_.stop_at != stop_at) {
    throw UserError(path_, "is of a run that had come to its end, with another simulation.stop_at",
                    "resume with the one it was begun with, or start it anew");
  }
  return Time{end[0]};
}

void require_written(const std::optional<std::string>& problem) {
  if (problem && !problem->empty())
    throw UserError("", *problem, "the run can be resumed from an older checkpoint, or begun anew");
}

void Checkpoints::remove() const {
  remove_checkpoint(path_);
}

}  // namespace lockstep
