#include "models/workload/step_reader.hpp"

#include <algorithm>
#include <iterator>

#include "core/parameters/suggest.hpp"
#include "models/workload/collective.hpp"
#include "models/workload/named_values.hpp"
#include "models/workload/recording/recording.hpp"
#include "models/workload/required_key.hpp"
#include "models/workload/step_keys.hpp"

namespace lockstep {

namespace {

class StepReader {
 public:
  explicit StepReader(const Workload& workload) : workload_(workload) {}

  std::vector<Step> read(const Node& list) const {
    std::vector<Step> steps;
    for (const Node& item : list.items()) {
      if (!item.is_map() || !item.has("collective")) {
        add(read_step(item), steps);
        continue;
      }
      if (item.entries().size() != 1)
        throw item.error("a step is one entry", "write each as its own line, as - read: c");
      std::vector<Step> expanded = expand_collective(item.at("collective"), workload_);
      std::move(expanded.begin(), expanded.end(), std::back_inserter(steps));
    }
    return steps;
  }

 private:
  using Read = void (StepReader::*)(const Node&, Step&) const;
  struct Word {
    const char* name;
    Step::Kind kind;
    Read read;
  };

  /// Adds a step; for copies of a buffer that is not copied, the steps that such a program makes
  /// instead.
  void add(Step step, std::vector<Step>& steps) const {
    const bool is_copy = step.kind == Step::Kind::copy;
    const bool stores = step.kind == Step::Kind::fill || step.kind == Step::Kind::write;
    if ((!is_copy && !stores) || workload_.buffers[step.buffer].copied)
      return steps.push_back(std::move(step));
    Step wait;
    wait.kind = Step::Kind::synchronize;
    wait.where = step.where;
    wait.stream = step.stream;
    wait.has_stream = step.has_stream;
    steps.push_back(std::move(wait));
    if (is_copy && step.to_gpu && !step.data) return;
    if (is_copy) step.kind = step.to_gpu ? Step::Kind::write : Step::Kind::read;
    if (step.kind == Step::Kind::read) step.data.reset();
    step.has_stream = false;
    step.stream = 0;
    steps.push_back(std::move(step));
  }

  Step read_step(const Node& item) const {
    static const Word words[] = {
        {"copy", Step::Kind::copy, &StepReader::copy},
        {"launch", Step::Kind::launch, &StepReader::launch},
        {"synchronize", Step::Kind::synchronize, &StepReader::synchronize},
        {"prefetch", Step::Kind::prefetch, &StepReader::prefetch},
        {"read", Step::Kind::read, &StepReader::touch},
        {"write", Step::Kind::write, &StepReader::write},
        {"fill", Step::Kind::fill, &StepReader::fill},
        {"save", Step::Kind::save, &StepReader::keep},
        {"delay", Step::Kind::delay, &StepReader::delay},
        {"advise", Step::Kind::advise, &StepReader::advise},
        {"free", Step::Kind::free, &StepReader::release},
        {"swap", Step::Kind::swap, &StepReader::swap},
        {"repeat", Step::Kind::repeat_times, &StepReader::repeat},
    };
    Step step;
    step.where = item.where();
    std::string name;
    Node argument;
    if (item.is_scalar()) {
      name = item.text();
    } else {
      const auto entries = item.entries();
      if (entries.size() != 1)
        throw item.error("a step is one entry", "write each as its own line, as - read: c");
      name = entries.front().first;
      argument = entries.front().second;
    }
    for (const Word& word : words) {
      if (name != word.name) continue;
      if (!argument.exists() && word.kind != Step::Kind::synchronize) {
        throw item.error("step " + name + " needs an argument",
                         "write - " + name + ": ..., see docs/workloads.md");
      }
      step.kind = word.kind;
      (this->*word.read)(argument, step);
      return step;
    }
    std::vector<std::string> known;
    for (const ParameterField& field : schema_of<StepKeys>().fields()) known.push_back(field.key);
    throw item.error("no step is called \"" + name + "\"", suggest(name, known));
  }

  int find_buffer(const std::string& name) const {
    for (std::size_t i = 0; i < workload_.buffers.size(); ++i) {
      if (workload_.buffers[i].name == name) return static_cast<int>(i);
    }
    return -1;
  }

  std::uint32_t buffer(const Node& node) const { return buffer_index(node, workload_.buffers); }

  static Expression optional(const Node& node) {
    return node.exists() ? Expression(node) : Expression();
  }

  static void stream(const Node& node, Step& step) {
    if (!node.exists()) return;
    step.stream = stream_number(node);
    step.has_stream = true;
  }

  static bool direction(const Node& node, const char* gpu) {
    if (node.text() == gpu) return true;
    if (node.text() == "host") return false;
    throw node.error("no place is called \"" + node.text() + "\"", std::string(gpu) + " or host");
  }

