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

/// Returns the stream's number in the recording.  Each device has numbers of its own, the first for
/// its default stream.
std::uint32_t Recorder::recorded_stream(std::uint64_t stream) const {
  using recording_format::streams_of_a_device;
  if (devices_ == 1) return static_cast<std::uint32_t>(stream);
  const std::uint64_t number = number_of_stream(stream);
  const std::uint64_t within = number == 0 ? 0 : 1 + (number - 1) % (streams_of_a_device - 1);
  return static_cast<std::uint32_t>(device_of_stream(stream) * streams_of_a_device + within);
}

bool Recorder::is_busy_beside(std::uint64_t stream) const {
  return std::any_of(busy_.begin(), busy_.end(), [&](std::uint64_t other) {
    return other != stream && device_of_stream(other) == device_of_stream(stream);
  });
}

RecordedStep& Recorder::in_stream(RecordedStep& step, std::uint64_t stream, bool waits) {
  const std::uint64_t usual = stream - number_of_stream(stream);  // default stream of the device
  if (stream == usual) {
    if (is_busy_beside(stream)) synchronize_device(stream);
  } else if (busy_.contains(usual)) {
    synchronize(usual);
  }
  if (waits) {
    busy_.erase(stream);
  } else {
    busy_.insert(stream);
  }
  step.stream = recorded_stream(stream);
  step.waits = waits ? 1 : 0;
  return step;
}

std::uint64_t Recorder::copy(RecordedStep::Kind kind, std::uint64_t address, std::uint64_t stream,
                             bool waits, std::span<const std::byte> bytes) {
  RecordedStep step = step_of(kind);
  step.address = address;
  step.bytes = bytes.size();
  step.data = writer_.add_data(bytes);
  if (const std::uint64_t there = device_at(address, stream); there != device_of_stream(stream)) {
    synchronize(stream);
    stream = there << device_shift;
    waits = true;
  }
  writer_.add(in_stream(step, stream, waits));
  return step.data;
}

std::uint64_t Recorder::device_at(std::uint64_t address, std::uint64_t stream) const {
  const DeviceMemory::Buffer* buffer = memory_.buffer_around(address, 1);
  const bool is_on_one = buffer && buffer->kind == MemoryKind::device;
  return is_on_one ? buffer->device : device_of_stream(stream);
}

/// The copy is in a stream of the device that is read.
void Recorder::copy_peer(std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
                         std::uint64_t stream, bool waits) {
  const std::uint64_t source = device_at(from, stream), target = device_at(to, stream);
  synchronize(target << device_shift);
  if (source != device_of_stream(stream)) {
    synchronize(stream);
    stream = source << device_shift;
    waits = true;
  }
  RecordedStep step = step_of(Kind::copy_to_peer);
  step.address = from;
  step.data = to;
  step.bytes = bytes;
  writer_.add(in_stream(step, stream, waits));
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

/// Waits for what stands ahead of a call in a stream.
void Recorder::synchronize_ahead(std::uint64_t stream) {
  const std::uint64_t usual = stream - number_of_stream(stream);
  if (stream == usual) return synchronize_device(stream);
  synchronize(usual);
  synchronize(stream);
}

void Recorder::collective(RecordedCollective& collective, const std::vector<std::uint64_t>& streams,
                          const std::vector<std::uint64_t>& others) {
  for (const std::uint64_t stream : others) synchronize_ahead(stream);
  for (std::size_t k = 0; k < streams.size(); ++k) {
    synchronize_ahead(streams[k]);
    collective.members[k].stream = recorded_stream(streams[k]);
  }
  const std::vector<std::byte> packed = collective.pack();
  RecordedStep step = step_of(Kind::collective);
  step.data = writer_.add_arguments(packed);
  step.bytes = packed.size();
  writer_.add(step);
}

void Recorder::synchronize(std::uint64_t stream) {
  if (busy_.erase(stream) == 0) return;
  RecordedStep step = step_of(Kind::synchronize_stream);
  step.stream = recorded_stream(stream);
  writer_.add(step);
}

void Recorder::synchronize_device(std::uint64_t stream) {
  if (devices_ == 1) return synchronize_all();
  const std::set<std::uint64_t> busy = busy_;
  for (const std::uint64_t other : busy)
    if (device_of_stream(other) == device_of_stream(stream)) synchronize(other);
}

void Recorder::synchronize_all() {
  if (busy_.empty()) return;
  busy_.clear();
  writer_.add(step_of(Kind::synchronize));
}

void Recorder::order(std::uint64_t waiting, std::uint64_t awaited) {
  if (waiting != awaited) synchronize(awaited);
}

/// Records a prefetch.  Hints of a memory's place name no device here, and are left out with
/// several devices.
void Recorder::prefetch(std::uint64_t address, std::uint64_t bytes, bool to_gpu,
                        std::uint64_t stream) {
  if (devices_ > 1) return;
  RecordedStep step = step_of(to_gpu ? Kind::prefetch_to_gpu : Kind::prefetch_to_host);
  step.address = address;
  step.bytes = bytes;
  writer_.add(in_stream(step, stream, false));
}

void Recorder::advise(std::uint64_t address, std::uint64_t bytes, Advice advice) {
  constexpr Kind kinds[] = {Kind::prefer_gpu, Kind::prefer_host, Kind::prefer_none,
                            Kind::read_mostly, Kind::not_read_mostly};
  const bool is_of_one = advice != Advice::read_mostly && advice != Advice::not_read_mostly;
  if (devices_ > 1 && is_of_one) return;
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
          // Another thread of the program may write there meanwhile, so exactly the recorded bytes
          // are marked as known.
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
