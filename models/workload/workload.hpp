#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/parameters/node.hpp"
#include "models/isa/interpreter/inexact/inexact_floats.hpp"
#include "models/isa/semantics/texture_header.hpp"
#include "models/isa/types.hpp"
#include "models/workload/expression.hpp"
#include "models/workload/recording/recorded_step.hpp"

namespace lockstep {

class Recording;

/// Where a buffer lives (architecture.md, section 4).
enum class MemoryKind : std::uint8_t {
  device,   ///< memory of the GPU with a host copy; content moves by `copy` steps
  managed,  ///< memory that starts at the host and moves to whoever uses it
  pinned,   ///< memory that stays at the host; the GPU reaches it over the link
};

/// Throws UserError at `node` unless the name, of a tenant or buffer, can be a part of file names
/// and of dataset names: letters, digits, '_', '-', and '.' not first.
void require_name(const std::string& name, const Node& node);
/// Throws UserError at `where`, which names the file, unless the file exists.
void require_file(const std::string& file, const std::string& where);
/// Throws UserError at `node` unless the name can be used in formulas, like names of parameters and
/// counters.
void require_identifier(const std::string& name, const Node& node);

/// Largest number of elements, vertices or edges.
inline constexpr std::int64_t maximum_count = std::int64_t{1} << 40;

/// Greatest number of GPUs of a tenant.
inline constexpr std::uint32_t most_gpus_of_tenant = 64;

/// Initial content of a buffer.
struct Initializer {
  enum class Kind : std::uint8_t {
    zero,
    value,
    linear,
    uniform,
    normal,
    permutation,
    csr_row,
    csr_column,
    csr_weight,
    file,
    texture,
  };
  Kind kind = Kind::zero;
  std::string where;
  /// Numbers of the kind: value; start, step; low, high; mean, deviation.
  double first = 0, second = 0;
  std::uint64_t seed = 0;
  std::uint64_t vertices = 0, edges = 0;  ///< size of a graph
  bool rmat = false;
  std::string file, data_set;  ///< file and data set; no data set: raw little-endian content
  isa::TextureHeader texture;
};

struct Buffer {
  std::string name, where;
  isa::Type type = isa::Type::f32;
  std::uint64_t count = 0;  ///< number of elements
  MemoryKind memory = MemoryKind::device;
  std::uint32_t gpu = 0;  ///< device memory: number of the tenant's GPU that has the buffer
  Initializer initial;
  bool check = true;
  double tolerance = 0;                     ///< relative tolerance
  std::vector<isa::InexactFloats> inexact;  ///< floats of a recording that may differ
  std::optional<std::uint64_t> address;     ///< address of the buffer; absent: chosen by the driver
  std::string symbol;                       ///< module variable behind the buffer; empty: none
  /// false: `copy` steps stand for the steps of a program with managed memory.
  bool copied = true;

  std::uint64_t bytes() const { return count * isa::bytes_of(type); }
  bool lies_on(std::uint32_t member) const { return memory != MemoryKind::device || gpu == member; }
};

/// Preferred place of a managed buffer's pages, as in cudaMemAdvise.
enum class PreferredPlace : std::uint8_t { none, host, gpu };

/// A step of a host program.
struct Step {
  enum class Kind : std::uint8_t {
    copy,
    peer_copy,
    launch,
    synchronize,
    prefetch,
    read,
    write,
    fill,
    save,
    delay,
    advise,
    free,
    swap,
    repeat_times,
    repeat_until,
  };
  Kind kind = Kind::synchronize;
  std::string where;
  std::uint32_t stream = 0;
  bool has_stream = false;  ///< copy: asynchronous; synchronize: for one stream only
  /// Index of the name as written; `swap` exchanges the buffers of names.
  std::uint32_t buffer = 0;
  std::uint32_t other = 0;  ///< swap: other name; peer_copy: buffer that gets the bytes
  std::uint32_t gpu = 0;    ///< launch: number of the GPU among the tenant's
  bool to_gpu = false;      ///< direction of copy and prefetch
  bool is_part = false;     ///< free: a part of a buffer only
  /// launch: may begin before the one ahead of it in its stream has ended (dependents.hpp)
  bool is_programmatic = false;
  /// launch: the next step is a launch that begins at the same time, and may wait for this one
  bool is_with_next = false;
  bool is_start_of_collective = false;  ///< delay: its duration is host.collective_start
  Expression other_offset;              ///< peer_copy: offset in the other buffer
  Expression offset, count, value, times, index, equals, shared, registers;
  Time duration;                            ///< delay: its duration
  std::optional<PreferredPlace> preferred;  ///< advise: preferred place
  std::optional<bool> read_mostly;          ///< advise: read-mostly or not
  std::string kernel;
  std::array<Expression, 3> grid, block, cluster;
  bool takes_non_portable_cluster = false;  ///< the launch may have clusters of more than 8 blocks
  struct Argument {
    bool is_buffer = false;
    std::uint32_t buffer = 0;
    std::uint64_t offset = 0;  ///< bytes from its beginning
    Expression expression;
    std::vector<Argument> words;  ///< words of a list: a structure passed by value
  };
  std::vector<Argument> arguments;
  // Members of a recorded step:
  bool is_packed = false;
  std::vector<std::byte> packed;  ///< parameter buffer of a launch, instead of arguments
  /// Bytes copied or written; in a copy to the host those that the program got.
  std::optional<RecordedData> data;
  std::string counter;
  std::vector<Step> body;
};

/// Calls `function` with the buffers that a launch names.
template <class Function>
void for_each_buffer(const Step& launch, const Function& function) {
  for (const Step::Argument& argument : launch.arguments) {
    if (argument.is_buffer) function(argument.buffer);
    for (const Step::Argument& word : argument.words)
      if (word.is_buffer) function(word.buffer);
  }
}

/// A kernel module and the steps of its host program, with the tenant's parameters applied.
struct Workload {
  std::string file, module_file, module_where;
  std::vector<std::string> linked_files;  ///< further modules to link with the first
  std::uint64_t heap = 0;                 ///< bytes for malloc in kernels
  std::string heap_where;
  Variables parameters;
  std::vector<Buffer> buffers;
  std::vector<Step> program;

  std::vector<std::string> module_files() const {
    std::vector<std::string> files{module_file};
    files.insert(files.end(), linked_files.begin(), linked_files.end());
    return files;
  }
  /// Recording with the data of recorded steps, and with the steps unless `program` has them.
  std::shared_ptr<const Recording> recording;
  bool steps_are_written = false;
  bool is_recorded() const { return recording && !steps_are_written; }
  std::vector<std::uint32_t> by_address;  ///< buffers with an address, in its order

  /// Returns the buffer that is the module's variable of that name.
  std::optional<std::uint32_t> buffer_of_symbol(const std::string& symbol) const;
};

/// Reads a workload.  `overrides` is the tenant's `parameters:` map (may be absent).
/// Errors: UserError with file:line:column for everything that does not follow architecture.md,
/// section 4.
Workload read_workload(const Node& document, const Node& overrides);

/// Returns the word of a type in YAML ("i32"); element_type() returns the type of a word
/// (Type::none if there is none).
std::string element_type_name(isa::Type type);
isa::Type element_type(const std::string& name);

}  // namespace lockstep
