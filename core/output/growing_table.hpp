#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/output/table.hpp"

namespace lockstep {

class RunOutput;

/// A table of the output file that is written during the run, so that its rows take no memory
/// however many there are.  A StatisticsRecorder writes them with its epochs.
class GrowingTable {
 public:
  /// Creates the table in `output`, which must not have been started.  No text is longer than
  /// `text_bytes`.
  GrowingTable(RunOutput& output, const TableSchema& schema, std::size_t text_bytes);

  template <class Row>
  void append(const std::vector<Row>& rows) {
    packed_.pack(rows.data(), rows.size(), pending_);
  }
  bool has_pending() const { return !pending_.empty(); }

  /// Takes over the rows written before the state that serialize() restored; for a resumed run,
  /// before RunOutput::start().
  void take_rows(const h5::File& from);
  /// Returns the most bytes by which the file grows when the pending rows are flushed.
  std::uint64_t most_bytes() const;
  /// Makes all rows readable.
  void flush();
  /// Closes the table after its last row, before RunOutput::finish_epochs().
  void close() { series_.close(); }

  /// Saves or restores, after flush(), how many rows the file has.
  template <class Archive>
  void serialize(Archive& archive) {
    archive(rows_);
  }

 private:
  bool holds_these(const h5::ElementType& type) const;
  std::uint64_t pending_rows() const { return pending_.size() / packed_.bytes_of_row(); }

  const TableSchema& schema_;
  const PackedRows packed_;
  h5::Series series_;
  std::vector<char> pending_;
  std::uint64_t rows_ = 0;  ///< rows in the file
};

}  // namespace lockstep
