#include "jobs/capture/written_program.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <span>

namespace lockstep::capture {
namespace {

using Kind = RecordedStep::Kind;
using Bytes = std::span<const std::byte>;

constexpr std::uint64_t most_steps = 60, address_bytes = 8, word_bytes = 4;

std::uint64_t number_in(Bytes bytes) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data(), bytes.size());
  return number;
}

/// Returns an integer as programs mean it: a small one with its sign, others with their bits in
/// hexadecimal.
std::string integer_text(Bytes bytes) {
  constexpr std::int64_t largest_decimal = std::int64_t{1} << 26;
  const std::uint64_t number = number_in(bytes);
  const auto unused = static_cast<int>(64 - 8 * bytes.size());
  const std::int64_t value = static_cast<std::int64_t>(number << unused) >> unused;
  return std::abs(value) <= largest_decimal ? std::to_string(value) : fmt::format("{:#x}", number);
}

/// Returns the shortest decimal number that is read as these bits; nothing for infinities and NaNs.
template <class Float>
std::optional<std::string> float_text(Bytes bytes) {
  Float value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  const std::string text = fmt::format("{}", value);
  const Float read = static_cast<Float>(std::strtod(text.c_str(), nullptr));
  const bool is_exact = read == value;
  // A formula cannot express minus zero.
  const bool is_minus_zero = value == 0 && std::signbit(value);
  return std::isfinite(value) && is_exact && !is_minus_zero ? std::optional(text) : std::nullopt;
}

class Writer {
 public:
  Writer(const Recording& recording, const std::vector<Buffer>& buffers, const FindKernel& find)
      : recording_(recording), buffers_(buffers), find_kernel_(find) {}

  /// Returns a step as text; nothing if steps of workload.yaml cannot say it.
  std::optional<std::string> step(std::uint64_t number) {
    const RecordedStep step = recording_.step(number);
    switch (step.what()) {
      case Kind::launch:
      case Kind::launch_programmatic:
        return launch(step);
      case Kind::copy_to_gpu:
      case Kind::copy_to_host:
        return copy(step, number);
      case Kind::copy_to_peer:
        return copy_to_peer(step);
      case Kind::write:
        return part(step, [&](const std::string& where) {
          return fmt::format("write: {{{}, recorded: {}}}", where, number);
        });
      case Kind::read:
        return part(step, [](const std::string& where) { return "read: {" + where + "}"; });
      case Kind::synchronize:
        return "synchronize";
      case Kind::synchronize_stream:
        return fmt::format("synchronize: {{stream: {}}}", step.stream);
      case Kind::delay:
        return fmt::format("delay: {}ns", step.bytes / 1'000'000);
      case Kind::prefetch_to_gpu:
      case Kind::prefetch_to_host:
        return prefetch(step);
      default:
        return advise(step);
    }
  }

 private:
  const Buffer* buffer_at(std::uint64_t address) const {
    for (const Buffer& buffer : buffers_)
      if (address - *buffer.address < buffer.bytes()) return &buffer;
    return nullptr;
  }
  const Buffer* buffer_that_begins(Bytes bytes) const {
    const std::uint64_t address = bytes.size() == address_bytes ? number_in(bytes) : 0;
    const Buffer* buffer = buffer_at(address);
    return buffer && *buffer->address == address ? buffer : nullptr;
  }

  template <class Text>
  std::optional<std::string> part(const RecordedStep& step, const Text& text) const {
    const Buffer* buffer = buffer_at(step.address);
    if (!buffer) return std::nullopt;
    const std::uint64_t offset = step.address - *buffer->address;
    return text("buffer: " + buffer->name +
                (offset == 0 ? "" : fmt::format(", offset: {}", offset)) +
                fmt::format(", count: {}", step.bytes));
  }
  bool lies_in(const RecordedStep& step, lockstep::MemoryKind memory) const {
    const Buffer* buffer = buffer_at(step.address);
    return buffer && buffer->memory == memory;
  }

  std::optional<std::string> copy(const RecordedStep& step, std::uint64_t number) const {
    if (!lies_in(step, lockstep::MemoryKind::device)) return std::nullopt;
    const char* to = step.what() == Kind::copy_to_gpu ? "device" : "host";
    std::string stream;
    if (step.waits == 0 || step.stream != 0) stream = fmt::format(", stream: {}", step.stream);
    if (step.waits != 0 && step.stream != 0) stream += ", wait: true";
    return part(step, [&](const std::string& where) {
      return fmt::format("copy: {{{}, to: {}{}, recorded: {}}}", where, to, stream, number);
    });
  }

  std::optional<std::string> copy_to_peer(const RecordedStep& step) const {
    const Buffer* to = buffer_at(step.data);
    if (!to || !lies_in(step, lockstep::MemoryKind::device)) return std::nullopt;
    const std::string stream =
        fmt::format(", stream: {}", step.stream) + (step.waits != 0 ? ", wait: true" : "");
    const std::uint64_t at = step.data - *to->address;
    return part(step, [&](const std::string& where) {
      return fmt::format("copy: {{{}, into: {}{}{}}}", where, to->name,
                         at == 0 ? "" : fmt::format(", at: {}", at), stream);
    });
  }

