#include "core/parameters/suggest.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace lockstep {
namespace {

/// Returns the number of insertions, deletions, replacements and swaps of neighbours that make `b`
/// of `a`.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  std::iota(d[0].begin(), d[0].end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

bool has_word(const std::string& text, const std::string& word) {
  const auto same = [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  };
  return std::search(text.begin(), text.end(), word.begin(), word.end(), same) != text.end();
}

bool is_slip_of(const std::string& word, const std::string& meant) {
  return edit_distance(word, meant) <= std::max<std::size_t>(1, meant.size() / 3);
}

std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance >= best_distance) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

std::string suggest(const std::string& word, const std::vector<std::string>& known) {
  if (known.empty()) return "remove it: nothing is known here";
  const std::string meant = nearest(word, known);
  std::string text = meant.empty() ? "known are (" : "did you mean \"" + meant + "\"? (";
  const std::size_t shown = std::min<std::size_t>(known.size(), 12);
  for (std::size_t i = 0; i < shown; ++i) text += (i ? ", " : "") + known[i];
  return text + (shown < known.size() ? ", ...)" : ")");
}

}  // namespace lockstep
