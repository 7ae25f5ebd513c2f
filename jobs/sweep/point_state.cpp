#include "jobs/sweep/point_state.hpp"

#include <algorithm>
#include <filesystem>

#include "core/error/error.hpp"
#include "core/output/hdf5.hpp"
#include "jobs/run/check.hpp"
#include "jobs/run/identity.hpp"
#include "jobs/run/run.hpp"
#include "models/gpu/configuration.hpp"

namespace lockstep {
namespace {

bool is_checked(const Sweep& sweep) {
  return std::ranges::find(sweep.arguments, "--check") != sweep.arguments.end();
}

std::string digest_of(const Sweep& sweep, const SweepPoint& point) {
  CommandLine line;
  line.scenario = point.scenario;
  line.settings = point.settings();
  line.check = is_checked(sweep);
  return identity_of(line, [](Scenario scenario) { return scenario; }).digest();
}

}  // namespace

void check_point(const Sweep& sweep, const SweepPoint& point) {
  try {
    digest_of(sweep, point);
  } catch (const UserError& error) {
    throw UserError(sweep.file + ", point " + point.name, error.what(), "");
  }
}

std::string text_attribute(const std::string& file, const std::string& object,
                           const std::string& name) {
  std::error_code absent;
  if (!std::filesystem::exists(file, absent)) return "";
  try {
    return h5::File::open_to_read(file).text_attribute(object, name);
  } catch (const UserError&) {
    return "";  // without the attribute the point is run again
  }
}

std::string output_of(const Sweep& sweep, const SweepPoint& point) {
  if (sweep.command == "run") return sweep.path(point, ".h5");
  const std::string scenario = std::filesystem::path(point.scenario).stem().string();
  return sweep.path(point, "/" + scenario + ".h5");
}

std::string measures_of(const Sweep& sweep, const SweepPoint& point) {
  const std::string scenario = std::filesystem::path(point.scenario).stem().string();
  return sweep.path(point, "/" + scenario + ".compare.yaml");
}

bool is_whole(const Sweep& sweep, const SweepPoint& point) {
  const std::string output = output_of(sweep, point);
  std::error_code absent;
  if (!std::filesystem::exists(output, absent)) return false;
  if (is_checked(sweep) && text_attribute(output, "/run", "check") != check_passed) return false;
  if (sweep.command == "compare" && !std::filesystem::exists(measures_of(sweep, point), absent))
    return false;
  try {
    return h5::File::open_to_read(output).has("/final/end");
  } catch (const UserError&) {
    return false;
  }
}

PointState state_of(const Sweep& sweep, const SweepPoint& point) {
  const std::string output = output_of(sweep, point);
  std::string digest;
  try {
    digest = digest_of(sweep, point);
  } catch (const UserError&) {
    return PointState::missing;  // the run itself will report the mistake
  }
  if (is_whole(sweep, point) && text_attribute(output, "/run", "scenario_digest") == digest)
    return PointState::done;
  const bool resumes = sweep.command == "run" && std::filesystem::exists(output) &&
                       text_attribute(sweep.path(point, ".ckpt"), "/", "scenario_digest") == digest;
  return resumes ? PointState::resumable : PointState::missing;
}

std::vector<std::string> command_of(const Sweep& sweep, const SweepPoint& point, PointState state) {
  std::vector<std::string> words{"/proc/self/exe", sweep.command, point.scenario, "--quiet"};
  for (const std::string& setting : point.settings()) {
    words.push_back("--set");
    words.push_back(setting);
  }
  words.push_back("--output");
  words.push_back(sweep.path(point, sweep.command == "run" ? ".h5" : ""));
  words.push_back("--overwrite");  // earlier files of a point are its own
  if (sweep.command == "compare") {
    words.push_back("--alone-folder");
    words.push_back(sweep.folder + "/alone");
  }
  words.insert(words.end(), sweep.arguments.begin(), sweep.arguments.end());
  if (state == PointState::resumable) {
    words.push_back("--resume");
    words.push_back(sweep.path(point, ".ckpt"));
  }
  return words;
}

}  // namespace lockstep
