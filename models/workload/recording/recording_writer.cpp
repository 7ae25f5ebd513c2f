#include "models/workload/recording/recording_writer.hpp"

#include <algorithm>
#include <cstring>

#include "core/checkpoint/checksum.hpp"
#include "core/error/error.hpp"

namespace lockstep {

using namespace recording_format;

namespace {

/// Appends when a piece is full, so that the library is not asked for every row.
template <class T>
void flush(h5::Series& series, std::vector<T>& waiting, std::size_t least) {
  if (waiting.size() < std::max<std::size_t>(least, 1)) return;
  series.append(waiting.data(), waiting.size());
  waiting.clear();
}

std::uint64_t mixed(std::uint64_t state, std::uint64_t word) {
  state = (state ^ word) * 0x9fb21c651e98df25u;
  return state ^ (state >> 32);
}

}  // namespace

RecordingWriter::RecordingWriter(const std::string& file, bool has_devices)
    : file_(h5::File::create(file)) {
  constexpr auto checked = h5::Sums::checked;
  steps_ = file_.create_table(recording_format::steps, RecordedStep::members(),
                              sizeof(RecordedStep), step_rows, checked);
  file_.set_attribute(recording_format::steps, "version",
                      has_devices ? version_of_devices : version);
  arguments_ = file_.create_series(arguments, h5::Scalar::u8, {}, argument_bytes, checked);
  parts_ = file_.create_series(parts, h5::Scalar::u64, {}, part_rows, checked);
  blocks_ = file_.create_series(blocks, h5::Scalar::u8, {block_bytes}, 1, checked);
}

void RecordingWriter::add(const RecordedStep& step) {
  ++step_count_;
  if (step.is_launch()) ++launches_;
  waiting_steps_.push_back(step);
  flush(steps_, waiting_steps_, step_rows);
}

std::uint64_t RecordingWriter::add_arguments(std::span<const std::byte> bytes) {
  const std::uint64_t place = argument_count_;
  argument_count_ += bytes.size();
  waiting_arguments_.insert(waiting_arguments_.end(), bytes.begin(), bytes.end());
  flush(arguments_, waiting_arguments_, argument_bytes);
  return place;
}

std::uint64_t RecordingWriter::add_data(std::span<const std::byte> bytes) {
  const std::uint64_t place = part_count_;
  data_bytes_ += bytes.size();
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min<std::size_t>(bytes.size(), block_bytes));
    waiting_parts_.push_back(block(piece));
    ++part_count_;
    bytes = bytes.subspan(piece.size());
  }
  flush(parts_, waiting_parts_, part_rows);
  return place;
}

void RecordingWriter::add_inexact(std::uint64_t data, std::span<const isa::InexactFloats> floats) {
  if (floats.empty()) return;
  if (!inexact_)
    inexact_ = file_.create_table(inexact, RecordedFloats::members(), sizeof(RecordedFloats),
                                  inexact_rows, h5::Sums::checked);
  for (const isa::InexactFloats& part : floats) {
    const auto* type =
        std::find(std::begin(RecordedFloats::types), std::end(RecordedFloats::types), part.type);
    LOCKSTEP_CHECK(type != std::end(RecordedFloats::types), "inexact integers");
    waiting_inexact_.push_back({data, part.offset, part.count, part.tolerance, part.magnitude,
                                static_cast<std::uint64_t>(type - RecordedFloats::types)});
  }
  flush(*inexact_, waiting_inexact_, inexact_rows);
}

RecordingWriter::Fingerprint RecordingWriter::fingerprint(std::span<const std::byte> block) {
  Fingerprint print{checksum(block), 0x243f6a8885a308d3u};
  for (std::size_t at = 0; at < block.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, block.data() + at, sizeof word);
    print.high = mixed(print.high, word);
  }
  return print;
}

std::uint64_t RecordingWriter::block(std::span<const std::byte> bytes) {
  std::vector<std::byte> whole(bytes.begin(), bytes.end());
  whole.resize(block_bytes);
  const auto [known, is_new] = known_blocks_.try_emplace(fingerprint(whole), blocks_count_);
  if (is_new) {
    blocks_.append(whole.data(), 1);
    ++blocks_count_;
  }
  return known->second;
}

std::uint32_t RecordingWriter::kernel(const std::string& name) {
  const auto [known, is_new] =
      kernel_indices_.try_emplace(name, static_cast<std::uint32_t>(kernels_.size()));
  if (is_new) kernels_.push_back(name);
  return known->second;
}

void RecordingWriter::finish() {
  flush(steps_, waiting_steps_, 0);
  flush(arguments_, waiting_arguments_, 0);
  flush(parts_, waiting_parts_, 0);
  file_.write_texts(kernels, kernels_.empty() ? std::vector<std::string>{""} : kernels_);
  if (arithmetic_) file_.write_texts(arithmetic, {isa::name_of(*arithmetic_)});
  if (inexact_) {
    flush(*inexact_, waiting_inexact_, 0);
    inexact_->close();
  }
  for (h5::Series* series : {&steps_, &arguments_, &parts_, &blocks_}) series->close();
  file_.close();
}

}  // namespace lockstep
