#include "core/output/claimed_path.hpp"

#include <fcntl.h>
#include <hdf5.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/error/error.hpp"
#include "core/error/file_advice.hpp"
#include "core/error/input_file.hpp"
#include "core/output/durable.hpp"
#include "core/output/hdf5_library.hpp"

namespace lockstep {
namespace {

/// Returns whether the file may be an output. An HDF5 file that cannot be said to be anything else
/// counts, since the file of a killed run may not open.
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
  const auto type = std::filesystem::status(path, ignored).type();
  if (type == std::filesystem::file_type::not_found || type == std::filesystem::file_type::none)
    return;
  if (type != std::filesystem::file_type::regular) {
    throw UserError(path, "is not a file that could be written anew", "choose another --output");
  }
  // This precedes every other call of the library: the first one decides whether the library writes
  // at the end.
  h5::take_over_errors();
  if (std::filesystem::file_size(path, ignored) == 0 || may_be_output(path)) return;
  throw UserError(path, "is there and is no output of lockstep, which would overwrite it",
                  "choose another --output or remove the file");
}

/// Throws if a reader has the file. HDF5 empties a file before it takes its lock, so this function
/// checks for a reader's lock first.
void refuse_what_is_read(const std::string& path, int file) {
  const bool is_read = flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  flock(file, LOCK_UN);
  if (is_read)
    throw UserError(path, "is open in another program",
                    "close it there or choose another --output");
}

}  // namespace

/// The lock belongs to the open file description: HDF5 has locks of its own, which it releases
/// while others may read, and closing the file there does not release this one.
ClaimedPath::ClaimedPath(const std::string& path, Use use) : path_(path) {
  refuse_what_is_no_output(path);
  constexpr int how = O_RDWR | O_CREAT | O_CLOEXEC;
  file_ = open(path.c_str(), how | O_EXCL, 0666);
  is_new_ = file_ >= 0;
  if (file_ < 0 && errno == EEXIST) file_ = open(path.c_str(), how, 0666);
  if (file_ < 0) {
    const std::string reason = std::strerror(errno);
    throw UserError(path, "cannot create: " + reason,
                    file_advice(reason, "choose a writable place with --output"));
  }
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  try {
    if (fcntl(file_, F_OFD_SETLK, &whole) != 0 && (errno == EAGAIN || errno == EACCES))
      throw UserError(path, "is being written by another run",
                      "wait for its end or choose another --output");
    if (use == Use::emptied) refuse_what_is_read(path, file_);
  } catch (...) {
    leave();
    throw;
  }
}

bool ClaimedPath::is_claimed(const std::string& path) {
  if (!why_unreadable(path).empty()) return false;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  const bool known = fcntl(file, F_OFD_GETLK, &whole) == 0;
  close(file);
  return known && whole.l_type != F_UNLCK;
}

void ClaimedPath::admit_readers() const {
  flock(file_, LOCK_SH | LOCK_NB);
}

void ClaimedPath::rename(const std::string& place, const std::string& path) {
  if (!take_name(path_, place)) {
    throw UserError(path, std::string("cannot write: ") + std::strerror(errno),
                    file_advice(std::strerror(errno),
                                "free space on that file system, or choose another with --output"));
  }
  path_ = path;
  is_new_ = false;
}

void ClaimedPath::check() const {
  if (is_there()) return;
  const bool found = access(path_.c_str(), F_OK) == 0;
  throw UserError(path_,
                  found ? "was replaced by another file during the run"
                        : "was removed during the run, or its folder",
                  "run again and leave the output in its place");
}

bool ClaimedPath::is_there() const {
  struct stat claimed {
  }, there{};
  return fstat(file_, &claimed) == 0 && stat(path_.c_str(), &there) == 0 &&
         there.st_dev == claimed.st_dev && there.st_ino == claimed.st_ino;
}

bool ClaimedPath::set_aside() {
  for (int& descriptor : aside_) {
    if (descriptor < 0) descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return false;
  }
  return true;
}

void ClaimedPath::use_set_aside() {
  for (int& descriptor : aside_)
    if (descriptor >= 0) close(std::exchange(descriptor, -1));
}

void ClaimedPath::leave() {
  use_set_aside();
  if (is_new_ && is_there()) unlink(path_.c_str());
  close(file_);
}

ClaimedPath::~ClaimedPath() {
  leave();
}

}  // namespace lockstep
