#include "models/workload/recorded_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "core/error/error.hpp"
#include "models/workload/comparison.hpp"
#include "models/workload/recording/collective_parts.hpp"
#include "models/workload/recording/recording.hpp"

namespace lockstep {
namespace {

std::string place(const Workload& workload, std::uint64_t number) {
  return workload.recording->file() + ": step " + std::to_string(number);
}

Step::Kind kind_of(RecordedStep::Kind kind) {
  using From = RecordedStep::Kind;
  using To = Step::Kind;
  switch (kind) {
    case From::launch:
    case From::launch_programmatic:
      return To::launch;
    case From::copy_to_gpu:
    case From::copy_to_host:
      return To::copy;
    case From::copy_to_peer:
      return To::peer_copy;
    case From::write:
      return To::write;
    case From::read:
      return To::read;
    case From::synchronize:
    case From::synchronize_stream:
    case From::collective:  // the parts of a collective stand for it
      return To::synchronize;
    case From::prefetch_to_gpu:
    case From::prefetch_to_host:
      return To::prefetch;
    case From::delay:
      return To::delay;
    default:
      return To::advise;
  }
}

void set_memory(const Workload& workload, const RecordedStep& from, Step& step) {
  const auto buffer = buffer_at(workload, from.address);
  if (!buffer)
    throw UserError(step.where, fmt::format("no buffer has the address {:#x}", from.address),
                    "leave the buffers of a recording as they were written");
  step.buffer = *buffer;
  const std::uint64_t offset = from.address - *workload.buffers[*buffer].address;
  step.offset = Expression(std::to_string(offset), step.where);
  step.count = Expression(std::to_string(from.bytes), step.where);
}

void set_target(const Workload& workload, const RecordedStep& from, Step& step) {
  RecordedStep target = from;
  target.address = from.data;
  Step there = step;
  set_memory(workload, target, there);
  step.other = there.buffer;
  step.other_offset = there.offset;
}

void set_launch(const Workload& workload, const RecordedStep& from, Step& step) {
  step.kernel = workload.recording->kernel(from);
  step.packed = workload.recording->arguments(from);
  for (std::size_t i = 0; i < 3; ++i) {
    step.grid[i] = Expression(std::to_string(from.blocks[i]), step.where);
    step.block[i] = Expression(std::to_string(from.threads[i]), step.where);
  }
  step.shared = Expression(std::to_string(from.shared_bytes), step.where);
  for (std::size_t i = 0; i < 3 && from.cluster()[0] != 0; ++i)
    step.cluster[i] = Expression(std::to_string(from.cluster()[i]), step.where);
  step.takes_non_portable_cluster = true;  // the recorded program could launch such clusters
}

void set_advice(RecordedStep::Kind kind, Step& step) {
  using Kind = RecordedStep::Kind;
  if (kind == Kind::prefer_gpu) step.preferred = PreferredPlace::gpu;
  if (kind == Kind::prefer_host) step.preferred = PreferredPlace::host;
  if (kind == Kind::prefer_none) step.preferred = PreferredPlace::none;
  if (kind == Kind::read_mostly || kind == Kind::not_read_mostly)
    step.read_mostly = kind == Kind::read_mostly;
}

Step translated(const Workload& workload, const RecordedStep& from, std::uint64_t number) {
  using Kind = RecordedStep::Kind;
  const Kind kind = from.what();
  Step step;
  step.kind = kind_of(kind);
  step.where = place(workload, number);
  step.stream = from.stream;
  step.has_stream = kind == Kind::synchronize_stream || from.waits == 0;
  if (kind == Kind::synchronize) step.has_stream = false;
  step.to_gpu = kind == Kind::copy_to_gpu || kind == Kind::prefetch_to_gpu;
  step.duration = Time{static_cast<std::int64_t>(kind == Kind::delay ? from.bytes : 0)};
  if (from.has_data()) step.data = RecordedData{from.data, from.bytes};
  if (from.is_launch()) {
    step.is_packed = true;
    step.is_programmatic = kind == Kind::launch_programmatic;
    step.gpu = workload.recording->device(from);
    set_launch(workload, from, step);
  } else if (step.kind != Step::Kind::synchronize && kind != Kind::delay) {
    set_memory(workload, from, step);
    set_advice(kind, step);
    if (kind == Kind::copy_to_peer) set_target(workload, from, step);
  }
  return step;
}

/// A launch of a collective, whose kernel has CollectiveArguments.
RecordedStep launch_of(const RecordedCollective& collective, const CollectivePart& part) {
  RecordedStep step;
  step.kernel = collective.kernel;
  step.blocks[0] =
      static_cast<std::uint32_t>((part.count + collective_threads - 1) / collective_threads);
  step.threads[0] = collective_threads;
  return step;
}

/// Returns a part of a collective as a recorded step of its own.
RecordedStep step_of(const RecordedCollective& collective, const CollectivePart& part) {
  using Kind = RecordedStep::Kind;
  RecordedStep step;
  Kind kind = Kind::launch;
  if (part.kind == CollectivePart::Kind::wait) {
    kind = Kind::synchronize_stream;
  } else if (part.kind == CollectivePart::Kind::copy) {
    kind = Kind::copy_to_peer;
    step.address = part.one;
    step.data = part.to;
    step.bytes = part.bytes;
  } else {
    step = launch_of(collective, part);
  }
  step.kind = static_cast<std::uint32_t>(kind);
  step.stream = part.stream;
  return step;
}

std::vector<std::byte> arguments_of(const CollectivePart& part) {
  const CollectiveArguments arguments{part.to, part.one, part.other, part.count, part.divisor};
  std::vector<std::byte> bytes(CollectiveArguments::bytes);
  std::memcpy(bytes.data(), &arguments, bytes.size());
  return bytes;
}

RecordedCollective collective_of(const Workload& workload, const RecordedStep& from,
                                 std::uint64_t number) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 20;
  std::optional<RecordedCollective> collective;
  if (from.bytes < most_bytes)
    collective = RecordedCollective::unpack(workload.recording->arguments(from));
  if (!collective)
    throw UserError(place(workload, number), "is no collective",
                    "write it anew with lockstep capture");
  return *collective;
}

/// Calls function(recorded, number) for all steps, for collectives with their parts.
template <class Function>
void for_each_recorded(const Workload& workload, const Function& function) {
  for (std::uint64_t number = 0; number < workload.recording->steps(); ++number) {
    const RecordedStep recorded = workload.recording->step(number);
    if (recorded.what() != RecordedStep::Kind::collective) {
      function(recorded, number);
      continue;
    }
    const RecordedCollective collective = collective_of(workload, recorded, number);
    for (const CollectivePart& part : parts_of(collective))
      function(step_of(collective, part), number);
  }
}

}  // namespace

