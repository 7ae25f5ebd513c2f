#pragma once

#include <string>
#include <vector>

namespace lockstep {

/// Returns whether a value names a file by its word alone, such as `gpu: v100`, without folder and
/// ending.
bool is_word(const std::string& name);

/// Returns the path of `name`.yaml.  It is searched in the folder `beside`, in the folders of the
/// environment variable LOCKSTEP_PATH (separated by colons), and among the configurations that came
/// with the program; in each in the folder itself or in its folder `kind` ("gpus", "hosts",
/// "workloads"). A file with `tenants:` is a scenario and is skipped. Returns "" if there is none.
std::string find_by_name(const std::string& name, const std::string& kind,
                         const std::string& beside);

/// Returns the names that find_by_name() would find, in the order of the alphabet.
std::vector<std::string> known_names(const std::string& kind, const std::string& beside);

}  // namespace lockstep
