#include "jobs/capture/workload_folder.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <system_error>

#include "core/error/error.hpp"
#include "jobs/capture/copy_kernels.hpp"
#include "jobs/capture/readable_steps.hpp"

namespace lockstep::capture {
namespace {

namespace fs = std::filesystem;

const char* word_of(MemoryKind kind) {
  return kind == MemoryKind::device ? "device" : kind == MemoryKind::managed ? "managed" : "pinned";
}

std::string buffers_text(DeviceMemory& memory) {
  std::string text;
  std::size_t number = 0;
  for (const auto& [address, buffer] : memory.buffers()) {
    if (buffer.symbol.starts_with("%")) continue;  // of the machine
    text += fmt::format("\n  {}: {{type: u8, count: {}, memory: {}, address: {}",
                        buffer_name(number++), buffer.bytes, word_of(buffer.kind), address);
    if (!buffer.symbol.empty()) text += fmt::format(", symbol: \"{}\"", buffer.symbol);
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

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? std::string(text.get()) : name;
}

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
  session.recorder().finish();
  const RecordingWriter& writer = session.recorder().writer();
  const std::string modules = write_modules(session.modules().files());
  std::string text = "# " + title + "\n";
  text +=
      fmt::format("# {} launches among {} steps; {} bytes of data, {} stored\n", writer.launches(),
                  writer.steps(), writer.data_bytes(), writer.stored_bytes());
  for (const std::string& kernel : writer.kernel_names())
    text += "# kernel: " + demangled(kernel) + "\n";
  text += "module: " + modules + "\n";
  if (session.modules().has_heap())
    text += fmt::format("heap: {}MiB\n", CapturedModules::heap_bytes >> 20);
  text += "buffers:" + buffers_text(session.memory()) + "\n";
  text += readable_steps(recording_file(), session.memory());
  text += "program: {recording: program.h5}\n";
  write(part_ + "/workload.yaml", text);
  take_name();
}

std::string WorkloadFolder::write_modules(const std::vector<std::string>& files) {
  std::string names;
  for (std::size_t f = 0; f < files.size(); ++f) {
    const std::string name = f == 0 ? "module.ptx" : fmt::format("module_{}.ptx", f);
    write(part_ + "/" + name, files[f].empty() ? copy_kernels : files[f]);
    names += (f == 0 ? "" : ", ") + name;
  }
  return files.size() == 1 ? names : "[" + names + "]";
}

void WorkloadFolder::finish_extract(const std::string& whole,
                                    const std::vector<std::string>& modules,
                                    const std::string& title) {
  const auto text_of = [&](const std::string& name) {
    const std::string file = whole + "/" + name;
    std::ifstream in(file, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    if (!in) throw UserError(file, "cannot be read", "extract from a folder that capture wrote");
    return text.str();
  };
  for (const std::string& module : modules) {
    const std::string name = fs::path(module).filename().string();
    write(part_ + "/" + name, text_of(name));
  }
  write(part_ + "/workload.yaml", "# " + title + " of:\n" + text_of("workload.yaml"));
  take_name();
}

void WorkloadFolder::take_name() {
  std::error_code error;
  fs::rename(part_, path_, error);
  if (error)
    throw UserError(path_, "cannot take its name: " + error.message(), "choose another --output");
  finished_ = true;
}

}  // namespace lockstep::capture
