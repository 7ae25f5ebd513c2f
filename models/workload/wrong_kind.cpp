#include "models/workload/wrong_kind.hpp"

#include <filesystem>

#include "core/error/error.hpp"

namespace lockstep {
namespace {

struct Format {
  const char *ending, *what, *advice;
};

constexpr Format formats[] = {
    {".cu", "is a CUDA source, not YAML",
     "compile it with nvcc -ptx, and name the .ptx file as module: of a workload"},
    {".ptx", "is PTX, not YAML",
     "name it as module: of a workload, and the workload below tenants: of a scenario"},
    {".h5", "is an output file, not YAML", "name it as --config-of to repeat its run"},
    {".ckpt", "is a checkpoint, not YAML", "name it as --resume, after the scenario"},
};

struct Kind {
  const char *name, *key;  ///< name of the kind, and key that only this kind has
  const char* place;
};

constexpr Kind kinds[] = {
    {"scenario", "tenants", "run it by itself"},
    {"workload", "module", "name it below tenants: of a scenario, as workload: "},
    {"gpu", "sm", "name it in a scenario, as gpu: "},
    {"host", "link_bandwidth", "name it in a scenario, as host: "},
    {"fabric", "rate", "name it in a scenario, as fabric: "},
};

}  // namespace

void refuse_other_format(const std::string& file, const std::string& where) {
  for (const auto& [ending, what, advice] : formats)
    if (file.ends_with(ending))
      throw UserError(where, where == file ? what : "\"" + file + "\" " + what, advice);
}

void refuse_other_kind(const Node& document, const std::string& wanted) {
  if (!document.is_map()) return;
  for (const auto& [name, key, place] : kinds) {
    if (!document.find(key).exists()) continue;
    if (name == wanted) return;
    const std::string file = std::filesystem::path(document.file()).filename().string();
    throw UserError(document.where(), "is a " + std::string(name) + ", not a " + wanted,
                    std::string(place).ends_with(": ") ? place + file : place);
  }
}

}  // namespace lockstep
