/// `lockstep capture`: runs a program on the functional interpreter and records its requests to the
/// GPU.
#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "core/error/error.hpp"
#include "core/parameters/document.hpp"
#include "jobs/capture/captured_program.hpp"
#include "jobs/capture/channel.hpp"
#include "jobs/capture/describe_recording.hpp"
#include "jobs/capture/workload_folder.hpp"
#include "jobs/options.hpp"

namespace lockstep {
namespace {

using namespace capture;

GpuParameters read_gpu(const std::string& name) {
  const Node root = parse_document("gpu: \"" + name + "\"\n", "--gpu");
  resolve_include_at(root, "gpu");
  return read_parameters<GpuParameters>(root.at("gpu"));
}

/// Receives the bytes behind a request as they come: a size that is only claimed takes no memory.
/// Returns false at the end of the channel.
bool receive_bytes(int socket, std::uint64_t count, std::vector<std::byte>& bytes) {
  constexpr std::uint64_t piece = std::uint64_t{64} << 20;
  bytes.clear();
  while (bytes.size() < count) {
    const std::uint64_t begin = bytes.size();
    bytes.resize(std::min(begin + piece, count));
    if (!receive_all(socket, bytes.data() + begin, bytes.size() - begin)) return false;
  }
  return true;
}

/// Serves all requests.  `host_time`: the time that the program computes between an answer and its
/// next request is recorded.
void serve_all(int socket, Session& session, bool host_time) {
  using Clock = std::chrono::steady_clock;
  Request request;
  std::vector<std::byte> bytes;
  Clock::time_point answered = Clock::now();
  while (receive_all(socket, &request, sizeof request)) {
    if (host_time && session.was_used())
      session.recorder().delay(
          std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - answered));
    const bool is_too_large = request.bytes > session.largest_request();
    if (!receive_bytes(socket, is_too_large ? 0 : request.bytes, bytes)) return;
    Session::Reply reply = session.serve(request, bytes);
    if (session.is_over()) return;
    reply.answer.bytes = reply.bytes.size();
    reply.answer.printed = reply.printed.size();
    // Timed before sending: the program may go on before this process does.
    answered = Clock::now();
    if (!send_all(socket, &reply.answer, sizeof reply.answer) ||
        !send_all(socket, reply.bytes.data(), reply.bytes.size()) ||
        !send_all(socket, reply.printed.data(), reply.printed.size()))
      return;
  }
}

/// Message of loaders and shells that cannot start a program.
constexpr const char* no_start = "ended with status 127";

std::string ending(int status) {
  if (WIFSIGNALED(status))
    return std::string("was ended by a signal: ") + ::strsignal(WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "" : fmt::format("ended with status {}", WEXITSTATUS(status));
}

UserError runtime_inside(const std::string& program, const std::string& end) {
  return {program, "called no CUDA runtime of ours" + end,
          "build it with nvcc -cudart shared (nvcc's default puts the runtime inside)"};
}

/// Returns why a program asked nothing of the GPU, as far as that can be seen.
UserError unused(const std::string& program, const Session& session, const std::string& end) {
  const std::string and_end = end.empty() ? "" : ", and " + end;
  if (session.has_runtime_inside() || !session.memory().has_driver_mark())
    return runtime_inside(program, and_end);
  return {
      program, "loaded the CUDA driver's library of ours and asked nothing of the GPU" + and_end,
      "see what the program says: docs/capture.md tells what there is of the driver's interface"};
}

void print_summary(Session& session, const std::string& output) {
  const RecordingWriter& writer = session.recorder().writer();
  const double seconds = std::max(session.execution_seconds(), 1e-9);
  std::fprintf(
      stderr, "%s: %llu launches, %llu steps, %s of data\n", output.c_str(),
      static_cast<unsigned long long>(writer.launches()),
      static_cast<unsigned long long>(writer.steps()),
      fmt::format("{} bytes ({} stored)", writer.data_bytes(), writer.stored_bytes()).c_str());
  std::fprintf(stderr, "%s: %.3f million warp instructions in %.2f s of execution\n",
               output.c_str(), static_cast<double>(session.warp_instructions()) / 1e6, seconds);
  if (session.races())
    std::fprintf(stderr, "%s: %s\n", output.c_str(), session.races()->summary().c_str());
  if (session.time_questions() > 0)
    std::fprintf(stderr,
                 "%s: the program asked %llu times how long something took; times are made up of "
                 "work, and its path is as recorded\n",
                 output.c_str(), static_cast<unsigned long long>(session.time_questions()));
}

}  // namespace

int capture_command(const CommandLine& line) {
  if (line.list) {
    std::fputs(unsupported_entries().c_str(), stdout);
    return exit_done;
  }
  std::string output = line.output;
  if (output.empty() || line.program.empty())
    throw UserError("capture", output.empty() ? "has no --output" : "has no program",
                    "write: lockstep capture --output X.workload -- ./program arguments");
  while (output.size() > 1 && output.back() == '/') output.pop_back();
  WorkloadFolder folder(output);
  const GpuParameters gpu = read_gpu(line.gpu);
  Session session(gpu, folder.recording_file(), line.strict, line.devices);
  if (line.races) session.find_races();
  CapturedProgram program(line.program, session.memory().file());
  std::signal(SIGPIPE, SIG_IGN);
  serve_all(program.socket(), session, line.host_time);
  if (session.is_over()) program.end();
  const std::string end = ending(program.wait());
  if (!session.was_used() && end == no_start)
    throw UserError(line.program[0], "could not start: a library that it needs is missing",
                    "see the loader's line above; the runtimes that are there are "
                    "libcudart.so.11.0, libcudart.so.12 and libcudart.so.13");
  if (!session.was_used() && !session.failure()) throw unused(line.program[0], session, end);
  if (session.has_runtime_inside())
    std::fprintf(stderr, "lockstep capture: %s\n", runtime_inside(line.program[0], "").what());
  std::string title = std::filesystem::path(line.program[0]).filename().string();
  for (std::size_t i = 1; i < line.program.size(); ++i) title += " " + line.program[i];
  folder.finish(session, title);
  print_summary(session, output);
  if (!end.empty() && !session.is_over())
    std::fprintf(stderr, "lockstep capture: %s %s; the recording has what it did until then\n",
                 line.program[0].c_str(), end.c_str());
  if (session.memory().has_child_mark() && !session.failure())
    std::fputs(
        "lockstep capture: more than one process of the program asked for the GPU, so the capture "
        "is refused\n",
        stderr);
  const bool is_whole = end.empty() && !session.failure() && !session.has_runtime_inside() &&
                        !session.memory().has_child_mark();
  return is_whole ? exit_done : exit_error;
}

}  // namespace lockstep
