#include "jobs/capture/workload_folder.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "core/error/error.hpp"
#include "jobs/capture/copy_kernels.hpp"
#include "models/workload/comparison.hpp"

namespace lockstep::capture {
namespace {

namespace fs = std::filesystem;

const char* word_of(lockstep::MemoryKind kind) {
  return kind == lockstep::MemoryKind::device    ? "device"
         : kind == lockstep::MemoryKind::managed ? "managed"
                                                 : "pinned";
}

lockstep::MemoryKind memory_of(MemoryKind kind) {
  return kind == MemoryKind::device    ? lockstep::MemoryKind::device
         : kind == MemoryKind::managed ? lockstep::MemoryKind::managed
                                       : lockstep::MemoryKind::pinned;
}

std::vector<Buffer> buffers_of(Session& session) {
  constexpr std::size_t most_inexact = 64;  // inexact floats written out for people to read
  std::vector<Buffer> buffers;
  for (const auto& [address, found] : session.memory().buffers()) {
    if (found.symbol.starts_with("%")) continue;  // the variable belongs to the machine
    Buffer& buffer = buffers.emplace_back();
    buffer.name = fmt::format("memory_{}", buffers.size() - 1);
    buffer.type = isa::Type::u8;
    buffer.count = found.bytes;
    buffer.memory = memory_of(found.kind);
    buffer.address = address;
    buffer.symbol = found.symbol;
    buffer.gpu = found.kind == MemoryKind::device ? found.device : 0;
    buffer.inexact = session.inexact(address, found.bytes, most_inexact);
  }
  return buffers;
}

std::string text_of(const std::vector<Buffer>& buffers) {
  std::string text;
  for (const Buffer& buffer : buffers) {
    text += fmt::format("\n  {}: {{type: u8, count: {}, memory: {}, address: {}", buffer.name,
                        buffer.count, word_of(buffer.memory), *buffer.address);
    if (buffer.gpu != 0) text += fmt::format(", gpu: {}", buffer.gpu);
    if (!buffer.symbol.empty()) text += fmt::format(", symbol: \"{}\"", buffer.symbol);
    if (!buffer.check) text += ", check: false";
    if (buffer.tolerance > 0) text += fmt::format(", tolerance: {}", buffer.tolerance);
    if (!buffer.inexact.empty()) text += ", inexact: " + inexact_text(buffer.inexact);
    text += "}";
  }
  return text.empty() ? " {}" : text;
}

void write(const std::string& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw UserError(file, "cannot be written", "check the place and the room on its disk");
}

}  // namespace

WorkloadFolder::WorkloadFolder(const std::string& path) : path_(path), part_(path + ".part") {
  std::error_code error;
  if (fs::exists(path_, error))
    throw UserError(path_, "is there already", "remove it, or choose another --output");
  if (fs::exists(part_, error))
    throw UserError(part_, "is there already, of a capture that runs or was killed",
                    "remove it if none runs");
  if (!fs::create_directories(part_, error))
    throw UserError(part_, "cannot be made: " + error.message(), "choose another --output");
}

WorkloadFolder::~WorkloadFolder() {
  std::error_code ignored;
  if (!finished_) fs::remove_all(part_, ignored);
}

void WorkloadFolder::finish(Session& session, const std::string& title) {
  if (const auto arithmetic = session.modules().arithmetic())
    session.recorder().set_arithmetic(*arithmetic);
  session.recorder().finish();
  for (const std::string& file : session.modules().files())
    add_module(recorded_module_name(modules_.size()), file.empty() ? copy_kernels : file);
  const auto find_kernel = [&](const std::string& name) -> const isa::Program& {
    return session.modules().launched(name).program();
  };
  write_description(title, session.recorder().writer(),
                    session.modules().has_heap() ? CapturedModules::heap_bytes : 0,
                    buffers_of(session), find_kernel);
  take_name();
}

void WorkloadFolder::finish_extract(const Workload& whole, const RecordingWriter& writer,
                                    const FindKernel& find_kernel, const std::string& title) {
  for (const std::string& file : whole.module_files()) {
    std::ifstream in(file, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    if (!in) throw UserError(file, "cannot be read", "extract from a folder that capture wrote");
    add_module(fs::path(file).filename().string(), text.str());
  }
  write_description(title, writer, whole.heap, whole.buffers, find_kernel);
  take_name();
}

void WorkloadFolder::add_module(const std::string& name, const std::string& ptx) {
  write(part_ + "/" + name, ptx);
  modules_.push_back(name);
}

void WorkloadFolder::write_description(const std::string& title, const RecordingWriter& writer,
                                       std::uint64_t heap, const std::vector<Buffer>& buffers,
                                       const FindKernel& find_kernel) {
  const Recording recording(recording_file(), recording_file());
  std::string text = "# " + title + "\n";
  text +=
      fmt::format("# {} launches among {} steps; {} bytes of data, {} stored\n", writer.launches(),
                  writer.steps(), writer.data_bytes(), writer.stored_bytes());
  for (const std::string& kernel : writer.kernel_names())
    text += "# kernel: " + demangled(kernel) + "\n";
  const std::string names = fmt::format("{}", fmt::join(modules_, ", "));
  text += "module: " + (modules_.size() == 1 ? names : "[" + names + "]") + "\n";
  constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
  if (heap != 0)
    text += heap % mebibyte == 0 ? fmt::format("heap: {}MiB\n", heap / mebibyte)
                                 : fmt::format("heap: {}B\n", heap);
  text += "buffers:" + text_of(buffers) + "\n";
  const std::string steps = written_steps(recording, buffers, find_kernel);
  text += steps.empty() ? "program: {recording: program.h5}\n"
                        : "program:\n  recording: program.h5\n  steps:\n" + steps;
  write(part_ + "/workload.yaml", text);
}

void WorkloadFolder::take_name() {
  std::error_code error;
  fs::rename(part_, path_, error);
  if (error)
    throw UserError(path_, "cannot take its name: " + error.message(), "choose another --output");
  finished_ = true;
}

}  // namespace lockstep::capture
