#include "core/parameters/schema.hpp"

#include <algorithm>

#include "core/error/error.hpp"

namespace lockstep {

const ParameterField* ParameterSchema::find(const std::string& key) const {
  auto found = std::find_if(fields_.begin(), fields_.end(),
                            [&](const ParameterField& field) { return field.key == key; });
  return found == fields_.end() ? nullptr : &*found;
}

void ParameterSchema::add(ParameterField field) {
  LOCKSTEP_CHECK(!find(field.key), "parameter " + field.key + " is declared twice");
  LOCKSTEP_CHECK(!field.doc.empty(), "parameter " + field.key + " needs a sentence");
  LOCKSTEP_CHECK(field.type != ParameterType::enumeration || !field.choices.empty(),
                 "enumeration " + field.key + " needs its words");
  fields_.push_back(std::move(field));
}

}  // namespace lockstep
