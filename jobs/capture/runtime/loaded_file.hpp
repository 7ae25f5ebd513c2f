/// File of the program's process that an address lies in.
#pragma once

#include <string>

namespace lockstep::capture {

struct LoadedFile {
  std::string name;         ///< name without folders; "": no file
  bool is_program = false;  ///< true: the program; false: a library
};

/// Returns the file that this code or data was loaded from.
LoadedFile file_around(const void* address);

}  // namespace lockstep::capture
