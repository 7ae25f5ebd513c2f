/// `lockstep calibrate`: what of a GPU's configuration to change so that it measures what a real
/// one does.
///
/// The runs and what they are compared with are those of the validation: calibrate.py beside its
/// rows.yaml, which takes the place of this process.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/error/error.hpp"
#include "jobs/options.hpp"

namespace lockstep {

int calibrate_command(const CommandLine& line) {
  const std::string script =
      std::filesystem::path(line.rows).replace_filename("calibrate.py").string();
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  execl(script.c_str(), script.c_str(), line.first_file.c_str(), line.second_file.c_str(),
        "--lockstep", program.c_str(), nullptr);
  throw UserError(script, "cannot be started: " + std::string(std::strerror(errno)),
                  "name rows.yaml of the source's tests/validation with --rows");
}

}  // namespace lockstep
