#include "jobs/capture/recorder.hpp"

#include <algorithm>
#include <cstring>

namespace lockstep::capture {

namespace {

using Kind = RecordedStep::Kind;

constexpr std::uint64_t page = 4096;

RecordedStep step_of(Kind kind) {
  RecordedStep step;
  step.kind = static_cast<std::uint32_t>(kind);
  return step;
}

/// Calls `changed(offset, bytes)` for each run of pages that differ.
template <class Function>
void for_each_change(std::span<const std::byte> before, std::span<const std::byte> now,
                     const Function& changed) {
  std::uint64_t begin = now.size();
  for (std::uint64_t at = 0; at < now.size(); at += page) {
    const std::uint64_t bytes = std::min<std::uint64_t>(page, now.size() - at);
    const bool differs = std::memcmp(before.data() + at, now.data() + at, bytes) != 0;
    if (differs && begin == now.size()) begin = at;
    if (!differs && begin != now.size()) {
      changed(begin, at - begin);
      begin = now.size();
    }
  }
  if (begin != now.size()) changed(begin, now.size() - begin);
}

}  // namespace

RecordedStep& Recorder::in_stream(RecordedStep& step, std::uint64_t stream, bool waits) {
  if (stream == 0) {
    if (busy_.size() > (busy_.contains(0) ? 1u : 0u)) synchronize();
  } else if (busy_.contains(0)) {
    synchronize(0);
  }
  if (waits) {
    busy_.erase(stream);
  } else {
    busy_.insert(stream);
  }
  step.stream = static_cast<std::uint32_t>(stream);
  step.waits = waits ? 1 : 0;
  return step;
}

std::uint64_t Recorder::copy(RecordedStep::Kind kind, std::uint64_t address, std::uint64_t stream,
                             bool waits, std::span<const std::byte> bytes) {
  RecordedStep step = step_of(kind);
  step.address = address;
  step.bytes = bytes.size();
  step.data = writer_.add_data(bytes);
  writer_.add(in_stream(step, stream, waits));
  return step.data;
}

void Recorder::copy_in(std::uint64_t address, std::uint64_t stream, bool waits,
                       std::span<const std::byte> bytes) {
  copy(Kind::copy_to_gpu, address, stream, waits, bytes);
}

void Recorder::copy_out(std::uint64_t address, std::uint64_t stream, bool waits,
                        std::span<const std::byte> bytes,
                        std::span<const isa::InexactFloats> inexact) {
  writer_.add_inexact(copy(Kind::copy_to_host, address, stream, waits, bytes), inexact);
}

void Recorder::launch(const std::string& kernel, const LaunchDescription& how,
                      std::span<const std::byte> parameters) {
  RecordedStep step = step_of(how.programmatic != 0 ? Kind::launch_programmatic : Kind::launch);
  step.kernel = writer_.kernel(kernel);
  step.bytes = parameters.size();
  step.data = writer_.add_arguments(parameters);
  std::copy(std::begin(how.blocks), std::end(how.blocks), std::begin(step.blocks));
  std::copy(std::begin(how.threads), std::end(how.threads), std::begin(step.threads));
  step.shared_bytes = how.shared_bytes;
  step.set_cluster({how.cluster[0], how.cluster[1], how.cluster[2]});
  writer_.add(in_stream(step, how.stream, false));
}

void Recorder::synchronize(std::uint64_t stream) {
  if (busy_.erase(stream) == 0) return;
  RecordedStep step = step_of(Kind::synchronize_stream);
  step.stream = static_cast<std::uint32_t>(stream);
  writer_.add(step);
}

void Recorder::synchronize() {
  if (busy_.empty()) return;
  busy_.clear();
  writer_.add(step_of(Kind::synchronize));
}

void Recorder::order(std::uint64_t waiting, std::uint64_t awaited) {
  if (waiting != awaited) synchronize(awaited);
}

void Recorder::prefetch(std::uint64_t address, std::uint64_t bytes, bool to_gpu,
                        std::uint64_t stream) {
  RecordedStep step = step_of(to_gpu ? Kind::prefetch_to_gpu : Kind::prefetch_to_host);
  step.address = address;
  step.bytes = bytes;
  writer_.add(in_stream(step, stream, false));
}

void Recorder::advise(std::uint64_t address, std::uint64_t bytes, Advice advice) {
  constexpr Kind kinds[] = {Kind::prefer_gpu, Kind::prefer_host, Kind::prefer_none,
                            Kind::read_mostly, Kind::not_read_mostly};
  RecordedStep step = step_of(kinds[static_cast<std::size_t>(advice)]);
  step.address = address;
  step.bytes = bytes;
  writer_.add(step);
}

void Recorder::touch(const Touch& touch) {
  const std::span<std::byte> now = memory_.find(touch.address, touch.bytes);
  if (now.empty()) return;
  RecordedStep step = step_of(touch.wrote != 0 ? Kind::write : Kind::read);
  step.address = touch.address;
  step.bytes = touch.bytes;
  if (touch.wrote != 0) {
    auto& buffer = std::prev(memory_.buffers().upper_bound(touch.address))->second;
    const auto seen =
        std::span(buffer.last_seen).subspan(touch.address - buffer.address, now.size());
    std::copy(now.begin(), now.end(), seen.begin());
    step.data = writer_.add_data(seen);
  }
  writer_.add(step);
}

void Recorder::delay(std::chrono::nanoseconds time) {
  constexpr std::uint64_t femtoseconds = 1'000'000;
  RecordedStep step = step_of(Kind::delay);
  step.bytes = static_cast<std::uint64_t>(time.count()) * femtoseconds;
  writer_.add(step);
}

void Recorder::note_cpu_writes() {
  for (auto& [address, buffer] : memory_.buffers()) {
    if (buffer.used == 0 || buffer.kind == MemoryKind::device) continue;
    const std::span<std::byte> now = memory_.find(buffer.shared_address(), buffer.shared_bytes());
    const std::span<std::byte> before = std::span(buffer.last_seen).subspan(buffer.hidden);
    for_each_change(
        before, now,
        [&, start = buffer.shared_address()](std::uint64_t offset, std::uint64_t bytes) {
          RecordedStep step = step_of(Kind::write);
          step.address = start + offset;
          step.bytes = bytes;
          // Another thread of the program may write there meanwhile: what is recorded is known.
          std::memcpy(before.data() + offset, now.data() + offset, bytes);
          step.data = writer_.add_data(before.subspan(offset, bytes));
          writer_.add(step);
        });
  }
}

void Recorder::note_gpu_writes() {
  for (auto& [address, buffer] : memory_.buffers()) {
    if (buffer.used == 0 || buffer.kind == MemoryKind::device) continue;
    const std::span<std::byte> now = memory_.find(buffer.shared_address(), buffer.shared_bytes());
    const std::span<std::byte> before = std::span(buffer.last_seen).subspan(buffer.hidden);
    for_each_change(before, now, [&](std::uint64_t offset, std::uint64_t bytes) {
      std::memcpy(before.data() + offset, now.data() + offset, bytes);
    });
  }
}

}  // namespace lockstep::capture
