#include "models/isa/module/module_linker.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <utility>

#include "core/error/error.hpp"
#include "core/memory/round_up.hpp"
#include "models/isa/text/kernel_title.hpp"

namespace lockstep::isa {

namespace {

enum Kind : std::size_t { function, global, constant, kinds };

/// A function, variable or constant with a name in a module.
struct Named {
  Kind kind;
  std::size_t module;
  std::uint32_t index;
  std::string name;
  Linkage linkage;
  std::string where;
  std::uint64_t bytes = 0;

  bool is_definition() const { return linkage != Linkage::external; }
  bool is_for_all() const { return is_definition() && linkage != Linkage::own; }
};

class Linker {
 public:
  explicit Linker(std::vector<SourceModule> modules) : modules_(std::move(modules)) {
    for (std::size_t m = 0; m < modules_.size(); ++m) list(m);
    for (const Named& named : all_)
      if (named.is_for_all()) define(named);
    reject_equal_kernels();
  }

  SourceModule link() {
    result_.file = modules_.front().file;
    result_.functions.emplace_back();
    for (auto& of_kind : number_) of_kind.resize(modules_.size());
    kept_of_.resize(modules_.size());
    for (const Named& named : all_)
      if (is_kept(named)) keep(named);
    for (const Named& named : all_)
      if (!is_kept(named)) {
        const Named& definition = definition_of(named);
        number_of(named) = number_of(definition);
      }
    for (std::size_t m = 0; m < modules_.size(); ++m) move_data(m);
    for (const Named* named : kept_)
      if (named->kind == constant)
        result_.constants[number_of(*named)].offset += constant_base_[named->module];
    shared_ = std::make_shared<const std::vector<ir::Variable>>(result_.shared);
    for (std::size_t m = 0; m < modules_.size(); ++m) rename(m);
    return std::move(result_);
  }

 private:
  void list(std::size_t m) {
    const SourceModule& module = modules_[m];
    const auto count = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
    for (std::uint32_t f = 1; f < count(module.functions); ++f) {
      const SourceFunction& named = module.functions[f];
      const bool built_in = named.has_body && named.link.linkage == Linkage::external;
      const Linkage linkage = !named.has_body ? Linkage::external
                              : built_in      ? Linkage::own
                                              : named.link.linkage;
      all_.push_back({function, m, f, named.code.name, linkage, named.link.where});
    }
    for (std::uint32_t g = 0; g < count(module.globals); ++g)
      all_.push_back({global, m, g, module.globals[g].name, module.global_links[g].linkage,
                      module.global_links[g].where, module.globals[g].bytes});
    for (std::uint32_t c = 0; c < count(module.constants); ++c)
      all_.push_back({constant, m, c, module.constants[c].name, module.constant_links[c].linkage,
                      module.constant_links[c].where, module.constants[c].bytes});
  }

  void define(const Named& named) {
    const auto [found, is_new] = definitions_.try_emplace(named.name, &named);
    if (is_new) return;
    const Named& before = *found->second;
    const bool both = before.linkage == Linkage::visible && named.linkage == Linkage::visible;
    if (both || before.kind != named.kind)
      throw UserError(named.where,
                      kernel_title(named.name) + " is defined twice, first at " + before.where,
                      "rename one, make it .weak, or leave one module out");
    const bool is_larger = before.linkage == Linkage::common && named.bytes > before.bytes;
    if (named.linkage == Linkage::visible || (named.linkage == Linkage::common && is_larger))
      found->second = &named;
  }

  void reject_equal_kernels() const {
    std::map<std::string, const Named*> kernels;
    for (const Named& named : all_) {
      if (named.kind != function || !is_kept(named) || !source(named).has_body ||
          !source(named).code.is_entry)
        continue;
      const auto [found, is_new] = kernels.try_emplace(named.name, &named);
      if (!is_new)
        throw UserError(named.where,
                        "kernel " + kernel_title(named.name) + " is defined twice, first at " +
                            found->second->where,
                        "rename one: a launch says only the name");
    }
  }

  const Named* found(const Named& named) const {
    const auto definition = definitions_.find(named.name);
    return definition == definitions_.end() || definition->second->kind != named.kind
               ? nullptr
               : definition->second;
  }

  /// Returns whether the name is kept and stands for no other one: an effective definition, or a
  /// function without a definition.
  bool is_kept(const Named& named) const {
    if (named.linkage == Linkage::own) return true;
    const Named* definition = found(named);
    return definition == nullptr ? named.kind == function : definition == &named;
  }

  const Named& definition_of(const Named& named) {
    const Named* definition = found(named);
    if (definition == nullptr)
      throw UserError(named.where,
                      "external variable " + kernel_title(named.name) + " has no definition in " +
                          (modules_.size() == 1 ? "this module" : "any of the modules"),
                      "name the module that defines it too, or define it here");
    if (named.kind == function &&
        source(named).signature != result_.functions[number_of(*definition)].signature)
      throw UserError(named.where,
                      "function " + kernel_title(named.name) +
                          " is declared otherwise than it is defined at " + definition->where,
                      "give both the same parameters and results");
    return *definition;
  }

