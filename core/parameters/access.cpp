#include "core/parameters/access.hpp"

#include <cstring>

#include "core/parameters/units.hpp"

namespace lockstep {
namespace {

/// Returns whether YAML would read a plain `text` back as that text.
bool needs_quotes(const std::string& text) {
  if (text.empty() || text == "~" || text == "null" || text == "true" || text == "false")
    return true;
  if (text.front() == ' ' || text.back() == ' ') return true;
  if (std::string("-?:,[]{}#&*!|>'\"%@`").find(text.front()) != std::string::npos) return true;
  return text.find_first_of(":#,[]{}\"\\\n\t") != std::string::npos;
}

std::string quote(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else {
      if (c == '"' || c == '\\') result += '\\';
      result += c;
    }
  }
  return result + "\"";
}

}  // namespace

void store(const ParameterField& field, const std::vector<ParameterScalar>& scalars, void* values) {
  void* member = member_of(field, values);
  if (field.type == ParameterType::enumeration) {
    // Little-endian: the low bytes of the index are the enumerator, whatever its size.
    const std::uint64_t index = std::get<std::uint64_t>(scalars.at(0));
    std::memcpy(member, &index, field.size);
    return;
  }
  with_member_type(field.type, [&]<class M, class Wide>() {
    if (field.is_list) {
      auto& list = *static_cast<std::vector<M>*>(member);
      list.clear();
      for (const ParameterScalar& scalar : scalars) list.push_back(M(std::get<Wide>(scalar)));
    } else {
      *static_cast<M*>(member) = M(std::get<Wide>(scalars.at(0)));
    }
  });
}

std::vector<ParameterScalar> fetch(const ParameterField& field, const void* values) {
  const void* member = member_of(field, values);
  if (field.type == ParameterType::enumeration) {
    std::uint64_t index = 0;
    std::memcpy(&index, member, field.size);
    return {index};
  }
  std::vector<ParameterScalar> result;
  with_member_type(field.type, [&]<class M, class Wide>() {
    if (field.is_list) {
      for (const M& item : *static_cast<const std::vector<M>*>(member)) {
        result.emplace_back(Wide(to_scalar(item)));
      }
    } else {
      result.emplace_back(Wide(to_scalar(*static_cast<const M*>(member))));
    }
  });
  return result;
}

std::string to_text(const ParameterField& field, const ParameterScalar& value) {
  if (field.type == ParameterType::enumeration) {
    return field.choices.at(std::get<std::uint64_t>(value));
  }
  const std::string text = format_scalar(value, field.type);
  return field.type == ParameterType::text && needs_quotes(text) ? quote(text) : text;
}

std::string to_text(const ParameterField& field, const std::vector<ParameterScalar>& values) {
  if (!field.is_list) return values.empty() ? "" : to_text(field, values[0]);
  std::string text;
  for (const ParameterScalar& value : values) {
    text += (text.empty() ? "" : ", ") + to_text(field, value);
  }
  return "[" + text + "]";
}

}  // namespace lockstep
