#include "models/isa/load.hpp"

#include <cstring>

#include "core/error/error.hpp"
#include "models/isa/module/module_linker.hpp"
#include "models/isa/module/module_loader.hpp"
#include "models/isa/reader/reader.hpp"

namespace lockstep::isa {
namespace {

Module make_module(SourceModule source, const LoweringOptions& options) {
  std::vector<SourceModule> modules;
  modules.push_back(std::move(source));
  ModuleLoader loader(link_modules(std::move(modules)), options);
  Module module = loader.module();
  loader.load_all(module);
  return module;
}

}  // namespace

Module load_module(const std::string& path, const LoweringOptions& options) {
  return make_module(read_ptx_file(path), options);
}

ModuleLoader open_modules(const std::vector<std::string>& paths, const LoweringOptions& options) {
  std::vector<SourceModule> modules;
  for (const std::string& path : paths) modules.push_back(read_ptx_file(path));
  return ModuleLoader(link_modules(std::move(modules)), options);
}

std::vector<std::uint32_t> kernels_named(const Module& module, const std::set<std::string>& names) {
  std::vector<std::uint32_t> indices;
  for (std::uint32_t k = 0; k < module.kernels.size(); ++k)
    if (names.contains(module.kernels[k].reference.name)) indices.push_back(k);
  return indices;
}

Module load_modules(const std::vector<std::string>& paths, const LoweringOptions& options,
                    const std::set<std::string>& kernels) {
  ModuleLoader loader = open_modules(paths, options);
  Module module = loader.module();
  loader.load(module, kernels_named(module, kernels));
  return module;
}

Module load_module_text(const std::string& text, const std::string& file,
                        const LoweringOptions& options) {
  return make_module(read_ptx(text, file), options);
}

std::vector<std::uint32_t> fill_constants(const Program& program,
                                          const std::vector<std::byte>& parameters,
                                          const std::vector<std::uint64_t>& global_addresses) {
  std::vector<std::uint32_t> rows(std::size_t{program.constant_rows} * warp_size);
  for (const ConstantRow& constant : program.constants) {
    std::uint64_t value = 0;
    if (constant.source == ConstantRow::Source::global_symbol) {
      LOCKSTEP_CHECK(constant.index < global_addresses.size(), "global variable without address");
      value = global_addresses[constant.index] + static_cast<std::uint64_t>(constant.offset);
    } else {
      const auto offset = static_cast<std::size_t>(constant.offset);
      LOCKSTEP_CHECK(offset + constant.bytes <= parameters.size(), "parameter buffer too short");
      std::memcpy(&value, parameters.data() + offset, constant.bytes);
      if (constant.is_signed && constant.bytes < 8) {
        const unsigned shift = 64 - 8 * constant.bytes;
        value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << shift) >> shift);
      }
    }
    if (constant.width < 8) value &= (std::uint64_t{1} << 8 * constant.width) - 1;
    std::uint32_t* row = rows.data() + std::size_t{constant.row} * warp_size;
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      if (constant.width == 8) {
        std::memcpy(row + 2 * lane, &value, 8);
      } else {
        row[lane] = static_cast<std::uint32_t>(value);
      }
    }
  }
  return rows;
}

void relocate(std::vector<std::byte>& bytes,
              const std::vector<GlobalVariable::Relocation>& relocations, const Module& module,
              const std::vector<std::uint64_t>& global_addresses) {
  using Target = GlobalVariable::Relocation::Target;
  for (const GlobalVariable::Relocation& r : relocations) {
    LOCKSTEP_CHECK(r.target != Target::function || r.index < module.functions.size(),
                   "address of an unknown function");
    std::uint64_t value = static_cast<std::uint64_t>(r.addend);
    value += r.target == Target::global     ? global_addresses[r.index]
             : r.target == Target::constant ? constant_window_base
                                            : r.index;
    value >>= r.shift;
    std::memcpy(bytes.data() + r.offset, &value, r.bytes);
  }
}

}  // namespace lockstep::isa
