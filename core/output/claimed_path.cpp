#include "core/output/claimed_path.hpp"

#include <fcntl.h>
#include <hdf5.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "core/error/error.hpp"

namespace lockstep {
namespace {

void refuse_what_is_no_output(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return;
  if (std::filesystem::file_size(path, ignored) == 0 || H5Fis_hdf5(path.c_str()) > 0) return;
  throw UserError(path, "is there and is no HDF5 file: the output would overwrite it",
                  "choose another --output or remove the file");
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
  if (fcntl(file_, F_OFD_SETLK, &whole) == 0 || (errno != EAGAIN && errno != EACCES)) return;
  close(file_);
  throw UserError(path, "is being written by another run",
                  "wait for its end or choose another --output");
}

ClaimedPath::~ClaimedPath() {
  if (file_ >= 0) close(file_);
}

}  // namespace lockstep
