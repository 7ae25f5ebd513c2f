#include "models/workload/workload.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "core/parameters/document.hpp"
#include "core/parameters/suggest.hpp"
#include "models/workload/comparison.hpp"
#include "models/workload/initializer.hpp"
#include "models/workload/recording/recording.hpp"
#include "models/workload/required_key.hpp"
#include "models/workload/step_reader.hpp"
#include "models/workload/workload_keys.hpp"

namespace lockstep {

namespace {

struct TypeName {
  const char* name;
  isa::Type type;
};
constexpr TypeName type_names[] = {
    {"u8", isa::Type::u8},     {"u16", isa::Type::u16}, {"u32", isa::Type::u32},
    {"u64", isa::Type::u64},   {"i8", isa::Type::s8},   {"i16", isa::Type::s16},
    {"i32", isa::Type::s32},   {"i64", isa::Type::s64}, {"f16", isa::Type::f16},
    {"bf16", isa::Type::bf16}, {"f32", isa::Type::f32}, {"f64", isa::Type::f64},
};

Variables read_parameters_map(const Node& declared, const Node& overrides) {
  Variables parameters;
  if (declared.exists()) {
    for (const auto& [name, node] : declared.entries()) {
      require_identifier(name, node);
      const bool overridden = overrides.exists() && overrides.has(name);
      parameters[name] = Expression(overridden ? overrides.find(name) : node).evaluate(parameters);
    }
  }
  if (overrides.exists()) {
    for (const auto& [name, node] : overrides.entries()) {
      if (!parameters.contains(name)) {
        std::string known;
        for (const auto& [other, value] : parameters) known += (known.empty() ? "" : ", ") + other;
        throw node.error("the workload has no such parameter",
                         known.empty() ? "it has none" : "it has " + known);
      }
    }
  }
  return parameters;
}

Buffer read_buffer(const std::string& name, const Node& node, const Variables& variables) {
  Buffer buffer;
  buffer.name = name;
  buffer.where = node.where();
  const auto keys = read_parameters<BufferKeys>(node);
  const Node& type = required_key(node, keys.type, "type");
  buffer.type = element_type(type.text());
  if (buffer.type == isa::Type::none) {
    throw type.error("no type is called \"" + type.text() + "\"",
                     "u8 to u64, i8 to i64, f16, bf16, f32, f64");
  }
  buffer.count = static_cast<std::uint64_t>(Expression(required_key(node, keys.count, "count"))
                                                .evaluate_integer(variables, 1, maximum_count));
  const Node& memory = required_key(node, keys.memory, "memory");
  if (memory.text() == "device") {
    buffer.memory = MemoryKind::device;
  } else if (memory.text() == "managed") {
    buffer.memory = MemoryKind::managed;
  } else if (memory.text() == "pinned") {
    buffer.memory = MemoryKind::pinned;
  } else {
    throw memory.error("no memory is called \"" + memory.text() + "\"", "device, managed, pinned");
  }
  if (const Node& gpu = keys.gpu; gpu.exists()) {
    if (buffer.memory != MemoryKind::device)
      throw gpu.error("only a device buffer lies on one GPU",
                      "leave it out, or write memory: device");
    buffer.gpu = static_cast<std::uint32_t>(
        Expression(gpu).evaluate_integer(variables, 0, most_gpus_of_tenant - 1));
  }
  if (const Node& copied = keys.copied; copied.exists()) {
    buffer.copied = copied.boolean();
    if (!buffer.copied && buffer.memory == MemoryKind::device)
      throw copied.error("a device buffer gets its content by copies",
                         "leave it out, or write memory: managed");
  }
  if (keys.check.exists()) buffer.check = keys.check.boolean();
  if (const Node& tolerance = keys.tolerance; tolerance.exists()) {
    buffer.tolerance = tolerance.real();
    if (!(buffer.tolerance >= 0))
      throw tolerance.error("a tolerance is not negative", "write 0 or more");
  }
  if (keys.inexact.exists()) buffer.inexact = read_inexact(keys.inexact, buffer);
  if (keys.address.exists()) buffer.address = keys.address.unsigned_integer();
  if (keys.symbol.exists()) buffer.symbol = keys.symbol.text();
  return buffer;
}

}  // namespace

void require_name(const std::string& name, const Node& node) {
  const auto good = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  };
  if (name.empty() || name.front() == '.' || !std::all_of(name.begin(), name.end(), good)) {
    throw node.error("\"" + name + "\" cannot be a name",
                     "use letters, digits, '_', '-' and '.' (not first)");
  }
}

void require_file(const std::string& file, const std::string& where) {
  std::error_code error;
  if (std::filesystem::is_regular_file(file, error)) return;
  throw UserError(
      where,
      file + ": " +
          (std::filesystem::exists(file, error) ? "is no file" : "No such file or directory"),
      "names are relative to the file that they stand in");
}

