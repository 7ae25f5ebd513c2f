#include "jobs/command_line/manual.hpp"

#include <map>
#include <vector>

namespace lockstep {
namespace {

constexpr const char* usual_statuses = "0 done, 1 failed, 2 wrong usage";

struct Manual {
  const char* statuses = usual_statuses;
  const char* files = "";
  std::vector<const char*> examples;
};

const std::map<std::string, Manual>& manuals() {
  static const std::map<std::string, Manual> all = {
      {"",
       {"0 done; 1 failed, with one line on standard error; 2 wrong usage.  `lockstep COMMAND "
        "--help` tells more.",
        "",
        {"lockstep run configs/scenarios/quickstart.yaml", "lockstep watch quickstart.h5",
         "lockstep report quickstart.h5"}}},
      {"run",
       {"0 done; 1 failed; 2 wrong usage; 3 --check found a buffer that differs; 4 "
        "simulation.stop_at came before some tenants had finished; 75 ended by "
        "SIGTERM, 130 by SIGINT, with a checkpoint to go on from",
        "FILE.h5 is the output (docs/output.md), FILE.ckpt beside it the checkpoint, and "
        "FILE.ckpt.previous the one before.  SIGUSR1 writes a checkpoint at once.",
        {"lockstep run two_tenants.yaml --threads 4 --set gpu.sm.count=40",
         "mpirun -n 2 lockstep run two_tenants.yaml --threads 8 --checkpoint-every 30min",
         "lockstep run two_tenants.yaml --resume two_tenants.ckpt",
         "lockstep run --config-of two_tenants.h5 --output again.h5",
         "lockstep run two_tenants.yaml --profile --output measured.h5",
         "lockstep run two_tenants.yaml --weights measured.h5"}}},
      {"compare",
       {"as of run",
        "FOLDER/SCENARIO.h5 and FOLDER/SCENARIO-alone-TENANT.h5 are the outputs, "
        "FOLDER/SCENARIO.compare.yaml has the metrics.",
        {"lockstep compare two_tenants.yaml --output results",
         "lockstep compare mask.yaml --alone-set policies.tlb_fill=lru",
         "lockstep compare --shared both.h5 --alone graph=graph.h5 --alone dense=dense.h5"}}},
      {"sweep",
       {"0 all points are done; 1 those that it names are not; 2 wrong usage; 75 and 130 as of run",
        "The points' outputs stand in the sweep's folder (docs/cluster.md).",
        {"lockstep sweep sizes.yaml --jobs 8",
         "lockstep sweep sizes.yaml --slurm jobs/slurm/sweep_array.sbatch"}}},
      {"collect",
       {usual_statuses, "", {"lockstep sweep sizes.yaml && lockstep collect sizes.yaml"}}},
      {"help", {usual_statuses, "", {"lockstep help run"}}},
      {"validate", {usual_statuses, "", {"lockstep validate two_tenants.yaml"}}},
      {"describe",
       {usual_statuses, "", {"lockstep describe policies.eviction", "lockstep describe prefetch"}}},
      {"partition",
       {usual_statuses,
        "",
        {"lockstep partition two_tenants.yaml --ranks 4 --weights measured.h5"}}},
      {"diff",
       {"0 equal outside /run; 1 not, or failed; 2 wrong usage", "", {"lockstep diff a.h5 b.h5"}}},
      {"predict",
       {usual_statuses,
        "",
        {"lockstep run two_tenants.yaml --profile && lockstep predict two_tenants.h5 --threads "
         "8"}}},
      {"calibrate",
       {usual_statuses,
        "calibrate.py stands beside rows.yaml, and runs what that lists.",
        {"./measure_gpu > measured.yaml && lockstep calibrate configs/gpus/v100.yaml "
         "measured.yaml"}}},
      {"capture",
       {"0 recorded; 1 failed, or the program did; 2 wrong usage",
        "The program needs the CUDA runtime as a shared library and PTX inside: nvcc -cudart "
        "shared -arch=sm_75.",
        {"lockstep capture --output bfs.workload -- ./bfs graph65536.txt"}}},
      {"extract",
       {usual_statuses,
        "",
        {"lockstep extract bfs.workload --launches 120 130 --output middle.workload"}}},
      {"watch",
       {"0 the run has ended; 1 it left its output unfinished, or the file is none; 2 wrong usage",
        "",
        {"lockstep watch two_tenants.h5", "lockstep watch two_tenants.h5 --every 10s >> log"}}},
      {"report",
       {usual_statuses,
        "FILE.html holds all it needs, and asks for nothing over the network.",
        {"lockstep report shared.h5", "lockstep report before.h5 after.h5 --output change.html"}}},
      {"plot",
       {usual_statuses,
        "Needs Python with h5py, numpy, pandas and matplotlib: that of PATH, or /usr/bin/python3.",
        {"lockstep plot two_tenants.h5", "lockstep plot tree.h5 none.h5 --same-time"}}},
      {"export",
       {usual_statuses,
        "csv: time_fs,counter,instance,tenant,behind,name,value, without what is 0; with --table "
        "its columns.  perfetto: for ui.perfetto.dev, in whole nanoseconds.",
        {"lockstep export two_tenants.h5 --format csv",
         "lockstep export two_tenants.h5 --format csv --table kernels --output kernels.csv",
         "lockstep export two_tenants.h5 --format perfetto"}}}};
  return all;
}

constexpr std::size_t width = 79, indent = 2;

/// Returns the text as lines of words, each indented.
std::string paragraph(const std::string& text) {
  std::string result, line;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    begin = end + 1;
    if (word.empty()) continue;
    if (!line.empty() && indent + line.size() + 1 + word.size() > width) {
      result += std::string(indent, ' ') + line + '\n';
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return result + std::string(indent, ' ') + line + '\n';
}

std::string section(const std::string& title, const std::string& text) {
  return text.empty() ? "" : "\n" + title + "\n" + text;
}

}  // namespace

std::string manual_of(const std::string& command) {
  const Manual& manual = manuals().at(command);
  const std::string files = manual.files;
  std::string examples;
  for (const char* example : manual.examples) examples += "  " + std::string(example) + '\n';
  return section("EXIT STATUS", paragraph(manual.statuses)) +
         section("FILES", files.empty() ? "" : paragraph(files)) + section("EXAMPLES", examples);
}

std::string help_of(const CLI::App& command) {
  return command.get_formatter()->make_help(&command, "", CLI::AppFormatMode::Normal);
}

std::string ManualPage::make_group(std::string, bool is_positional,
                                   std::vector<const CLI::Option*> options) const {
  std::string text;
  for (const CLI::Option* option : options) text += make_option(option, is_positional);
  return section("OPTIONS", text);
}

std::string ManualPage::make_subcommands(const CLI::App* app, CLI::AppFormatMode) const {
  std::string text;
  for (const CLI::App* command : app->get_subcommands({})) text += make_subcommand(command);
  return section("COMMANDS", text);
}

std::string ManualPage::make_help(const CLI::App* app, std::string, CLI::AppFormatMode mode) const {
  const CLI::App* parent = app->get_parent();
  const std::string name = "lockstep" + (parent ? " " + app->get_name() : std::string());
  std::string synopsis = "  " + name + (parent ? " [OPTIONS]" : " COMMAND [OPTIONS]");
  std::string arguments;
  for (const CLI::Option* option : app->get_options({})) {
    if (!option->get_positional()) continue;
    const std::string word = option->get_name(true);
    synopsis += option->get_required() ? " " + word : " [" + word + "]";
    arguments += make_option(option, true);
  }
  return section("NAME", paragraph(name + " - " + app->get_description())).substr(1) +
         section("SYNOPSIS", synopsis + '\n') + section("ARGUMENTS", arguments) +
         make_groups(app, mode) + make_subcommands(app, mode) + app->get_footer();
}

}  // namespace lockstep
