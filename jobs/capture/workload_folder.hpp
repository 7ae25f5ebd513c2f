/// The folder of a recording: workload.yaml, the module as PTX, the program and its data.
///
/// It is written beside its place and takes its name when it is whole.
#pragma once

#include <string>
#include <vector>

#include "jobs/capture/session.hpp"

namespace lockstep::capture {

class WorkloadFolder {
 public:
  /// Throws UserError when something stands there already.
  explicit WorkloadFolder(const std::string& path);
  /// Takes away what is not finished.
  ~WorkloadFolder();
  WorkloadFolder(const WorkloadFolder&) = delete;
  WorkloadFolder& operator=(const WorkloadFolder&) = delete;

  std::string recording_file() const { return part_ + "/program.h5"; }
  /// `title`: what was captured, for people.
  void finish(Session& session, const std::string& title);
  /// Modules and buffers are those of another recording; `title`: which part of it this is.
  void finish_extract(const std::string& whole, const std::vector<std::string>& modules,
                      const std::string& title);

 private:
  /// Gives their names, as `module:` has them.
  std::string write_modules(const std::vector<std::string>& files);
  void take_name();

  std::string path_, part_;
  bool finished_ = false;
};

/// A kernel's name as its source has it.
std::string demangled(const std::string& name);

}  // namespace lockstep::capture
