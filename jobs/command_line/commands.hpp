#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "jobs/options.hpp"

namespace lockstep {

/// Declares all subcommands with their options, which go to `line`.
void declare_commands(CLI::App& app, CommandLine& line);

}  // namespace lockstep