  void copy(const Node& map, Step& step) const {
    const auto keys = read_parameters<CopyKeys>(map);
    step.buffer = buffer(required_key(map, keys.buffer, "buffer"));
    const Buffer& copied = workload_.buffers[step.buffer];
    if (copied.memory != MemoryKind::device && copied.copied) {
      throw keys.buffer.error("only device buffers are copied",
                              "managed and pinned ones need no copy: take the step out, or "
                              "give the buffer copied: false");
    }
    if (keys.into.exists()) {
      into(keys, step);
    } else {
      if (keys.at.exists()) throw keys.at.error("is for copies to another GPU", "write into: NAME");
      step.to_gpu = direction(required_key(map, keys.to, "to"), "device");
    }
    part(keys, step);
    recorded(keys.recorded, step);
    stream(keys.stream, step);
    if (keys.wait.exists()) step.has_stream = !keys.wait.boolean();
  }

  /// Reads a copy from the buffer to one on another GPU.
  void into(const CopyKeys& keys, Step& step) const {
    step.kind = Step::Kind::peer_copy;
    step.other = buffer(keys.into);
    step.other_offset = optional(keys.at);
    const Buffer &from = workload_.buffers[step.buffer], &to = workload_.buffers[step.other];
    if (keys.to.exists())
      throw keys.to.error("to and into both say where the copy goes", "leave one of them out");
    if (keys.recorded.exists())
      throw keys.recorded.error("is for copies from and to the host", "leave it out");
    if (from.memory != MemoryKind::device || to.memory != MemoryKind::device)
      throw keys.into.error("copies between GPUs are of device buffers",
                            "make both memory: device");
    if (from.type != to.type)
      throw keys.into.error("buffer " + to.name + " has elements of another type than " + from.name,
                            "give both one type");
    if (from.gpu == to.gpu)
      throw keys.into.error(
          "buffers " + from.name + " and " + to.name + " lie on the same GPU of the tenant",
          "give one of them gpu: " + std::to_string(from.gpu + 1) + ", or copy with a kernel");
  }

  void launch(const Node& map, Step& step) const {
    const auto keys = read_parameters<LaunchKeys>(map);
    step.kernel = required_key(map, keys.kernel, "kernel").text();
    dimensions(required_key(map, keys.grid, "grid"), step.grid);
    dimensions(required_key(map, keys.block, "block"), step.block);
    step.shared = optional(keys.shared);
    step.registers = optional(keys.registers);
    if (keys.cluster.exists()) dimensions(keys.cluster, step.cluster);
    if (keys.non_portable_cluster.exists())
      step.takes_non_portable_cluster = keys.non_portable_cluster.boolean();
    stream(keys.stream, step);
    if (keys.programmatic.exists()) step.is_programmatic = keys.programmatic.boolean();
    if (keys.gpu.exists())
      step.gpu = static_cast<std::uint32_t>(
          Expression(keys.gpu).evaluate_integer(workload_.parameters, 0, most_gpus_of_tenant - 1));
    if (!keys.arguments.exists()) return;
    for (const Node& item : keys.arguments.items()) step.arguments.push_back(argument(item));
  }

  /// Reads a buffer, a number, or a list of them.
  Step::Argument argument(const Node& item) const {
    Step::Argument argument;
    if (item.is_sequence()) {
      argument.expression = Expression(item.to_flow(), item.where());
      for (const Node& word : item.items()) {
        if (word.is_sequence()) throw word.error("a list in a list", "write all words in one");
        argument.words.push_back(this->argument(word));
      }
      if (argument.words.empty()) throw item.error("the list is empty", "leave the list out");
      return argument;
    }
    argument.expression = Expression(item);
    const int index = find_buffer(item.text());
    argument.is_buffer = index >= 0 && !item.is_quoted();
    argument.buffer = argument.is_buffer ? static_cast<std::uint32_t>(index) : 0;
    return argument;
  }

  static void dimensions(const Node& list, std::array<Expression, 3>& target) {
    const std::vector<Node> items = list.is_scalar() ? std::vector<Node>{list} : list.items();
    if (items.empty() || items.size() > 3)
      throw list.error("needs one to three sizes", "write [x, y, z]");
    for (std::size_t i = 0; i < items.size(); ++i) target[i] = Expression(items[i]);
  }

  void synchronize(const Node& argument, Step& step) const {
    if (argument.exists() && argument.is_map())
      stream(read_parameters<SynchronizeKeys>(argument).stream, step);
  }

  void prefetch(const Node& map, Step& step) const {
    const auto keys = read_parameters<PrefetchKeys>(map);
    step.buffer = buffer(required_key(map, keys.buffer, "buffer"));
    if (workload_.buffers[step.buffer].memory != MemoryKind::managed) {
      throw keys.buffer.error("only managed buffers are prefetched",
                              "make it memory: managed, or copy it");
    }
    step.to_gpu = direction(required_key(map, keys.to, "to"), "gpu");
    part(keys, step);
    stream(keys.stream, step);
  }

