#include "jobs/run/shared_output.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>

#include "core/error/error.hpp"
#include "core/output/hdf5.hpp"
#include "jobs/options.hpp"
#include "jobs/supervise/signals.hpp"

namespace lockstep {
namespace {

std::string lock_of(const std::string& path) {
  return path + ".lock";
}

}  // namespace

SharedOutput::SharedOutput(const std::string& path)
    : path_(path), lock_(open(lock_of(path).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  while (lock_ >= 0 && Signals::status() == exit_done && flock(lock_, LOCK_EX | LOCK_NB) != 0 &&
         errno == EWOULDBLOCK)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

SharedOutput::~SharedOutput() {
  if (lock_ < 0) return;
  unlink(lock_of(path_).c_str());
  close(lock_);
}

bool SharedOutput::is_whole() const {
  std::error_code absent;
  if (!std::filesystem::exists(path_, absent)) return false;
  try {
    return h5::File::open_to_read(path_).has("/final/end");
  } catch (const UserError&) {
    return false;
  }
}

}  // namespace lockstep