std::optional<std::uint32_t> buffer_at(const Workload& workload, std::uint64_t address) {
  const auto& order = workload.by_address;
  const auto behind = std::upper_bound(
      order.begin(), order.end(), address,
      [&](std::uint64_t a, std::uint32_t b) { return a < *workload.buffers[b].address; });
  if (behind == order.begin()) return std::nullopt;
  const std::uint32_t buffer = *std::prev(behind);
  const Buffer& found = workload.buffers[buffer];
  return address - *found.address < found.bytes() ? std::optional(buffer) : std::nullopt;
}

std::uint64_t recorded_steps(const Workload& workload) {
  return workload.recording->steps();
}

Step recorded_step(const Workload& workload, std::uint64_t number) {
  return translated(workload, workload.recording->step(number), number);
}

std::vector<Step> recorded_collective(const Workload& workload, std::uint64_t number) {
  if (number >= workload.recording->steps()) return {};
  const RecordedStep recorded = workload.recording->step(number);
  if (recorded.what() != RecordedStep::Kind::collective) return {};
  const RecordedCollective collective = collective_of(workload, recorded, number);
  std::vector<Step> steps;
  for (const CollectivePart& part : parts_of(collective)) {
    steps.push_back(translated(workload, step_of(collective, part), number));
    if (steps.back().kind == Step::Kind::launch) steps.back().packed = arguments_of(part);
  }
  return steps;
}

