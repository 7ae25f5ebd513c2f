#pragma once

#include <string>

namespace lockstep {

/// Brings everything written to a file or folder to the disk before it returns.  Returns false, and
/// sets errno, if that fails.
bool reach_disk(const std::string& path);

/// Copies all of a file over the file at `to`. Returns false, and errno, if it could not; the
/// standard library does not tell a full disk from a broken one.
bool copy_whole(const std::string& from, const std::string& to);

/// Gives the file `from` the name `to` at once, even if another file has it, and durably. Returns
/// false, and errno, if it could not.
bool take_name(const std::string& from, const std::string& to);

}  // namespace lockstep
