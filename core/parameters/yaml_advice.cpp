#include "core/parameters/yaml_advice.hpp"

#include <utility>

namespace lockstep {

std::string yaml_advice(const std::string& message) {
  constexpr const char* indentation =
      "entries of one map or list begin in the same column: indent this line like the others";
  constexpr std::pair<const char*, const char*> advice[] = {
      {"end of sequence flow", "expected \",\" or \"]\": close the list that begins with \"[\""},
      {"end of map flow", "expected \",\" or \"}\": close the map that begins with \"{\""},
      {"illegal flow end", "there is no \"[\" or \"{\" that this closes: remove it"},
      {"illegal map value",
       "expected one \"key: value\" here: indent with spaces like the line before (no tabs), and "
       "quote a text with \": \" in it"},
      {"end of map not found", indentation},
      {"end of sequence not found", indentation},
      {"illegal block entry", "a list item \"- ...\" stands on a line of its own below its key"},
      {"unknown token", "a text that begins with @, `, % or another sign must be quoted"},
      {"unknown escape", "write \"\\\\\" for a backslash, or use single quotes"},
      {"referenced anchor", "define it before with \"&name\""},
      {"illegal tab", "indent with spaces"},
  };
  for (const auto& [part, text] : advice) {
    if (message.find(part) != std::string::npos) return text;
  }
  return "check quotes, brackets and indentation here and in the line before";
}

}  // namespace lockstep
