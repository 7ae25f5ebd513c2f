#pragma once

#include <string>

#include "jobs/options.hpp"
#include "jobs/sweep/sweep_file.hpp"

namespace lockstep {

/// How far a point has come, as its files tell.
enum class PointState : std::uint8_t {
  missing,    ///< not begun, or begun with another program, scenario or data
  resumable,  ///< begun, with a checkpoint to go on from
  done,
};

/// Throws UserError that names the point, if its scenario or one of its values has a mistake.
void check_point(const Sweep& sweep, const SweepPoint& point);
PointState state_of(const Sweep& sweep, const SweepPoint& point);
/// Returns a text attribute; "" if there is no attribute or file.
std::string text_attribute(const std::string& file, const std::string& object,
                           const std::string& name);
/// Returns the output file of the point, or of its run in which all tenants share the GPU.
std::string output_of(const Sweep& sweep, const SweepPoint& point);
/// Returns the file that `compare` writes last, of all its runs.
std::string measures_of(const Sweep& sweep, const SweepPoint& point);
/// Returns whether the output of a point holds a complete run, of any program, scenario or data,
/// which has passed its check if the sweep asks for one.
bool is_whole(const Sweep& sweep, const SweepPoint& point);
/// Returns the command of one point as words; with the checkpoint if there is one to resume from.
std::vector<std::string> command_of(const Sweep& sweep, const SweepPoint& point, PointState state);

}  // namespace lockstep
