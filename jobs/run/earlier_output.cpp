#include "jobs/run/earlier_output.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "core/checkpoint/parts.hpp"
#include "core/error/error.hpp"
#include "core/output/checkpoint_file.hpp"
#include "core/output/claimed_path.hpp"
#include "core/output/hdf5.hpp"
#include "core/parameters/document.hpp"
#include "jobs/run/recipe.hpp"

namespace lockstep {
namespace {

using Facts = std::vector<RankFact>;

bool has_content(const std::string& path) {
  std::error_code absent;
  return std::filesystem::is_regular_file(path, absent) &&
         std::filesystem::file_size(path, absent) > 0 && h5::is_hdf5(path);
}

/// Returns whether the file is a readable output; an output that a killed run left unreadable is
/// none.
bool is_readable_output(const std::string& path) {
  try {
    const auto attributes = h5::File::open_to_read(path).attributes("/");
    return std::any_of(attributes.begin(), attributes.end(),
                       [](const auto& one) { return one.name == "file version"; });
  } catch (const UserError&) {
    return false;
  }
}

std::optional<Facts> facts_of_output(const std::string& path) {
  try {
    return all_facts_in(path);
  } catch (const UserError&) {
    return std::nullopt;
  }
}

std::optional<Facts> facts_of_checkpoint(const std::string& path) {
  try {
    Facts facts;
    CheckpointReader source(path);
    restore_part(source, "identity", [&](Archive& archive) { archive(facts); });
    return facts;
  } catch (const UserError&) {
    return std::nullopt;
  }
}

/// Removes the facts that do not influence what a run simulates.
Facts settings_among(Facts facts) {
  std::erase_if(facts, [](const RankFact& fact) {
    return fact.name == "the program" || fact.name == "--check";
  });
  return facts;
}

void refuse_difference(const std::string& path, const std::string& what, const Facts& before,
                       const Facts& now) {
  const auto difference =
      first_difference(settings_among(before), "it", settings_among(now), "this one");
  if (!difference) return;
  throw UserError(path, "is " + what + " of another run: " + *difference,
                  "--overwrite replaces it, another --output leaves it there");
}

}  // namespace

void require_own_output(const std::string& path, const std::string& checkpoint,
                        const Identity& identity) {
  if (has_content(path) && !ClaimedPath::is_claimed(path) && is_readable_output(path)) {
    const auto before = facts_of_output(path);
    if (!before) {
      throw UserError(path, "is an output that does not tell of which run",
                      "--overwrite replaces it, another --output leaves it there");
    }
    refuse_difference(path, "the output", *before, identity.all_facts());
  }
  if (checkpoint.empty() || !has_content(checkpoint)) return;
  if (const auto before = facts_of_checkpoint(checkpoint))
    refuse_difference(checkpoint, "the checkpoint", *before, identity.facts());
}

}  // namespace lockstep
