#include <algorithm>

#include "core/parameters/access.hpp"
#include "core/parameters/schema.hpp"
#include "core/parameters/suggest.hpp"
#include "core/parameters/units.hpp"

namespace lockstep {
namespace {

std::string joined(const std::vector<std::string>& words, const std::string& separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

std::string allowed_text(const ParameterField& field) {
  if (field.type == ParameterType::policy) {
    std::vector<std::string> names;
    for (const PolicyInfo& info : field.policies()) names.push_back(info.name);
    return joined(names, " | ");
  }
  if (!field.choices.empty()) return joined(field.choices, " | ");
  std::string text;
  if (field.low && field.high) {
    text = to_text(field, *field.low) + " .. " + to_text(field, *field.high);
  } else if (field.low) {
    text = ">= " + to_text(field, *field.low);
  } else if (field.high) {
    text = "<= " + to_text(field, *field.high);
  }
  if (field.only_powers_of_two) text += text.empty() ? "power of two" : ", power of two";
  if (text.empty()) text = field.type == ParameterType::boolean ? "true | false" : "any";
  return text;
}

struct Line {
  std::string key, unit, initial, allowed, doc;
};

/// Conditions of the structs around a schema, about keys of the schema.
struct Conditions {
  struct One {
    std::string key, when;
  };
  std::vector<One> all;

  /// Returns the conditions together with those of the schema itself.
  Conditions of(const ParameterSchema& schema) const {
    Conditions result = *this;
    for (const ParameterCondition& condition : schema.conditions())
      for (const std::string& key : condition.keys) result.all.push_back({key, condition.when});
    return result;
  }
  /// Returns the conditions on keys of a group, by their names in the group.
  Conditions below(const std::string& group) const {
    Conditions result;
    for (const One& one : all)
      if (one.key.starts_with(group + "."))
        result.all.push_back({one.key.substr(group.size() + 1), one.when});
    return result;
  }
  /// Returns the documentation of a key, with the configurations in which the key matters.
  std::string doc(const ParameterField& field) const {
    std::string text = field.doc;
    for (const One& one : all)
      if (one.key == field.key) text += "; only " + one.when;
    if (!field.formerly.empty()) text += "; formerly " + field.formerly;
    return text;
  }
};

Line line_of(const ParameterField& field, const std::string& prefix, const Conditions& conditions) {
  if (field.type == ParameterType::part)
    return {prefix + field.key, field.unit, field.required ? "(required)" : "", "",
            conditions.doc(field)};
  std::string unit = field.unit.empty() ? unit_name(field.type) : field.unit;
  if (field.is_list) unit = "list of " + unit;
  std::string initial = field.absent;
  if (field.required) initial = "(required)";
  if (initial.empty()) initial = to_text(field, field.initial);
  return {prefix + field.key, unit, initial, allowed_text(field), conditions.doc(field)};
}

void collect(const ParameterSchema& schema, const std::string& prefix, const Conditions& around,
             std::vector<Line>& lines) {
  const Conditions conditions = around.of(schema);
  for (const ParameterField& field : schema.fields()) {
    if (field.type == ParameterType::group) {
      lines.push_back({prefix + field.key, "group", "", "", conditions.doc(field)});
      collect(*field.group, prefix + field.key + ".", conditions.below(field.key), lines);
      continue;
    }
    ParameterField plain = field;
    if (field.type == ParameterType::policy) plain.type = ParameterType::text;
    Line line = line_of(plain, prefix, conditions);
    line.unit = field.type == ParameterType::policy ? "policy" : line.unit;
    if (field.type != ParameterType::part) line.allowed = allowed_text(field);
    lines.push_back(line);
    if (field.type != ParameterType::policy) continue;
    for (const PolicyInfo& info : field.policies()) {
      const std::string name = prefix + field.key + "{" + info.name + "}";
      lines.push_back({name, "", "", "", info.doc});
      if (info.parameters) collect(*info.parameters, name + ".", {}, lines);
    }
  }
}

std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) {
    text.insert(at, "\\");
  }
  return text;
}

std::string table_of(const ParameterSchema& schema, const Conditions& conditions) {
  std::string text = "| key | unit | default | allowed | meaning |\n|---|---|---|---|---|\n";
  for (const ParameterField& field : schema.fields()) {
    Line line{field.key, "group", "", "see below", conditions.doc(field)};
    if (field.type == ParameterType::policy) {
      line = {field.key, "policy", std::get<std::string>(field.initial.at(0)), allowed_text(field),
              conditions.doc(field)};
    } else if (field.type != ParameterType::group) {
      line = line_of(field, "", conditions);
    }
    text += "| `" + line.key + "` | " + line.unit + " | " + cell(line.initial) + " | " +
            cell(line.allowed) + " | " + cell(line.doc) + " |\n";
  }
  return text;
}

void append_page(const ParameterSchema& schema, const std::string& title, int level,
                 const Conditions& around, std::string& page) {
  const Conditions conditions = around.of(schema);
  page += std::string(std::size_t(level), '#') + " " + title + "\n\n";
  if (!schema.fields().empty()) page += table_of(schema, conditions) + "\n";
  for (const ParameterField& field : schema.fields()) {
    const std::string name = title.front() == '`' ? title.substr(1, title.size() - 2) + "." : "";
    if (field.type == ParameterType::group) {
      append_page(*field.group, "`" + name + field.key + "`", level, conditions.below(field.key),
                  page);
    } else if (field.type == ParameterType::policy) {
      for (const PolicyInfo& info : field.policies()) {
        page += "**`" + name + field.key + ": " + info.name + "`** " + info.doc + ".\n\n";
        if (info.parameters)
          page += table_of(*info.parameters, Conditions{}.of(*info.parameters)) + "\n";
      }
    }
  }
}

}  // namespace

std::string describe(const ParameterSchema& schema, const std::string& prefix,
                     const std::string& only) {
  std::vector<Line> all, lines;
  collect(schema, prefix, {}, all);
  std::copy_if(all.begin(), all.end(), std::back_inserter(lines),
               [&](const Line& line) { return line.key.starts_with(only); });
  if (lines.empty()) {
    std::copy_if(all.begin(), all.end(), std::back_inserter(lines),
                 [&](const Line& line) { return has_word(line.key + ' ' + line.doc, only); });
  }
  std::size_t key = 0, unit = 0, initial = 0, allowed = 0;
  for (const Line& line : lines) {
    key = std::max(key, line.key.size());
    unit = std::max(unit, line.unit.size());
    initial = std::max(initial, line.initial.size());
    allowed = std::max(allowed, line.allowed.size());
  }
  std::string text;
  auto padded = [](const std::string& word, std::size_t width) {
    return word + std::string(width - word.size() + 2, ' ');
  };
  for (const Line& line : lines) {
    text += padded(line.key, key) + padded(line.unit, unit) + padded(line.initial, initial) +
            padded(line.allowed, allowed) + line.doc + "\n";
  }
  return text;
}

std::string reference_page(const ParameterSchema& schema, const std::string& title, int level) {
  std::string page;
  append_page(schema, title, level, {}, page);
  return page;
}

}  // namespace lockstep
