#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/fuzz/inputs.hpp"

namespace lockstep {

struct Corpus {
  const char* name;  ///< of its folder
  void (*input)(const std::string&);
};
inline constexpr Corpus corpora[] = {{"ptx", ptx_input},
                                     {"scenario", scenario_input},
                                     {"workload", workload_input},
                                     {"hdf5", hdf5_input},
                                     {"content", content_input},
                                     {"recording", recording_input},
                                     {"checkpoint", checkpoint_input}};

/// Names and bytes of a corpus's files.
inline std::vector<std::pair<std::string, std::string>> files_of(const Corpus& corpus) {
  std::vector<std::pair<std::string, std::string>> files;
  const std::string folder = LOCKSTEP_SOURCE_DIR "/tests/fuzz/corpus/" + std::string(corpus.name);
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ostringstream bytes;
    bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    files.emplace_back(entry.path().filename(), bytes.str());
  }
  return files;
}

}  // namespace lockstep
