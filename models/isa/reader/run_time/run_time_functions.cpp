#include "models/isa/reader/run_time/run_time_functions.hpp"

#include <algorithm>

#include "models/isa/reader/names/names.hpp"
#include "models/isa/reader/names/symbols.hpp"

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

std::string widths_of(const std::vector<syntax::Declaration>& declarations) {
  std::string widths;
  for (const syntax::Declaration& d : declarations)
    widths += d.is_array ? "array " : std::to_string(8 * bytes_of(type_named(d.type))) + " ";
  return widths;
}

/// `prototype` gets the body of `own`; its operations stand where it is declared.
void supply(syntax::Function& prototype, syntax::Function own) {
  for (syntax::Statement& statement : own.body) statement.at = prototype.at;
  prototype.parameters = std::move(own.parameters);
  prototype.results = std::move(own.results);
  prototype.body = std::move(own.body);
  prototype.has_body = prototype.built_in = true;
}

}  // namespace

void supply_run_time_functions(syntax::Module& module, const std::string& file) {
  const auto is_vprintf = [](const syntax::Function& f) { return f.name == "vprintf"; };
  const auto prototype = std::find_if(module.functions.begin(), module.functions.end(), is_vprintf);
  if (prototype == module.functions.end()) return;
  if (std::any_of(prototype, module.functions.end(),
                  [&](const syntax::Function& f) { return is_vprintf(f) && f.has_body; }))
    return;
  if (widths_of(prototype->parameters) != "64 64 " || widths_of(prototype->results) != "32 ")
    fail(file, prototype->at,
         "vprintf takes a format and a buffer of arguments, of 64 bits each, and returns 32 bits");
  supply(*prototype, syntax::parse(vprintf_text, "vprintf").functions.front());
}

}  // namespace lockstep::isa
