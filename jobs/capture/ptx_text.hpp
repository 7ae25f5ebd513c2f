/// PTX files of a program as files of its recording, with constant memory that the host can write.
///
/// Simplified: constant variables become global ones, so that copies to them are copies like all
/// others; a replay reads them through L1 instead of the constant cache.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace lockstep::capture {

/// Returns the text with its constant variables in global memory.
std::string with_global_constants(const std::string& text);

/// Returns the name of a recording's file of PTX, counted from 0.
inline std::string recorded_module_name(std::size_t number) {
  return number == 0 ? "module.ptx" : "module_" + std::to_string(number) + ".ptx";
}

/// The files of a recording are linked to one module when it is replayed.  So a symbol that two
/// modules of the program define gets a number behind its name in the later one, and so does a
/// symbol local to a file.
///
/// Names in the recording are unique before anything is linked: capture links the renamed files,
/// and a replay links the same ones.
class RecordedPtx {
 public:
  struct Added {
    std::vector<std::string> files;              ///< files of the module, with the new names
    std::map<std::string, std::string> renamed;  ///< new name of each renamed symbol
  };
  /// Adds a module: one file, or several files that were compiled separately and linked
  /// (-rdc=true).
  Added add(const std::vector<std::string>& group);
  /// Removes the files that were added last, if they cannot be linked.
  void take_back(std::size_t files) { files_.resize(files_.size() - files); }
  const std::vector<std::string>& files() const { return files_; }

 private:
  /// Returns the name with a number behind it that no symbol has, neither taken ones nor those in
  /// `group`.
  std::string fresh(const std::string& name, const std::set<std::string>& group) const;

  std::vector<std::string> files_;
  std::set<std::string> symbols_;  ///< symbols of all files so far
};

}  // namespace lockstep::capture
