#include "models/isa/reader/reader.hpp"

#include <fstream>
#include <memory>
#include <sstream>

#include "core/error/error.hpp"
#include "models/isa/reader/function_translator.hpp"
#include "models/isa/reader/names/symbols.hpp"
#include "models/isa/reader/run_time/run_time_functions.hpp"
#include "models/isa/reader/syntax/syntax.hpp"
#include "models/isa/text/kernel_title.hpp"

namespace lockstep::isa {
namespace {

void declare_variable(ModuleSymbols& symbols, const syntax::Declaration& d) {
  if (d.space == "global") {
    declare_global(symbols, d);
  } else if (d.space == "const") {
    declare_constant(symbols, d);
  } else if (d.space == "shared") {
    Symbol symbol;
    symbol.kind = Symbol::Kind::shared;
    symbol.index = static_cast<std::uint32_t>(symbols.shared.size());
    symbols.shared.push_back(variable_of(symbols.file, d));
    symbols.names[d.name] = symbol;
  } else {
    fail(symbols.file, d.at, "." + d.space + " variable outside of a function",
         "move it into a function, or make it .global, .const or .shared");
  }
}

/// Declares a function; a prototype and the following definition are one function.
void declare_function(ModuleSymbols& symbols, const syntax::Function& f) {
  auto& functions = symbols.module->functions;
  const auto [found, is_new] = symbols.names.try_emplace(f.name);
  if (is_new) {
    found->second.kind = Symbol::Kind::function;
    found->second.index = static_cast<std::uint32_t>(functions.size());
    functions.emplace_back();
    functions.back().code.name = f.name;
    functions.back().code.is_entry = f.is_entry;
  } else if (found->second.kind != Symbol::Kind::function) {
    fail(symbols.file, f.at, kernel_title(f.name) + " is declared twice",
         "rename the function or the variable");
  }
  SourceFunction& function = functions[found->second.index];
  if (f.has_body || is_new) {
    function.link = {f.linkage, place_in(symbols.file, f.at)};
    function.file = symbols.file;
    function.signature = widths_of(f.results) + "<- " + widths_of(f.parameters);
  }
  if (f.has_body && function.has_body)
    fail(symbols.file, f.at, "function " + kernel_title(f.name) + " is defined twice",
         "remove one");
  function.has_body |= f.has_body;
}

void translate_function(ModuleSymbols& symbols, const syntax::Function& f) {
  SourceFunction& function = symbols.module->functions[symbols.names.at(f.name).index];
  const auto product = [](const std::uint32_t* three) { return three[0] * three[1] * three[2]; };
  function.maximum_threads = product(f.maximum_threads);
  function.required_block = {f.required_threads[0], f.required_threads[1], f.required_threads[2]};
  function.required_cluster = {f.required_cluster[0], f.required_cluster[1], f.required_cluster[2]};
  function.maximum_cluster = f.maximum_cluster;
  function.explicit_cluster = f.explicit_cluster;
  function.minimum_blocks = f.minimum_blocks;
  function.maximum_registers = f.maximum_registers;
  function.line = f.at.line;
  function.column = f.at.column;
  try {
    FunctionTranslator(symbols, f, function).translate();
  } catch (const UserError& error) {
    function.mistake = error;
  }
}

}  // namespace

SourceModule read_ptx(const std::string& text, const std::string& file) {
  syntax::Module parsed = syntax::parse(text, file);
  supply_run_time_functions(parsed, file);
  SourceModule module;
  module.file = file;
  module.functions.emplace_back();
  ModuleSymbols symbols;
  symbols.file = file;
  symbols.module = &module;
  declare_reserved_shared(symbols);
  for (const syntax::Declaration& d : parsed.variables) declare_variable(symbols, d);
  for (const syntax::Function& f : parsed.functions) declare_function(symbols, f);
  for (const syntax::Declaration& d : parsed.variables)
    if (d.space == "global" || d.space == "const") initialise(symbols, d);
  for (const syntax::Function& f : parsed.functions)
    if (f.has_body) translate_function(symbols, f);
  module.shared = symbols.shared;
  const auto shared = std::make_shared<const std::vector<ir::Variable>>(std::move(symbols.shared));
  for (SourceFunction& f : module.functions) f.code.shared = shared;
  return module;
}

SourceModule read_ptx_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw UserError(path, "cannot be opened", "check its name and that it may be read");
  std::ostringstream text;
  text << in.rdbuf();
  return read_ptx(text.str(), path);
}

}  // namespace lockstep::isa