void for_each_recorded_launch(const Workload& workload,
                              const std::function<void(const Step&)>& function) {
  using Shape = std::array<std::uint32_t, 10>;
  std::set<Shape> seen;
  for_each_recorded(workload, [&](const RecordedStep& step, std::uint64_t number) {
    if (!step.is_launch()) return;
    const Shape shape{step.kernel,
                      step.blocks[0],
                      step.blocks[1],
                      step.blocks[2],
                      step.threads[0],
                      step.threads[1],
                      step.threads[2],
                      step.shared_bytes,
                      static_cast<std::uint32_t>(step.address),
                      workload.recording->device(step)};
    if (seen.insert(shape).second) function(translated(workload, step, number));
  });
}

void for_each_recorded_peer_copy(const Workload& workload,
                                 const std::function<void(const Step&)>& function) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;  // pairs of buffers
  if (!workload.recording->has_devices()) return;
  for_each_recorded(workload, [&](const RecordedStep& recorded, std::uint64_t number) {
    if (recorded.what() != RecordedStep::Kind::copy_to_peer) return;
    const Step step = translated(workload, recorded, number);
    if (seen.insert({step.buffer, step.other}).second) function(step);
  });
}

namespace {

/// Returns the inexact floats of a copy, by their offsets in the buffer.
std::vector<isa::InexactFloats> inexact_of_copy(const Workload& workload, const RecordedData& data,
                                                std::uint64_t offset) {
  std::vector<isa::InexactFloats> floats = workload.recording->inexact(data);
  for (isa::InexactFloats& part : floats) part.offset += offset;
  return floats;
}

std::string unexpected_text(const Difference& difference, std::uint64_t copied, std::uint64_t bytes,
                            std::byte expected, std::byte got) {
  if (isa::is_float(difference.type))
    return fmt::format("{} at byte {} of {} is {}, the program got {} when it was recorded",
                       element_type_name(difference.type), copied, bytes, difference.got,
                       difference.expected);
  return fmt::format("byte {} of {} is {:#04x}, the program got {:#04x} when it was recorded",
                     copied, bytes, static_cast<unsigned>(got), static_cast<unsigned>(expected));
}

}  // namespace

std::optional<std::string> find_unexpected(const Workload& workload, std::uint32_t buffer,
                                           std::uint64_t offset, const RecordedData& data,
                                           std::span<const std::byte> got) {
  constexpr std::uint64_t block = recording_format::block_bytes, widest = 8;
  const std::uint64_t bytes = std::min<std::uint64_t>(data.bytes, got.size());
  const Buffer& compared = workload.buffers[buffer];
  std::vector<std::byte> expected(std::min(bytes, block));
  std::optional<std::vector<isa::InexactFloats>> inexact;
  for (std::uint64_t at = 0; at < bytes;) {
    // Pieces end where elements do.
    const std::uint64_t room = block - (offset + at) % widest;
    const auto piece = std::span(expected).first(std::min({room, bytes - at, block}));
    const auto here = got.subspan(at, piece.size());
    workload.recording->read(data, at, piece);
    if (!std::equal(piece.begin(), piece.end(), here.begin())) {
      if (!inexact) inexact = inexact_of_copy(workload, data, offset);
      const auto found = find_difference(compared, offset + at, piece, here, *inexact);
      if (found) {
        const std::uint64_t in_piece = found->offset - offset - at;
        return unexpected_text(*found, found->offset - offset, bytes, piece[in_piece],
                               here[in_piece]);
      }
    }
    at += piece.size();
  }
  return std::nullopt;
}

}  // namespace lockstep
