/// What reads files of users, given any bytes.  Each function returns if the bytes were understood
/// or refused well: by a UserError of one line that says what to do.  Everything else escapes.
#pragma once

#include <functional>
#include <string>

namespace lockstep {

void ptx_input(const std::string& bytes);       ///< a module: reader, lowering, encoder
void scenario_input(const std::string& bytes);  ///< a scenario, its overrides, tenants, GPU memory
void workload_input(const std::string& bytes);  ///< a workload and the formulas of its program
void hdf5_input(const std::string& bytes);      ///< shapes and types where a reader expects its own
void content_input(const std::string& bytes);   ///< initial content, also of raw files
void recording_input(const std::string& bytes);   ///< tables of a recorded program
void checkpoint_input(const std::string& bytes);  ///< parts of a checkpoint, as values

/// Calls `read`; std::logic_error if it is refused without advice or in more than one line.
void refused_well(const std::function<void()>& read);

}  // namespace lockstep
