/// The folder of a recording: workload.yaml, the modules as PTX, the program and its data.
///
/// The folder is written beside its place and takes its name when it is complete.
#pragma once

#include <string>
#include <vector>

#include "jobs/capture/session.hpp"
#include "jobs/capture/written_program.hpp"
#include "models/workload/recording/recording_writer.hpp"

namespace lockstep::capture {

class WorkloadFolder {
 public:
  /// Throws UserError when something stands there already.
  explicit WorkloadFolder(const std::string& path);
  /// Removes an unfinished folder.
  ~WorkloadFolder();
  WorkloadFolder(const WorkloadFolder&) = delete;
  WorkloadFolder& operator=(const WorkloadFolder&) = delete;

  std::string recording_file() const { return part_ + "/program.h5"; }
  /// `title`: name of the captured program, for readers.
  void finish(Session& session, const std::string& title);
  /// Finishes an extract: modules and buffers are those of another recording, of which `writer` has
  /// a part.
  void finish_extract(const Workload& whole, const RecordingWriter& writer,
                      const FindKernel& find_kernel, const std::string& title);

 private:
  void add_module(const std::string& name, const std::string& ptx);
  /// `heap`: bytes; 0: kernels have none.
  void write_description(const std::string& title, const RecordingWriter& writer,
                         std::uint64_t heap, const std::vector<Buffer>& buffers,
                         const FindKernel& find_kernel);
  void take_name();

  std::string path_, part_;
  std::vector<std::string> modules_;
  bool finished_ = false;
};

}  // namespace lockstep::capture
