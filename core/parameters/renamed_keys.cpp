#include "core/parameters/renamed_keys.hpp"

#include <mutex>
#include <set>
#include <utility>

namespace lockstep {
namespace {

std::mutex guard;
std::set<std::string> notes;

}  // namespace

void note_renamed_key(const std::string& note) {
  const std::lock_guard lock(guard);
  notes.insert(note);
}

std::vector<std::string> take_renamed_keys() {
  const std::lock_guard lock(guard);
  const std::set<std::string> taken = std::exchange(notes, {});
  return {taken.begin(), taken.end()};
}

}  // namespace lockstep
