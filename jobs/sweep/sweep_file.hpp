#pragma once

#include <string>
#include <utility>
#include <vector>

namespace lockstep {

/// A run of a sweep.
struct SweepPoint {
  std::string name;      ///< name of the point's files, without folder and ending
  std::string scenario;  ///< file
  /// Settings of the point, in the order of the sweep's file: key and value.
  std::vector<std::pair<std::string, std::string>> parameters;

  std::vector<std::string> settings() const;
};

/// Many runs of a few scenarios (docs/cluster.md):
///
///     scenario: two_tenants_tiny.yaml      # or a list
///     command: run                         # or compare
///     output: results                      # folder
///     arguments: [--check]                 # of every run
///     grid: {gpu.sm.count: [2, 4], policies.dram_scheduler: [fcfs, fr-fcfs]}
///     list: [{tenants.0.sms: 1}, {tenants.0.sms: 2}]
///     seeds: [1, 2]
///
/// The points are every scenario with every combination of the grid, entry of the list and seed.
struct Sweep {
  std::string file, command = "run", folder;
  std::vector<std::string> arguments;
  std::vector<SweepPoint> points;

  std::string path(const SweepPoint& point, const std::string& ending) const {
    return folder + "/" + point.name + ending;
  }
};

/// Reads a sweep. Throws UserError for an unknown key, for no points, or for two points with one
/// name.
Sweep read_sweep(const std::string& file);

}  // namespace lockstep
