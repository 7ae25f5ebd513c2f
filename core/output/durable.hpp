#pragma once

#include <string>

namespace lockstep {

/// Brings everything written to a file or folder to the disk.  Returns false, and sets errno, if
/// that fails.
bool reach_disk(const std::string& path);

/// Copies the whole file over the file at `to`. Returns false, and sets errno, on failure; the
/// standard library does not tell a full disk from a broken one.
bool copy_whole(const std::string& from, const std::string& to);

/// Renames the file `from` to `to` at once and durably, even if another file has that name. Returns
/// false, and sets errno, on failure.
bool take_name(const std::string& from, const std::string& to);

}  // namespace lockstep