  const SourceFunction& source(const Named& named) const {
    return modules_[named.module].functions[named.index];
  }

  std::uint32_t& number_of(const Named& named) {
    auto& numbers = number_[named.kind][named.module];
    if (numbers.size() <= named.index) numbers.resize(named.index + 1);
    return numbers[named.index];
  }

  /// Moves the named object into the result, with its offsets and names adjusted.
  void keep(const Named& named) {
    SourceModule& module = modules_[named.module];
    const auto add = [&](auto& to, auto&& what) {
      number_of(named) = static_cast<std::uint32_t>(to.size());
      to.push_back(std::forward<decltype(what)>(what));
    };
    switch (named.kind) {
      case function:
        add(result_.functions, std::move(module.functions[named.index]));
        break;
      case global:
        add(result_.globals, std::move(module.globals[named.index]));
        result_.global_links.push_back(module.global_links[named.index]);
        break;
      default:
        add(result_.constants, module.constants[named.index]);
        result_.constant_links.push_back(module.constant_links[named.index]);
    }
    kept_.push_back(&named);
    kept_of_[named.module].push_back(&named);
  }

  /// Moves data.  A module's constants stay contiguous; its shared variables follow those of
  /// earlier modules, apart from the first, which belongs to the system.
  void move_data(std::size_t m) {
    const SourceModule& module = modules_[m];
    std::uint64_t alignment = 1;
    for (const ir::Variable& v : module.constants) alignment = std::max(alignment, v.alignment);
    auto& image = result_.constant_image;
    const std::uint64_t base =
        module.constant_image.empty() ? image.size() : round_up(image.size(), alignment);
    if (base + module.constant_image.size() > constant_window_bytes)
      throw UserError(module.file, "constant variables of all modules take more than 16 MiB",
                      "keep some in .global");
    image.resize(base);
    image.insert(image.end(), module.constant_image.begin(), module.constant_image.end());
    constant_base_.push_back(base);
    const std::size_t first = result_.shared.empty() ? 0 : 1;
    shared_base_.push_back(static_cast<std::uint32_t>(result_.shared.size() - first));
    result_.shared.insert(result_.shared.end(),
                          module.shared.begin() + static_cast<std::ptrdiff_t>(first),
                          module.shared.end());
  }

  void rename(std::size_t m) {
    for (const Named* named : kept_of_[m]) {
      const std::uint32_t number = number_of(*named);
      if (named->kind == function) {
        rename(result_.functions[number], m);
      } else if (named->kind == global) {
        for (auto& relocation : result_.globals[number].relocations) rename(relocation, m);
      }
    }
    for (GlobalVariable::Relocation relocation : modules_[m].constant_relocations) {
      relocation.offset += constant_base_[m];
      rename(relocation, m);
      result_.constant_relocations.push_back(relocation);
    }
  }

  void rename(SourceFunction& f, std::size_t m) {
    using Operand = ir::Operand::Kind;
    for (ir::Block& block : f.code.blocks)
      for (ir::Operation& operation : block.operations)
        for (ir::Operand& operand : operation.sources) {
          if (operand.kind == Operand::function)
            operand.index = number_[function][m][operand.index];
          if (operand.kind == Operand::global_symbol)
            operand.index = number_[global][m][operand.index];
          if (operand.kind == Operand::constant_symbol)
            operand.index = number_[constant][m][operand.index];
          if (operand.kind == Operand::shared_symbol && operand.index != 0)
            operand.index += shared_base_[m];
        }
    if (modules_.size() > 1) f.code.shared = shared_;
    for (const SourceFunction::Call& call : f.undefined_calls)
      if (!result_.functions[number_[function][m][call.function]].has_body && !f.mistake)
        f.mistake = call.mistake;
    f.undefined_calls.clear();
  }

  void rename(GlobalVariable::Relocation& relocation, std::size_t m) {
    using Target = GlobalVariable::Relocation::Target;
    const Kind kind = relocation.target == Target::global     ? global
                      : relocation.target == Target::function ? function
                                                              : constant;
    const std::uint32_t before = relocation.index;
    relocation.index = number_[kind][m][before];
    if (kind != constant) return;
    // The place of the variable is part of the addend.
    relocation.addend += static_cast<std::int64_t>(result_.constants[relocation.index].offset -
                                                   modules_[m].constants[before].offset);
  }

  std::vector<SourceModule> modules_;
  std::vector<Named> all_;
  std::map<std::string, const Named*> definitions_;  ///< effective definition of each name
  std::vector<const Named*> kept_;
  std::vector<std::vector<const Named*>> kept_of_;  ///< definitions that each module keeps
  /// New numbers, by module and index.
  std::array<std::vector<std::vector<std::uint32_t>>, kinds> number_;
  std::vector<std::uint64_t> constant_base_;  ///< start of each module's constants
  std::vector<std::uint32_t> shared_base_;    ///< start of each module's shared memory
  std::shared_ptr<const std::vector<ir::Variable>> shared_;  ///< shared variables of the result
  SourceModule result_;
};

}  // namespace

SourceModule link_modules(std::vector<SourceModule> modules) {
  return Linker(std::move(modules)).link();
}

}  // namespace lockstep::isa
