#include "jobs/capture/captured_program.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/error/error.hpp"
#include "jobs/capture/protocol.hpp"

namespace lockstep::capture {
namespace {

namespace fs = std::filesystem;

/// Returns the folder of the runtime: capture/libcudart.so.13 beside the built or installed
/// program.
std::string runtime_folder() {
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* place : {"capture", "../lib/lockstep/capture"})
    if (fs::exists(here / place / "libcudart.so.13", error))
      return (here / place).lexically_normal().string();
  throw UserError(
      (here / "capture").string(), "has no CUDA runtime to capture with",
      "build it beside the program: cmake --build build/release --target lockstep_capture");
}

[[noreturn]] void become(const std::vector<std::string>& command, const std::string& libraries,
                         const std::string& channel, int report) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::setenv("LD_LIBRARY_PATH", libraries.c_str(), 1);
  ::setenv(channel_variable, channel.c_str(), 1);
  ::execvp(arguments[0], arguments.data());
  const int reason = errno;
  [[maybe_unused]] const ssize_t told = ::write(report, &reason, sizeof reason);
  std::_Exit(127);
}

}  // namespace

CapturedProgram::CapturedProgram(const std::vector<std::string>& command, int memory) {
  std::string libraries = runtime_folder();
  if (const char* others = std::getenv("LD_LIBRARY_PATH")) libraries += std::string(":") + others;
  int ends[2], report[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || ::pipe2(report, O_CLOEXEC) != 0)
    throw UserError("", std::string("no channel to the program: ") + std::strerror(errno), "");
  ::fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  const std::string channel = std::to_string(ends[1]) + "," + std::to_string(memory);
  process_ = ::fork();
  if (process_ == 0) become(command, libraries, channel, report[1]);
  ::close(ends[1]);
  ::close(report[1]);
  socket_ = ends[0];
  int reason = 0;
  const bool failed = process_ < 0 || ::read(report[0], &reason, sizeof reason) == sizeof reason;
  ::close(report[0]);
  if (failed)
    throw UserError(command[0], std::string("cannot be started: ") + std::strerror(reason),
                    "write the program behind --, as in: capture --output X.workload -- ./program");
}

/// The channel is closed last: a program that finds it closed would report that.
CapturedProgram::~CapturedProgram() {
  if (process_ > 0) {
    end();
    wait();
  }
  if (socket_ >= 0) ::close(socket_);
}

void CapturedProgram::end() const {
  ::kill(process_, SIGKILL);
}

int CapturedProgram::wait() {
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  return status;
}

}  // namespace lockstep::capture
