/// `lockstep calibrate`: finds changes to a GPU's configuration with which it measures like a real
/// GPU.
///
/// The runs and reference values are those of the validation: calibrate.py beside its rows.yaml
/// replaces this process.  It is searched in the sources from which the program was built, and not
/// in the current folder, where anybody may have put one.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/error/error.hpp"
#include "jobs/options.hpp"

namespace lockstep {

int calibrate_command(const CommandLine& line) {
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  const std::filesystem::path rows =
      line.rows.empty() ? program.parent_path() / "../../tests/validation/rows.yaml"
                        : std::filesystem::path(line.rows);
  const std::string script =
      std::filesystem::path(rows).replace_filename("calibrate.py").lexically_normal().string();
  execl(script.c_str(), script.c_str(), line.first_file.c_str(), line.second_file.c_str(),
        "--lockstep", program.c_str(), nullptr);
  throw UserError(script, "cannot be started: " + std::string(std::strerror(errno)),
                  "name rows.yaml of the source's tests/validation with --rows");
}

}  // namespace lockstep
