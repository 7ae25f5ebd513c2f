#include "core/output/claimed_path.hpp"

#include <fcntl.h>
#include <hdf5.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "core/error/error.hpp"

namespace lockstep {
namespace {

/// An HDF5 file that nobody can say to be anything else: what a killed run left may not open.
bool may_be_output(const std::string& path) {
  if (H5Fis_hdf5(path.c_str()) <= 0) return false;
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) return true;
  const bool is_output = H5Aexists(file, "file version") > 0;
  H5Fclose(file);
  return is_output;
}

void refuse_what_is_no_output(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return;
  bool replaceable = std::filesystem::file_size(path, ignored) == 0;
  H5E_BEGIN_TRY {
    replaceable = replaceable || may_be_output(path);
  }
  H5E_END_TRY
  if (replaceable) return;
  throw UserError(path, "is there and is no output of lockstep, which would overwrite it",
                  "choose another --output or remove the file");
}

/// HDF5 empties a file before it asks for its lock, so a reader's is asked for here.
void refuse_what_is_read(const std::string& path, int file) {
  const bool is_read = flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  flock(file, LOCK_UN);
  if (is_read)
    throw UserError(path, "is open in another program",
                    "close it there or choose another --output");
}

}  // namespace

/// A lock of the open file description: HDF5 has locks of its own, which it gives up while others
/// may read, and closing the file there does not end this one.
ClaimedPath::ClaimedPath(const std::string& path) {
  refuse_what_is_no_output(path);
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) return;  // HDF5 will fail there too, and say why
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  try {
    if (fcntl(file_, F_OFD_SETLK, &whole) != 0 && (errno == EAGAIN || errno == EACCES))
      throw UserError(path, "is being written by another run",
                      "wait for its end or choose another --output");
    refuse_what_is_read(path, file_);
  } catch (...) {
    close(file_);
    throw;
  }
}

ClaimedPath::~ClaimedPath() {
  if (file_ >= 0) close(file_);
}

}  // namespace lockstep
