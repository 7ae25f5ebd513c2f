#include "core/parameters/schema.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "core/error/error.hpp"

namespace lockstep {

ParameterField::ParameterField(const char* its_key, const char* its_doc, const char* its_unit,
                               ParameterType its_type, std::size_t its_offset)
    : key(its_key), doc(its_doc), unit(its_unit), type(its_type), offset(its_offset) {}
ParameterField::ParameterField(const ParameterField& other) = default;
ParameterField::ParameterField(ParameterField&& other) noexcept = default;
ParameterField::~ParameterField() = default;

const ParameterField* ParameterSchema::find(const std::string& key) const {
  auto found = std::find_if(fields_.begin(), fields_.end(),
                            [&](const ParameterField& field) { return field.key == key; });
  return found == fields_.end() ? nullptr : &*found;
}

void ParameterSchema::add(const ParameterField& field) {
  LOCKSTEP_CHECK(!find(field.key), "parameter " + field.key + " is declared twice");
  LOCKSTEP_CHECK(!field.doc.empty(), "parameter " + field.key + " needs a sentence");
  LOCKSTEP_CHECK(field.type != ParameterType::enumeration || !field.choices.empty(),
                 "enumeration " + field.key + " needs its words");
  fields_.push_back(field);
}

void ParameterSchema::add_condition(const char* keys, const char* when,
                                    std::function<bool(const void*)> holds) {
  std::istringstream words(keys);
  ParameterCondition condition{{}, when, std::move(holds)};
  for (std::string key; words >> key; condition.keys.push_back(key)) {
    const ParameterSchema* schema = this;
    std::istringstream parts(key);
    for (std::string part; std::getline(parts, part, '.');) {
      const ParameterField* field = schema ? schema->find(part) : nullptr;
      LOCKSTEP_CHECK(field, "a condition is about " + key + ", which is not declared");
      schema = field->group;
    }
  }
  LOCKSTEP_CHECK(!condition.keys.empty() && !condition.when.empty(), "an empty condition");
  conditions_.push_back(std::move(condition));
}

}  // namespace lockstep
