#pragma once

#include <string>
#include <vector>

namespace lockstep {

/// Returns advice such as `did you mean "spatial"? (exclusive, spatial)`: the known word with the
/// least edit distance, if it is near enough to be a slip, and the known words (at most a dozen).
std::string suggest(const std::string& word, const std::vector<std::string>& known);

/// Returns the known word nearest to `word`, "" if none is near enough to be a slip of the pen.
std::string nearest(const std::string& word, const std::vector<std::string>& known);

/// Returns whether `word` may be a slip of the pen for `meant`.
bool is_slip_of(const std::string& word, const std::string& meant);

/// Returns whether `text` contains `word`, in upper or lower case.
bool has_word(const std::string& text, const std::string& word);

}  // namespace lockstep
