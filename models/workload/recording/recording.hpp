/// A recorded program: its steps and their data, read as they are needed.
///
/// The piece of each data set that was read last is kept, so that memory does not grow with the
/// program's length.  HDF5 checks the checksums of the pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/isa/interpreter/inexact/inexact_floats.hpp"
#include "models/isa/matrix/form.hpp"
#include "models/workload/recording/recorded_step.hpp"

namespace lockstep {

class Recording {
 public:
  /// Opens the recording.  Throws UserError at `where` unless the file is a recording of this
  /// version.
  Recording(const std::string& file, const std::string& where);

  const std::string& file() const { return file_name_; }
  std::uint64_t steps() const { return steps_.length; }
  RecordedStep step(std::uint64_t number) const;
  /// Returns whether the recorded program may have used several devices.
  bool has_devices() const { return has_devices_; }
  std::uint32_t device(const RecordedStep& step) const {
    return has_devices_ ? step.stream / recording_format::streams_of_a_device : 0;
  }
  const std::string& kernel(const RecordedStep& step) const;
  /// Returns all launched kernels by name.
  const std::vector<std::string>& launched_kernels() const { return kernels_; }
  /// Returns the arithmetic of the matrix units that computed the program's results; nothing
  /// without matrix products, or if it was not recorded.
  std::optional<isa::MatrixArithmetic> arithmetic() const { return arithmetic_; }
  /// Returns the parameter buffer of a launch.
  std::vector<std::byte> arguments(const RecordedStep& step) const;
  /// Returns the data that a step copies, writes or brought; nothing for steps without data and for
  /// steps that do not exist.
  std::optional<RecordedData> data_of(std::uint64_t step) const;
  /// Reads bytes [offset, offset + to.size()) of the data.
  void read(const RecordedData& data, std::uint64_t offset, std::span<std::byte> to) const;
  /// Floats of a copy to the host that may differ.
  std::vector<isa::InexactFloats> inexact(const RecordedData& data) const;

 private:
  /// A data set and the piece of it that was read last.
  struct Window {
    std::string path;
    std::uint64_t row_bytes = 0, piece_rows = 0, length = 0;
    mutable std::uint64_t first = 0, count = 0;
    mutable std::vector<std::byte> bytes{};
  };

  Window open(const char* path, h5::Scalar type, const h5::Shape& row,
              std::uint64_t piece_rows) const;
  /// Returns the row, with the following rows of the same piece.
  std::span<const std::byte> rows(const Window& window, std::uint64_t row) const;

  std::string file_name_;
  h5::File file_;
  bool has_devices_ = false;
  std::vector<std::string> kernels_;
  std::optional<isa::MatrixArithmetic> arithmetic_;
  Window steps_, arguments_, parts_, blocks_, inexact_;
  mutable std::mutex mutex_;  ///< protects the windows: a replay and its check may run at once
};

}  // namespace lockstep
