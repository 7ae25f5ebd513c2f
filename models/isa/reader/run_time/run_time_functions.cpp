#include "models/isa/reader/run_time/run_time_functions.hpp"

#include "models/isa/reader/names/names.hpp"
#include "models/isa/reader/names/symbols.hpp"
#include "models/isa/reader/run_time/heap_functions.hpp"

namespace lockstep::isa {
namespace {

constexpr const char* vprintf_text = R"(
.func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments)
{
  .reg .pred %more;
  .reg .b32 %bytes, %at, %word, %count;
  .reg .b64 %text, %from;
  ld.param.b64 %text, [format];
  ld.param.b64 %from, [arguments];
  print.begin %bytes, %text;
  mov.u32 %at, 0;
next:
  setp.lt.u32 %more, %at, %bytes;
  @!%more bra done;
  ld.u32 %word, [%from];
  print.word %word;
  add.u64 %from, %from, 4;
  add.u32 %at, %at, 4;
  bra next;
done:
  print.end %count;
  st.param.b32 [result], %count;
  ret;
}
)";

/// Gives `prototype` the body of `own`; its operations have the place of the declaration.
void supply(syntax::Function& prototype, syntax::Function own) {
  for (syntax::Statement& statement : own.body) statement.at = prototype.at;
  prototype.parameters = std::move(own.parameters);
  prototype.results = std::move(own.results);
  prototype.body = std::move(own.body);
  prototype.has_body = prototype.built_in = true;
}

/// Returns the prototype of a function that is declared and nowhere defined; nullptr: there is
/// none.
syntax::Function* prototype_of(syntax::Module& module, const std::string& name) {
  syntax::Function* prototype = nullptr;
  for (syntax::Function& f : module.functions) {
    if (f.name != name) continue;
    if (f.has_body) return nullptr;
    if (prototype == nullptr) prototype = &f;
  }
  return prototype;
}

/// A function of the run time: its declaration and its text.
struct RunTimeFunction {
  const char *name, *parameters, *results, *declaration, *text;
};

bool supply(syntax::Module& module, const std::string& file, const RunTimeFunction& function) {
  syntax::Function* prototype = prototype_of(module, function.name);
  if (prototype == nullptr) return false;
  if (widths_of(prototype->parameters) != function.parameters ||
      widths_of(prototype->results) != function.results)
    fail(file, prototype->at, std::string(function.name) + " " + function.declaration,
         "declare it so, or give it a body");
  supply(*prototype, syntax::parse(function.text, function.name).functions.front());
  return true;
}

}  // namespace

std::string widths_of(const std::vector<syntax::Declaration>& declarations) {
  std::string widths;
  for (const syntax::Declaration& d : declarations)
    widths += d.is_array ? "array " : std::to_string(8 * bytes_of(type_named(d.type))) + " ";
  return widths;
}

void supply_run_time_functions(syntax::Module& module, const std::string& file) {
  supply(module, file,
         {"vprintf", "64 64 ", "32 ",
          "takes a format and a buffer of arguments, of 64 bits each, and returns 32 bits",
          vprintf_text});
  const bool has_heap = supply(
      module, file,
      {"malloc", "64 ", "64 ", "takes a size and returns a pointer, of 64 bits each", malloc_text});
  if (!has_heap) return;  // freeing null is no call, see run_time_calls.hpp
  supply(module, file, {"free", "64 ", "", "takes a pointer of 64 bits", free_text_of_heap});
  for (const syntax::Declaration& variable : syntax::parse(heap_variables_text, "malloc").variables)
    module.variables.push_back(variable);
}

}  // namespace lockstep::isa
