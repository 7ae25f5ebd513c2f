#include "core/output/reference.hpp"

namespace lockstep {
namespace {

constexpr const char* introduction = R"(# The output file

A run writes one HDF5 file. Everything outside `/run` is the same for the same scenario, whatever the number of threads
and ranks; `--check` adds digests of the buffers. `lockstep diff A.h5 B.h5` compares what both files have, and names the
first epoch, component and counter that differ. `lockstep run --config-of A.h5` repeats the run of a file to the bit.
Attribute `file version` of the root is raised when the layout changes; this page describes version 1.

Every program can read the file at any time after the start, also after a kill. It holds every epoch up to half a second
before, or up to ten seconds if writing epochs would otherwise take more than a hundredth of the time. `/kernels` has
the rows of the kernels that were over then, up to the first that was not. A running job is watched with `swmr=True`:

```python
import h5py
f = h5py.File("quickstart.h5", "r", libver="latest", swmr=True)
complete = len(f["epochs/time"])          # rows beyond this one are still being written
f["stats/sm/warp_instructions"][:complete].sum(axis=1)
```

At its end a run adds everything else to a copy, `quickstart.h5.finishing`, which then takes the name. A program that
watches the run sees the epochs to the last, and opens the file anew for the rest.

SIGTERM and SIGINT end a run at once, with a checkpoint, `quickstart.ckpt` (exit status 75 and 130). The file then holds
what has been up to that moment: a shorter last epoch, tables and totals. It has no `/final/end`, no buffers and nothing
of `--check`. `lockstep run ... --resume quickstart.ckpt` goes on in a new file. This file begins with the whole epochs
up to the checkpoint, and takes the name (docs/cluster.md).

Texts have a fixed length and decode as UTF-8. Times are integer femtoseconds.

## Always there

| path | shape | meaning |
|---|---|---|
| `/config` | text | the resolved configuration as YAML: every parameter with its unit |
| `/epochs/time` | [E] | end of each epoch, fs; an epoch in which no counter changed has no row |
| `/axes/tenants` | [tenants] | names of the tenants |
| `/axes/<kind>/instance` | [instances] | index of a component |
| `/axes/<kind>/<counter>_bins` | [bins] | least value of each bin of a histogram |
| `/axes/<kind>/<counter>_names` | [names] | what each entry of a set of counters counts |
| `/final/stats/<kind>/<counter>` | as below without E | what the whole run counted; of a gauge, its last level |
| `/final/digests/<tenant>/<buffer>` | one number | with `--check`: FNV-1a of the buffer's final bytes |
| `/buffers/<tenant>/<buffer>` | [count] | what a `save` step asked for; bf16 as u16 with an attribute `encoding` |
)";

std::string shape_text(const StatisticsField& field) {
  std::string text = "[E, instances";
  for (const StatisticsAxis& axis : field.axes) {
    switch (axis.kind) {
      case StatisticsAxis::Kind::tenants:
        text += ", tenants";
        break;
      case StatisticsAxis::Kind::bins:
        text += ", " + std::to_string(axis.size) + " bins";
        break;
      case StatisticsAxis::Kind::names:
        text += ", " + std::to_string(axis.size);
    }
  }
  return text + "]";
}

/// The names of a set of counters belong to its meaning.
std::string meaning(const StatisticsField& field) {
  std::string text = field.doc;
  for (const StatisticsAxis& axis : field.axes) {
    const char* separator = ": ";
    for (const std::string& name : axis.names) {
      text += separator + name;
      separator = ", ";
    }
  }
  return text;
}

std::string kind_section(const KindStatistics& kind) {
  std::string text = "\n### `/stats/" + kind.name + "`" +
                     (kind.when.empty() ? "" : " with " + kind.when) +
                     "\n\n| path | shape | kind | unit | meaning |\n";
  text += "|---|---|---|---|---|\n";
  for (const StatisticsField& field : kind.schema->fields()) {
    const bool is_counter = field.kind == StatisticsField::Kind::counter;
    text += "| `/stats/" + kind.name + "/" + field.name + "` | " + shape_text(field) + " | " +
            (is_counter ? "counter" : "gauge") + " | " + field.unit + " | " + meaning(field) +
            " |\n";
  }
  return text;
}

std::string table_section(const TableSchema& table) {
  std::string text = "\n### `" + table.path + "`\n\nTable: " + table.doc + ".\n\n";
  text += "| column | unit | meaning |\n|---|---|---|\n";
  for (const TableColumn& column : table.columns) {
    text += "| " + column.name + " | " + column.unit + " | " + column.doc + " |\n";
  }
  return text;
}

std::string values_section(const std::string& prefix, const std::vector<OutputValue>& values) {
  std::string text = "| name | unit | meaning |\n|---|---|---|\n";
  for (const OutputValue& value : values) {
    text += "| `" + prefix + value.name + "` | " + value.unit + " | " + value.doc + " |\n";
  }
  return text;
}

}  // namespace

std::string output_page(const OutputContents& contents) {
  std::string text = introduction;
  for (const OutputValue& one : contents.texts)
    text += "| `" + one.name + "` | text | " + one.doc + " |\n";
  text +=
      "\n## Statistics\n\nCounters hold the increment of the epoch, gauges the level at its end. ";
  text += "Attributes `unit`, `description`, `kind` and `axes` say what is here; dimension scales ";
  text += "name the entries of each axis.\n";
  text +=
      "\nA machine of several groups of components (GPUs) has `/stats/<group>/<kind>`, "
      "`/axes/<group>/...`, `/final/stats/<group>/<kind>` and `/interference/<group>/...` for "
      "each of them (`<group>` is gpu0, gpu1, ...), by the tenants of `/axes/<group>/tenants`.\n";
  for (const KindStatistics& kind : contents.kinds) {
    if (!kind.schema->fields().empty()) text += kind_section(kind);
  }
  text += "\n## Tables\n";
  for (const TableSchema* table : contents.tables) text += table_section(*table);
  text += "\n## Who waited behind whom\n\nOver the whole run, [victim, culprit].\n\n";
  text += values_section("/interference/", contents.delays);
  text += "\n## Final values\n\n" + values_section("/final/", contents.finals);
  text +=
      "\n## What may differ between runs of the same scenario\n\nAttributes of the group "
      "`/run`.\n\n";
  return text + values_section("", contents.run);
}

}  // namespace lockstep
