#pragma once

#include <string>

#include "jobs/observe/observed_run.hpp"

namespace lockstep {

/// Exports counters by epoch, one row per entry that is not 0; or the rows of `table` if that is
/// not "".
void export_csv(const ObservedRun& run, const std::string& table, const std::string& output);
/// Exports kernels, thread blocks, and faults with their transfers as slices of tracks; only those
/// of `table` if that is not "".
void export_perfetto(const ObservedRun& run, const std::string& table, const std::string& output);

/// Throws UserError if the run did not record the table, or has not finished.
void require_table(const ObservedRun& run, const std::string& table);

}  // namespace lockstep
