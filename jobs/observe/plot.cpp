/// `lockstep plot`: replaces this process by plot_run.py in a Python that has the needed modules.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "core/error/error.hpp"
#include "jobs/options.hpp"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr const char* needed = "h5py numpy pandas matplotlib";

/// Returns the path of the script beside the built program (build/NAME/lockstep) or the installed
/// one (bin/lockstep).
std::string script() {
  std::error_code absent;
  const fs::path here = fs::read_symlink("/proc/self/exe", absent).parent_path();
  for (const char* place : {"../../jobs/analysis", "../share/lockstep/analysis"})
    if (const fs::path file = here / place / "plot_run.py"; fs::exists(file, absent))
      return file.lexically_normal().string();
  throw UserError((here / "../share/lockstep/analysis/plot_run.py").lexically_normal().string(),
                  "is not there", "install Lockstep whole, or run it from its sources");
}

/// Returns the modules that `python` lacks, separated by commas; "" if it has all.  A program that
/// does not start counts as lacking itself.
std::string lacks(const std::string& python) {
  const std::string command = python +
                              " -c 'import importlib.util as u; print(\", \".join(m for m in \"" +
                              needed + "\".split() if not u.find_spec(m)))' 2>/dev/null";
  FILE* const pipe = popen(command.c_str(), "r");
  if (!pipe) return "everything";
  std::string text;
  std::array<char, 256> piece;
  while (std::fgets(piece.data(), static_cast<int>(piece.size()), pipe)) text += piece.data();
  if (pclose(pipe) != 0) return "everything";
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string usable_python() {
  std::string found;
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    const std::string missing = lacks(python);
    if (missing.empty()) return python;
    found += (found.empty() ? "" : ", ") + std::string(python) + " lacks " + missing;
  }
  throw UserError("plot", found,
                  "install python3-h5py python3-numpy python3-pandas python3-matplotlib, or a "
                  "Python on PATH that has them");
}

}  // namespace

int plot_command(const CommandLine& line) {
  std::vector<std::string> words{usable_python(), script(), line.first_file};
  if (!line.second_file.empty()) words.push_back(line.second_file);
  if (!line.output.empty()) {
    words.emplace_back("--output");
    words.push_back(line.output);
  }
  if (line.same_time) words.emplace_back("--same-time");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  throw UserError(words[0], "cannot be started", "install python3");
}

}  // namespace lockstep
