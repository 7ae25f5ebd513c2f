#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace lockstep {

/// Returns the manual page, as troff: `lockstep help --as man`.
std::string man_page(const CLI::App& app);

/// Returns the words that bash completes, from the declared commands and options: `lockstep help
/// --as completion`.
std::string bash_completion(const CLI::App& app);

}  // namespace lockstep
