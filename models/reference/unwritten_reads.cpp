#include "models/reference/unwritten_reads.hpp"

#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "core/error/error.hpp"
#include "models/isa/encode/idempotence.hpp"
#include "models/isa/interpreter/first_accesses.hpp"
#include "models/isa/text/kernel_title.hpp"
#include "models/reference/address_space.hpp"
#include "models/workload/kernel_arguments.hpp"
#include "models/workload/program_cursor.hpp"

namespace lockstep {
namespace {

/// Limits: long programs repeat their steps.
constexpr unsigned most_steps = 10'000, most_launches = 200;

class ProgramWalk {
 public:
  ProgramWalk(const Workload& workload, const isa::Module& module)
      : workload_(workload), module_(module), cursor_(workload), names_(workload.buffers.size()) {
    std::iota(names_.begin(), names_.end(), 0u);
    AddressSpace space;
    for (std::uint32_t b = 0; b < names_.size(); ++b) {
      const Buffer& buffer = workload.buffers[b];
      addresses_.push_back(space.take(buffer.bytes(), buffer.address));
      // A variable of the module has the module's values, or zeros.
      if (buffer.memory == MemoryKind::device && buffer.symbol.empty()) unwritten_.insert(b);
    }
    for (const isa::GlobalVariable& variable : module.globals)
      variables_.push_back(space.take(std::max<std::uint64_t>(variable.bytes, 1)));
  }

  void run() {
    unsigned steps = 0, launches = 0;
    for (const Step* step = cursor_.current(); step != nullptr && !unwritten_.empty();
         cursor_.advance(), step = cursor_.current()) {
      if (step->kind == Step::Kind::repeat_until || ++steps > most_steps) return;
      if (step->kind == Step::Kind::swap) std::swap(names_[step->buffer], names_[step->other]);
      if (step->kind == Step::Kind::copy && step->to_gpu) unwritten_.erase(names_[step->buffer]);
      if (step->kind == Step::Kind::peer_copy) unwritten_.erase(names_[step->other]);
      if (step->kind != Step::Kind::launch) continue;
      if (++launches > most_launches) return;
      launch(*step);
    }
  }

  std::vector<std::string> take_found() { return std::move(found_); }

 private:
  void launch(const Step& step) {
    const std::uint32_t kernel = find_kernel(step, module_);
    const isa::Program& program = module_.kernels[kernel].reference;
    const LaunchShape shape = launch_shape(program, step, cursor_.variables());
    std::vector<std::uint64_t> addresses;
    for (const std::uint32_t index : names_) addresses.push_back(addresses_[index]);
    const isa::Launch grid{
        .module = module_,
        .kernel = static_cast<int>(kernel),
        .grid = shape.blocks,
        .block = shape.threads,
        .dynamic_shared_bytes = shape.dynamic_shared_bytes,
        .parameters = pack_arguments(program, step, cursor_.variables(), addresses),
        .global_addresses = variables_,
        .cluster = shape.cluster,
        .is_explicit_cluster = shape.is_explicit_cluster};
    isa::follow_first_warp(grid, [&](const isa::FirstAccess& access) {
      const auto buffer = unwritten_at(access.address);
      if (!buffer) return;
      unwritten_.erase(*buffer);
      if (access.writes) return;
      found_.push_back(unwritten_read_text(module_.file + ":" + std::to_string(access.line) +
                                               ": kernel " + isa::kernel_title(program.name),
                                           workload_.buffers[*buffer].name));
    });
    forget_what_it_may_write(kernel, grid.parameters);
  }

  void forget_what_it_may_write(std::uint32_t kernel, const std::vector<std::byte>& parameters) {
    const auto [known, is_new] = written_by_.try_emplace(kernel);
    if (is_new) known->second = isa::find_global_use(module_.kernels[kernel].lowered).stored;
    const isa::PointerOrigins origins = known->second;
    if ((origins & isa::from_anywhere) != 0) unwritten_.clear();
    for (unsigned p = 0; p < isa::most_followed_parameters; ++p) {
      if ((origins >> p & 1) == 0) continue;
      std::uint64_t pointer = 0;
      std::memcpy(&pointer, parameters.data() + std::size_t{p} * sizeof pointer, sizeof pointer);
      if (const auto buffer = unwritten_at(pointer)) unwritten_.erase(*buffer);
    }
  }

  std::optional<std::uint32_t> unwritten_at(std::uint64_t address) const {
    for (const std::uint32_t buffer : unwritten_)
      if (address - addresses_[buffer] < workload_.buffers[buffer].bytes()) return buffer;
    return {};
  }

  const Workload& workload_;
  const isa::Module& module_;
  ProgramCursor cursor_;
  std::vector<std::uint32_t> names_;      ///< present buffer of each name
  std::vector<std::uint64_t> addresses_;  ///< addresses of buffers, in the order of declaration
  std::vector<std::uint64_t> variables_;  ///< addresses of the module's .global variables
  std::set<std::uint32_t> unwritten_;     ///< buffers without written bytes
  std::map<std::uint32_t, isa::PointerOrigins> written_by_;  ///< origins that each kernel writes
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> find_unwritten_reads(const Workload& workload, const isa::Module& module) {
  ProgramWalk walk(workload, module);
  try {
    walk.run();
  } catch (const UserError&) {
    // The run itself reports mistakes when it reaches them.
  }
  return walk.take_found();
}

std::string unwritten_read_text(const std::string& where, const std::string& buffer) {
  return where + " reads device buffer " + buffer +
         " before anything was written to it - add copy: {buffer: " + buffer +
         ", to: device} before the launch";
}

}  // namespace lockstep