void require_identifier(const std::string& name, const Node& node) {
  const auto good = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0 ||
      !std::all_of(name.begin(), name.end(), good)) {
    throw node.error("\"" + name + "\" cannot stand in formulas",
                     "use letters, digits and '_', no digit first");
  }
}

std::string element_type_name(isa::Type type) {
  for (const TypeName& entry : type_names) {
    if (entry.type == type) return entry.name;
  }
  return "?";
}

isa::Type element_type(const std::string& name) {
  for (const TypeName& entry : type_names) {
    if (name == entry.name) return entry.type;
  }
  return isa::Type::none;
}

static void read_heap(const Node& heap, Workload& workload) {
  constexpr std::uint64_t least = std::uint64_t{4} << 10, most = std::uint64_t{64} << 30;
  if (!heap.exists()) return;
  workload.heap = heap.bytes().count();
  workload.heap_where = heap.where();
  if (workload.heap < least || workload.heap > most || workload.heap % 16 != 0)
    throw heap.error("is no size of a heap", "write 4KiB to 64GiB, a multiple of 16 bytes");
}

/// A file, or a list of files that are linked.
static void read_modules(const Node& module, Workload& workload) {
  std::vector<Node> names = module.is_sequence() ? module.items() : std::vector<Node>{module};
  if (names.empty()) throw module.error("names no file", "name a .ptx file");
  workload.module_where = module.where();
  for (const Node& name : names) {
    const std::string file = resolve_file_name(name);
    if (file.ends_with(".cu"))
      throw name.error("is a CUDA source, not PTX",
                       "compile it with nvcc -ptx and name the .ptx file");
    if (is_file_name(name))
      throw name.error("is a description in YAML, not PTX", "name the .ptx file of the kernels");
    if (workload.module_file.empty()) {
      workload.module_file = file;
    } else {
      workload.linked_files.push_back(file);
    }
  }
}

/// Sorts buffers with an address, which must not overlap; if one buffer has an address, all must
/// have one.
static void order_by_address(Workload& workload) {
  constexpr std::uint64_t alignment = std::uint64_t{2} << 20, end = std::uint64_t{1} << 47;
  std::vector<std::uint32_t>& order = workload.by_address;
  for (std::uint32_t b = 0; b < workload.buffers.size(); ++b)
    if (workload.buffers[b].address) order.push_back(b);
  const auto& buffers = workload.buffers;
  const auto fail = [](const Buffer& buffer, const std::string& what, const std::string& advice) {
    throw UserError(buffer.where, "buffer " + buffer.name + " " + what, advice);
  };
  if (order.empty()) return;
  for (const Buffer& buffer : buffers)
    if (!buffer.address) fail(buffer, "has no address, but others have one", "give all an address");
  std::sort(order.begin(), order.end(),
            [&](auto a, auto b) { return *buffers[a].address < *buffers[b].address; });
  std::uint64_t free = isa::first_global_address;
  for (const std::uint32_t b : order) {
    const std::uint64_t address = *buffers[b].address;
    if (address % alignment != 0 || address < free || address >= end)
      fail(buffers[b], "has an address where it cannot lie",
           "addresses are multiples of 2 MiB from 4 GiB to 128 TiB, with a page free between "
           "buffers");
    free = address + buffers[b].bytes() + 4096;
  }
}

static void read_program(const Node& program, Workload& workload) {
  if (!program.is_map()) {
    workload.program = read_steps(program, workload);
    return;
  }
  const std::string file = resolve_file_name(program.at("recording"));
  const Node steps = program.find("steps");
  program.reject_unknown_keys();
  require_file(file, program.at("recording").where());
  for (Buffer& buffer : workload.buffers) become_recorded(buffer);
  workload.recording = std::make_shared<const Recording>(file, program.at("recording").where());
  workload.steps_are_written = steps.exists();
  if (steps.exists()) workload.program = read_steps(steps, workload);
}

std::optional<std::uint32_t> Workload::buffer_of_symbol(const std::string& symbol) const {
  for (std::uint32_t b = 0; b < buffers.size(); ++b)
    if (!symbol.empty() && buffers[b].symbol == symbol) return b;
  return std::nullopt;
}

Workload read_workload(const Node& document, const Node& overrides) {
  Workload workload;
  const auto keys = read_parameters<WorkloadKeys>(document);
  workload.file = keys.name.exists() ? keys.name.text() : document.file();
  read_modules(required_key(document, keys.module, "module"), workload);
  workload.parameters = read_parameters_map(keys.parameters_node, overrides);
  const auto entries = required_key(document, keys.buffers, "buffers").entries();
  for (const auto& [name, node] : entries) {
    require_name(name, node);
    workload.buffers.push_back(read_buffer(name, node, workload.parameters));
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (const Node initial = entries[i].second.find("init"); initial.exists()) {
      read_initializer(initial, workload.buffers, workload.buffers[i], workload.parameters);
    }
  }
  read_heap(keys.heap, workload);
  order_by_address(workload);
  read_program(required_key(document, keys.program, "program"), workload);
  return workload;
}

}  // namespace lockstep
