/// Texts of the command line for other programs: the manual page and the completion of bash.
#include "jobs/command_line/shell.hpp"

#include <sstream>

#include "jobs/command_line/manual.hpp"

namespace lockstep {
namespace {

/// Returns the text with everything escaped that troff would take for requests.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\' || c == '-') result += '\\';
    result += c;
  }
  const bool is_request = !result.empty() && (result.front() == '.' || result.front() == '\'');
  return (is_request ? "\\&" : "") + result;
}

bool is_heading(const std::string& line) {
  return !line.empty() &&
         line.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ ") == std::string::npos;
}

/// Turns the text of --help into a page with headings; its lines are wrapped already.
std::string pages_of(const std::string& help, const char* heading) {
  std::string text;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);)
    text += is_heading(line) ? ".fi\n" + std::string(heading) + " " + line + "\n.nf\n"
                             : escaped(line) + "\n";
  return text + ".fi\n";
}

std::string long_names(const CLI::App& command) {
  std::string words;
  for (const CLI::Option* option : command.get_options({}))
    for (const std::string& name : option->get_lnames())
      words += (words.empty() ? "--" : " --") + name;
  return words;
}

}  // namespace

std::string man_page(const CLI::App& app) {
  // NAME is filled text, for the index of manuals.
  std::string text =
      ".TH LOCKSTEP 1\n.SH NAME\nlockstep \\- " + escaped(app.get_description()) + "\n";
  const std::string help = help_of(app);
  text += pages_of(help.substr(help.find("\nSYNOPSIS") + 1), ".SH");
  for (const CLI::App* command : app.get_subcommands({})) {
    text +=
        ".SH LOCKSTEP " + command->get_name() + "\n" + escaped(command->get_description()) + "\n";
    const std::string its_help = help_of(*command);
    text += pages_of(its_help.substr(its_help.find("\nSYNOPSIS") + 1), ".SS");
  }
  return text;
}

std::string bash_completion(const CLI::App& app) {
  std::string commands, cases;
  for (const CLI::App* command : app.get_subcommands({})) {
    commands += (commands.empty() ? "" : " ") + command->get_name();
    cases += "    " + command->get_name() + ") options=\"" + long_names(*command) + "\" ;;\n";
  }
  return "# Completion of lockstep: commands, their options, files.\n"
         "_lockstep() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} commands=\"" +
         commands +
         "\" options\n"
         "  case ${COMP_WORDS[1]} in\n" +
         cases + "    *) options=\"" + long_names(app) +
         "\" ;;\n"
         "  esac\n"
         "  if [[ $word == -* ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
         "  elif [[ $COMP_CWORD -eq 1 || ${COMP_WORDS[1]} == help ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$commands\" -- \"$word\")\n"
         "  else\n"
         "    mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
         "  fi\n"
         "}\n"
         "complete -o filenames -F _lockstep lockstep\n";
}

}  // namespace lockstep
