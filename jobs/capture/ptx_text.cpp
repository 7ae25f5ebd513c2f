#include "jobs/capture/ptx_text.hpp"

#include <cctype>
#include <functional>
#include <string_view>
#include <vector>

namespace lockstep::capture {
namespace {

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' ||
         c == '.';
}

/// Calls `word` for each word (names, numbers, directives with their dots) and copies everything
/// else, comments and strings included.
std::string rewrite(std::string_view text,
                    const std::function<std::string(std::string_view)>& word) {
  std::string result;
  std::size_t at = 0;
  const auto copy_until = [&](std::size_t end) {
    end = std::min(end, text.size());
    result += text.substr(at, end - at);
    at = end;
  };
  while (at < text.size()) {
    if (text.substr(at, 2) == "//") {
      copy_until(std::min(text.find('\n', at), text.size()));
    } else if (text.substr(at, 2) == "/*") {
      copy_until(text.find("*/", at) == text.npos ? text.npos : text.find("*/", at) + 2);
    } else if (text[at] == '"') {
      copy_until(text.find('"', at + 1) == text.npos ? text.npos : text.find('"', at + 1) + 1);
    } else if (is_name(text[at])) {
      std::size_t end = at;
      while (end < text.size() && is_name(text[end])) ++end;
      result += word(text.substr(at, end - at));
      at = end;
    } else {
      copy_until(at + 1);
    }
  }
  return result;
}

/// Returns statements at the outermost level, up to a semicolon or the end of a body.  Directives
/// of one line, such as .version, are statements too.
std::vector<std::string_view> statements(std::string_view text) {
  std::vector<std::string_view> result;
  std::size_t begin = 0;
  int depth = 0;
  const auto end_at = [&](std::size_t end) {
    result.push_back(text.substr(begin, end - begin));
    begin = end;
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size()) - 1;
    } else if (text[at] == '"') {
      at = std::min(text.find('"', at + 1), text.size() - 1);
    } else if (text[at] == '{') {
      ++depth;
    } else if (text[at] == '}') {
      const std::size_t next = text.find_first_not_of(" \t\r\n", at + 1);
      if (--depth == 0 && (next == text.npos || text[next] != ';')) end_at(at + 1);
    } else if (text[at] == ';' && depth == 0) {
      end_at(at + 1);
    } else if (text[at] == '\n' && depth == 0) {
      const std::size_t first = text.find_first_not_of(" \t\r\n", begin);
      if (first < at)
        for (const char* line : {".version", ".target", ".address_size", ".file", "//"})
          if (text.substr(first).starts_with(line)) end_at(at + 1);
    }
  }
  end_at(text.size());
  return result;
}

std::vector<std::string> words_of(std::string_view statement) {
  std::vector<std::string> words;
  int depth = 0;
  std::string punctuation;
  std::size_t at = 0;
  const std::size_t end = std::min(statement.find('{'), statement.size());
  while (at < end) {
    const char c = statement[at];
    if (statement.substr(at, 2) == "//") {
      at = std::min(statement.find('\n', at), end);
    } else if (is_name(c)) {
      std::size_t last = at;
      while (last < end && is_name(statement[last])) ++last;
      if (depth == 0) words.emplace_back(statement.substr(at, last - at));
      at = last;
    } else {
      if (c == '(') ++depth;
      if (c == ')') --depth;
      if (c == '=') break;
      ++at;
    }
  }
  return words;
}

/// Returns the name that a statement at the outermost level is about.
std::string symbol_of(const std::vector<std::string>& words) {
  constexpr const char* definers[] = {".entry", ".func", ".global", ".const", ".tex"};
  bool defines = false;
  std::string symbol;
  for (const std::string& word : words) {
    for (const char* definer : definers) defines |= word == definer;
    const char first = word.front();
    if (first == '.' || std::isdigit(static_cast<unsigned char>(first)) != 0) continue;
    if (symbol.empty()) symbol = word;
  }
  return defines ? symbol : "";
}

bool has(const std::vector<std::string>& words, const char* word) {
  for (const std::string& w : words)
    if (w == word) return true;
  return false;
}

void replace_all(std::string& word, std::string_view from, std::string_view to) {
  for (std::size_t at = word.find(from); at != word.npos; at = word.find(from, at + to.size()))
    word.replace(at, from.size(), to);
}

}  // namespace

std::string with_global_constants(const std::string& text) {
  return rewrite(text, [](std::string_view word) {
    std::string changed(word);
    if (changed == ".const" || changed.starts_with("ld.const.") ||
        changed.starts_with("cvta.const.") || changed.starts_with("cvta.to.const."))
      replace_all(changed, ".const", ".global");
    return changed;
  });
}

namespace {

/// A symbol that a statement at the outermost level is about.
struct Symbol {
  std::string name;
  bool is_definition = false;
  bool is_linked = false;  ///< other files of the group may refer to the symbol
};

std::vector<Symbol> symbols_of(std::string_view text) {
  std::vector<Symbol> symbols;
  for (const std::string_view statement : statements(text)) {
    const std::vector<std::string> words = words_of(statement);
    const std::string name = symbol_of(words);
    if (name.empty()) continue;
    const bool is_external = has(words, ".extern");
    const bool is_linked =
        is_external || has(words, ".visible") || has(words, ".weak") || has(words, ".common");
    symbols.push_back({name, !is_external, is_linked});
  }
  return symbols;
}

}  // namespace

std::string RecordedPtx::fresh(const std::string& name, const std::set<std::string>& group) const {
  for (std::size_t number = files_.size();; ++number) {
    std::string made = name + "$" + std::to_string(number);
    if (!symbols_.contains(made) && !group.contains(made)) return made;
  }
}

RecordedPtx::Added RecordedPtx::add(const std::vector<std::string>& group) {
  std::vector<std::vector<Symbol>> symbols;
  std::set<std::string> of_group;
  for (const std::string& text : group)
    for (const Symbol& symbol : symbols.emplace_back(symbols_of(text)))
      of_group.insert(symbol.name);
  // Names that files of the group share are renamed first, so that each file gets the same new
  // name.
  std::map<std::string, std::string> linked;
  std::set<std::string> taken_here;
  for (const auto& of_file : symbols)
    for (const Symbol& symbol : of_file) {
      if (!symbol.is_definition || !symbol.is_linked || taken_here.contains(symbol.name)) continue;
      if (symbols_.contains(symbol.name)) {
        const std::string made = fresh(symbol.name, of_group);
        symbols_.insert(made);
        linked[symbol.name] = made;
      }
      taken_here.insert(symbol.name);
    }
  symbols_.merge(taken_here);
  Added added;
  added.renamed = linked;
  for (std::size_t f = 0; f < group.size(); ++f) {
    std::map<std::string, std::string> renamed = linked;
    std::set<std::string> own;
    for (const Symbol& symbol : symbols[f])
      if (!symbol.is_linked) own.insert(symbol.name);
    for (const std::string& name : own) {
      if (symbols_.insert(name).second) continue;
      const std::string made = fresh(name, of_group);
      symbols_.insert(made);
      renamed[name] = made;
      added.renamed.emplace(name, made);
    }
    added.files.push_back(
        renamed.empty() ? group[f] : rewrite(group[f], [&](std::string_view word) {
          const auto found = renamed.find(std::string(word));
          return found == renamed.end() ? std::string(word) : found->second;
        }));
    files_.push_back(added.files.back());
  }
  return added;
}

}  // namespace lockstep::capture
