#include "core/parameters/search_path.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr const char* ending = ".yaml";

/// Returns the folders of configurations beside the program, built (build/NAME/lockstep) or
/// installed (bin/lockstep).
std::vector<fs::path> folders_of_the_program() {
  std::error_code absent;
  const fs::path program = fs::read_symlink("/proc/self/exe", absent).parent_path();
  if (absent) return {};
  return {program / "../../configs", program / "../share/lockstep/configs"};
}

std::vector<fs::path> folders(const std::string& kind, const std::string& beside) {
  std::vector<fs::path> bases = {beside};
  const char* path = std::getenv("LOCKSTEP_PATH");
  std::istringstream listed(path ? path : "");
  for (std::string folder; std::getline(listed, folder, ':');)
    if (!folder.empty()) bases.emplace_back(folder);
  for (const fs::path& folder : folders_of_the_program()) bases.push_back(folder);
  std::vector<fs::path> all;
  for (const fs::path& base : bases) {
    all.push_back(base);
    all.push_back(base / kind);
  }
  return all;
}

/// Returns whether the file is a scenario. Names in a scenario never mean one, since a scenario may
/// have the name of its workload.
bool is_scenario(const fs::path& file) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("tenants:")) return true;
  return false;
}

}  // namespace

bool is_word(const std::string& name) {
  return !name.empty() && name.find_first_of("/.") == std::string::npos;
}

std::string find_by_name(const std::string& name, const std::string& kind,
                         const std::string& beside) {
  std::error_code absent;
  for (const fs::path& folder : folders(kind, beside)) {
    const fs::path file = folder / (name + ending);
    if (fs::is_regular_file(file, absent) && !is_scenario(file))
      return file.lexically_normal().string();
  }
  return "";
}

std::vector<std::string> known_names(const std::string& kind, const std::string& beside) {
  std::set<std::string> names;
  for (const fs::path& folder : folders(kind, beside)) {
    std::error_code absent;
    if (folder.filename() != kind) continue;
    for (const auto& entry : fs::directory_iterator(folder, absent))
      if (entry.path().extension() == ending) names.insert(entry.path().stem().string());
  }
  return {names.begin(), names.end()};
}

}  // namespace lockstep