  std::optional<std::string> prefetch(const RecordedStep& step) const {
    if (!lies_in(step, lockstep::MemoryKind::managed)) return std::nullopt;
    const char* to = step.what() == Kind::prefetch_to_gpu ? "gpu" : "host";
    return part(step, [&](const std::string& where) {
      return fmt::format("prefetch: {{{}, to: {}, stream: {}}}", where, to, step.stream);
    });
  }

  /// Writes an `advise` step; an advice concerns whole buffers.
  std::optional<std::string> advise(const RecordedStep& step) const {
    constexpr std::pair<Kind, const char*> words[] = {
        {Kind::prefer_gpu, "preferred: gpu"},
        {Kind::prefer_host, "preferred: host"},
        {Kind::prefer_none, "preferred: none"},
        {Kind::read_mostly, "read_mostly: true"},
        {Kind::not_read_mostly, "read_mostly: false"}};
    if (!lies_in(step, lockstep::MemoryKind::managed)) return std::nullopt;
    const auto* word = std::find_if(std::begin(words), std::end(words),
                                    [&](const auto& entry) { return entry.first == step.what(); });
    return fmt::format("advise: {{buffer: {}, {}}}", buffer_at(step.address)->name, word->second);
  }

  static std::string sizes(const std::uint32_t (&size)[3]) {
    if (size[2] != 1) return fmt::format("[{}, {}, {}]", size[0], size[1], size[2]);
    return size[1] != 1 ? fmt::format("[{}, {}]", size[0], size[1]) : fmt::format("[{}]", size[0]);
  }

  static std::string cluster_text(const std::array<std::uint32_t, 3>& size) {
    const std::uint32_t written[] = {size[0], size[1], size[2]};
    const bool is_portable = size[0] * size[1] * size[2] <= 8;
    return ", cluster: " + sizes(written) + (is_portable ? "" : ", non_portable_cluster: true");
  }

  std::optional<std::string> launch(const RecordedStep& step) const {
    const std::string& name = recording_.kernel(step);
    const isa::Program& kernel = find_kernel_(name);
    const std::vector<std::byte> packed = recording_.arguments(step);
    if (packed.size() != kernel.parameter_bytes) return std::nullopt;
    std::string text = fmt::format("launch: {{kernel: {}, grid: {}, block: {}", name,
                                   sizes(step.blocks), sizes(step.threads));
    if (step.cluster()[0] != 0) text += cluster_text(step.cluster());
    if (step.shared_bytes != 0) text += fmt::format(", shared: {}", step.shared_bytes);
    if (const std::uint32_t gpu = recording_.device(step); gpu != 0)
      text += fmt::format(", gpu: {}", gpu);
    if (step.stream != 0) text += fmt::format(", stream: {}", step.stream);
    if (step.what() == Kind::launch_programmatic) text += ", programmatic: true";
    std::string arguments;
    for (const isa::KernelParameter& parameter : kernel.parameters)
      arguments += (arguments.empty() ? "" : ", ") +
                   argument(parameter, Bytes(packed).subspan(parameter.offset, parameter.bytes));
    if (!arguments.empty()) text += ", arguments: [" + arguments + "]";
    return text + "}" + (demangled(name) == name ? "" : "  # " + demangled(name));
  }

  std::string argument(const isa::KernelParameter& parameter, Bytes bytes) const {
    const bool is_structure = parameter.bytes != isa::bytes_of(parameter.type);
    if (is_structure) return list(bytes);
    if (isa::is_float(parameter.type)) {
      const auto text = bytes.size() == sizeof(double)  ? float_text<double>(bytes)
                        : bytes.size() == sizeof(float) ? float_text<float>(bytes)
                                                        : std::nullopt;
      return text.value_or(list(bytes));
    }
    const Buffer* buffer = buffer_that_begins(bytes);
    return buffer ? buffer->name : integer_text(bytes);
  }

  std::string list(Bytes bytes) const {
    std::string text;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t left = bytes.size() - at;
      const Buffer* buffer = at % address_bytes == 0 && left >= address_bytes
                                 ? buffer_that_begins(bytes.subspan(at, address_bytes))
                                 : nullptr;
      const std::size_t count = buffer ? address_bytes : std::min<std::size_t>(word_bytes, left);
      text += (text.empty() ? "" : ", ") +
              (buffer ? buffer->name : integer_text(bytes.subspan(at, count)));
      at += count;
    }
    return "[" + text + "]";
  }

  const Recording& recording_;
  const std::vector<Buffer>& buffers_;
  const FindKernel& find_kernel_;
};

}  // namespace

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? std::string(text.get()) : name;
}

std::string written_steps(const Recording& recording, const std::vector<Buffer>& buffers,
                          const FindKernel& find_kernel) {
  if (recording.steps() > most_steps) return "";
  Writer writer(recording, buffers, find_kernel);
  std::string text;
  for (std::uint64_t number = 0; number < recording.steps(); ++number) {
    const auto line = writer.step(number);
    if (!line) return "";
    text += "    - " + *line + "\n";
  }
  return text;
}

}  // namespace lockstep::capture