  void advise(const Node& map, Step& step) const {
    const auto keys = read_parameters<AdviseKeys>(map);
    step.buffer = buffer(required_key(map, keys.buffer, "buffer"));
    if (workload_.buffers[step.buffer].memory != MemoryKind::managed) {
      throw keys.buffer.error("only managed buffers take advice", "make it memory: managed");
    }
    if (const Node& place = keys.preferred; place.exists()) {
      const bool gpu = place.text() == "gpu", host = place.text() == "host";
      if (!gpu && !host && place.text() != "none") {
        throw place.error("no place is called \"" + place.text() + "\"", "gpu, host or none");
      }
      step.preferred = gpu    ? PreferredPlace::gpu
                       : host ? PreferredPlace::host
                              : PreferredPlace::none;
    }
    if (keys.read_mostly.exists()) step.read_mostly = keys.read_mostly.boolean();
    if (!step.preferred && !step.read_mostly) {
      throw map.error("advise says nothing",
                      "add preferred: gpu, host or none; or read_mostly: true or false");
    }
  }

  template <class Keys>
  static void part(const Keys& keys, Step& step) {
    step.offset = optional(keys.offset);
    step.count = optional(keys.count);
  }

  /// Takes the recorded data of a step: the content of a copy or of what the CPU writes, or the
  /// bytes that a copy to the host brought.
  void recorded(const Node& number, Step& step) const {
    if (!number.exists()) return;
    if (!workload_.recording)
      throw number.error("this program has no recording",
                         "write program: {recording: program.h5, steps: [...]}");
    step.data = workload_.recording->data_of(number.unsigned_integer());
    if (step.data) return;
    throw number.error("step " + number.text() + " of the recording has no data, or is not there",
                       "name a step that copies or writes, counted from 0");
  }

  void keep(const Node& name, Step& step) const { step.buffer = buffer(name); }

  /// Reads a buffer, or part of one.
  void touch(const Node& node, Step& step) const {
    if (!node.is_map()) return keep(node, step);
    const auto keys = read_parameters<TouchKeys>(node);
    step.buffer = buffer(required_key(node, keys.buffer, "buffer"));
    part(keys, step);
  }

  void write(const Node& node, Step& step) const {
    if (!node.is_map()) return keep(node, step);
    const auto keys = read_parameters<WriteKeys>(node);
    step.buffer = buffer(required_key(node, keys.buffer, "buffer"));
    part(keys, step);
    recorded(keys.recorded, step);
  }

  void release(const Node& node, Step& step) const {
    touch(node, step);
    if (!node.is_map()) return;
    step.is_part = true;
    if (workload_.buffers[step.buffer].memory == MemoryKind::pinned)
      throw node.at("buffer").error("no part of a pinned buffer can be freed",
                                    "free all of it, or make it a device or managed buffer");
  }

  void fill(const Node& map, Step& step) const {
    const auto keys = read_parameters<FillKeys>(map);
    step.buffer = buffer(required_key(map, keys.buffer, "buffer"));
    step.value = Expression(required_key(map, keys.value, "value"));
  }

  void delay(const Node& node, Step& step) const { step.duration = node.time(); }

  void swap(const Node& pair, Step& step) const {
    if (pair.size() != 2) throw pair.error("swap takes two buffers", "write [a, b]");
    step.buffer = buffer(pair.item(0));
    step.other = buffer(pair.item(1));
    const Buffer& a = workload_.buffers[step.buffer];
    const Buffer& b = workload_.buffers[step.other];
    if (a.type != b.type || a.count != b.count || a.memory != b.memory) {
      throw pair.error("buffers " + a.name + " and " + b.name + " differ in type, count or memory",
                       "only equal buffers can be swapped");
    }
  }

  void repeat(const Node& map, Step& step) const {
    const auto keys = read_parameters<RepeatKeys>(map);
    if (keys.counter.exists()) {
      step.counter = keys.counter.text();
      require_identifier(step.counter, keys.counter);
    }
    if (keys.times.exists() == keys.until.exists())
      throw map.error("repeat needs either times or until", "write one of them");
    if (keys.times.exists()) {
      step.times = Expression(keys.times);
    } else {
      step.kind = Step::Kind::repeat_until;
      const auto until = read_parameters<UntilKeys>(keys.until);
      step.buffer = buffer(required_key(keys.until, until.buffer, "buffer"));
      step.index = Expression(required_key(keys.until, until.index, "index"));
      step.equals = Expression(required_key(keys.until, until.equals, "equals"));
    }
    step.body = read(required_key(map, keys.program, "program"));
    if (step.body.empty())
      throw keys.program.error("a loop needs a step", "add one, or leave the loop out");
  }

  const Workload& workload_;
};

}  // namespace

std::vector<Step> read_steps(const Node& list, const Workload& workload) {
  return StepReader(workload).read(list);
}

}  // namespace lockstep
