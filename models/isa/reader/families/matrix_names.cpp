#include "models/isa/reader/families/matrix_names.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

namespace lockstep::isa::matrix_names {
namespace {

template <class E>
std::optional<E> named(const std::string& word, E last) {
  for (unsigned i = 0; i <= static_cast<unsigned>(last); ++i)
    if (word == name_of(static_cast<E>(i))) return static_cast<E>(i);
  return std::nullopt;
}
bool is_type(const std::string& word) {
  return named(word, MatrixElement::b1) || named(word, MatrixResult::s32);
}
/// The first word for which `accepts` holds; taken.
template <class Accepts>
std::string take_first(Modifiers& modifiers, Accepts accepts) {
  const std::vector<std::string>& rest = modifiers.rest();
  const auto found = std::find_if(rest.begin(), rest.end(), accepts);
  if (found == rest.end()) return "";
  std::string word = *found;
  modifiers.take(word);
  return word;
}

}  // namespace

void take_shape(PtxInstruction& instruction, MatrixForm& form) {
  unsigned m = 0, n = 0, k = 0;
  const std::string word = take_first(instruction.modifiers, [&](const std::string& text) {
    char more = 0;
    return std::sscanf(text.c_str(), "m%3un%3uk%4u%c", &m, &n, &k, &more) == 3;
  });
  if (word.empty()) instruction.fail("needs a shape like .m16n8k16");
  if (m > 255 || n > 255) m = n = 0;  // no shape has such extents
  form.m = static_cast<std::uint8_t>(m);
  form.n = static_cast<std::uint8_t>(n);
  form.k = static_cast<std::uint16_t>(k);
}

bool take_layout(PtxInstruction& instruction) {
  const std::string word = take_first(instruction.modifiers, [](const std::string& text) {
    return text == "row" || text == "col";
  });
  if (word.empty()) instruction.fail("needs layouts: .row or .col");
  return word == "col";
}

Rounding take_rounding(Modifiers& modifiers) {
  const Rounding rounding = modifiers.take_rounding();
  return rounding == Rounding::none ? Rounding::rn : rounding;
}

MatrixOperation take_operation(Modifiers& modifiers) {
  if (!modifiers.take("popc")) return MatrixOperation::multiply;
  if (modifiers.take("and")) return MatrixOperation::and_popc;
  modifiers.take("xor");
  return MatrixOperation::xor_popc;
}

MatrixResult take_result(PtxInstruction& instruction) {
  const std::string word = take_first(instruction.modifiers, is_type);
  const auto result = named(word, MatrixResult::s32);
  if (!result) instruction.fail("needs .f16, .f32, .f64 or .s32 as the type of c and d");
  return *result;
}
MatrixElement take_element(PtxInstruction& instruction) {
  const std::string word = take_first(instruction.modifiers, is_type);
  const auto element = named(word, MatrixElement::b1);
  if (!element)
    instruction.fail(
        "needs a type of a and of b: .f16, .bf16, .tf32, .f64, .e4m3, .e5m2, .s8, "
        ".u8, .s4, .u4 or .b1");
  return *element;
}
std::size_t count_types(const Modifiers& modifiers) {
  return static_cast<std::size_t>(std::ranges::count_if(modifiers.rest(), is_type));
}

}  // namespace lockstep::isa::matrix_names
