#pragma once

#include <string>

#include "jobs/command_line/commands.hpp"

namespace lockstep {

/// Returns the text of a manual beyond the options: exit statuses, files, examples.  "" is the
/// program.
std::string manual_of(const std::string& command);

/// Returns the help of this command, or of the program, whichever command was used.
std::string help_of(const CLI::App& command);

/// `--help` in the order of a manual page: name, synopsis, options, exit status, examples.
class ManualPage final : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override;
  std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override;
};

}  // namespace lockstep
