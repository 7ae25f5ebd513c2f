#include "jobs/run/check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error/error.hpp"
#include "jobs/supervise/memory_left.hpp"
#include "models/gpu/left_images.hpp"
#include "models/reference/functional_run.hpp"
#include "models/reference/unwritten_reads.hpp"

namespace lockstep {

namespace {

/// Compares lines that a CPU core read with the lines that it had written.
void check_core(const Tenant& tenant, const TenantRun& run, CheckResult& result) {
  if (const auto& misread = run.misread()) {
    result.passed = false;
    result.text += fmt::format(
        "check failed: {}: the line at {:#x} of its memory does not hold what it wrote there\n",
        tenant.name, *misread);
  } else {
    result.text += fmt::format("check passed: {}, {} lines that it read until it was measured\n",
                               tenant.name, run.compared());
  }
}

/// Returns a note on a kernel that waits for a kernel of another GPU: it makes no progress where
/// kernels run one after the other.
std::string note_of_order(const Tenant& tenant, const std::string& mistake) {
  const bool waits = mistake.find("waits for what no other thread does") != std::string::npos;
  if (!waits || tenant.members() < 2) return "";
  return ", or for a kernel of another GPU: --check computes the kernels of all GPUs one after the "
         "other; run it without --check";
}

std::string passed_text(const std::string& tenant, std::size_t compared, std::size_t left_out) {
  if (compared == 0) {
    return fmt::format("check of {}: no buffer was compared, {}\n", tenant,
                       left_out == 0 ? "since it has none" : "all have `check: false`");
  }
  return fmt::format(
      "check passed: {}, {} buffer{}{}\n", tenant, compared, compared == 1 ? "" : "s",
      left_out == 0 ? "" : fmt::format(" ({} not compared: `check: false`)", left_out));
}

/// Compares a run of the tenant's program in the interpreter with the buffers that the program left
/// on the machine. Throws UserError for mistakes that only the interpreter sees, such as an access
/// just behind a buffer.
void check_tenant(const Tenant& tenant, const Machine& machine, std::size_t index, TenantRun& run,
                  const std::function<void()>& look, CheckResult& result) {
  const SmParameters& sm = machine.place_of(index).site->parameters().gpu.sm;
  FunctionalOptions options;
  options.machine = {.sms = sm.count, .warps_of_an_sm = sm.warps, .turn = sm.turn_of_paths()};
  options.look = look;
  const FunctionalResult expected =
      run_functionally(tenant.name, tenant.workload, machine.module_of_tenant(index), options);
  for (const std::string& warning : expected.warnings)
    result.text += fmt::format("check of {}: {}\n", tenant.name, warning);
  const TenantImages got = left_images(tenant.workload, run);
  std::size_t compared = 0;
  for (std::size_t b = 0; b < got.size(); ++b) {
    const Buffer& buffer = tenant.workload.buffers[b];
    if (!buffer.check) continue;
    ++compared;
    result.digests.push_back(
        {tenant.name, buffer.name, digest_of(got[b].device ? *got[b].device : got[b].host, look)});
  }
  const auto mismatch = find_mismatch(tenant.name, tenant.workload, expected.images(), got, look);
  const TenantStreams& streams = run.streams();
  const std::optional<std::string> unexpected =
      streams.unexpected() ? streams.unexpected() : expected.unexpected;
  if (unexpected) {
    result.passed = false;
    result.text += fmt::format("check failed: {}: {}\n", tenant.name, *unexpected);
  } else if (streams.compared() > 0) {
    result.text +=
        fmt::format("check passed: {}, {} copies to the host brought what they brought {}",
                    tenant.name, streams.compared(), "when they were recorded\n");
  }
  result.passed = result.passed && !mismatch;
  result.text += mismatch ? "check failed: " + mismatch->text() + "\n"
                          : passed_text(tenant.name, compared, got.size() - compared);
}

/// Compares foreign pages with their content before the run.
void check_foreign_pages(const HostPart& host, CheckResult& result) {
  const ForeignInspection& foreign = host.foreign();
  if (host.driver().page_manager().foreign_pages().empty()) return;
  if (!foreign.has_begun() || !host.finished()) {
    result.text += "check of foreign pages: left out, since the run ended before its tenants\n";
  } else if (const auto damaged = foreign.damaged()) {
    result.passed = false;
    result.text += fmt::format(
        "check failed: foreign page {} does not hold what it held before the run\n", *damaged);
  } else {
    result.text += fmt::format("check passed: {} foreign pages\n", foreign.pages());
  }
}

/// Thrown to leave a check that a signal has cut short.
struct CutShort {};

CheckResult check_all(const Scenario& scenario, const Machine& machine, Host& host,
                      const std::function<void()>& look) {
  CheckResult result;
  for (std::size_t t = 0; t < scenario.tenants.size(); ++t) {
    const Tenant& tenant = scenario.tenants[t];
    if (tenant.cpu) {
      check_core(tenant, host.tenant(t), result);
      continue;
    }
    look();
    if (host.tenant(t).failure()) {
      result.text += fmt::format("check of {}: left out, since it was ended\n", tenant.name);
      continue;
    }
    if (!host.tenant(t).first_round_over() && host.tenant(t).is_stopped()) {
      result.text += fmt::format(
          "check of {}: left out, since it was stopped before its program ended\n", tenant.name);
      continue;
    }
    if (!host.tenant(t).first_round_over()) {
      result.passed = false;
      result.text +=
          fmt::format("check of {}: it had not finished when the run ended\n", tenant.name);
      continue;
    }
    if (host.inspects()) {
      result.text += fmt::format(
          "check of {}: left out, since the run was stopped before its buffers had been read\n",
          tenant.name);
      continue;
    }
    try {
      check_tenant(tenant, machine, t, host.tenant(t), look, result);
    } catch (const UserError& mistake) {
      result.passed = false;
      result.text += fmt::format("check failed: tenant {}: {}{}\n", tenant.name, mistake.what(),
                                 note_of_order(tenant, mistake.what()));
    }
  }
  for (std::size_t part = 0; part < host.part_count(); ++part) {
    check_foreign_pages(host.part(part), result);
    const std::uint64_t taken = host.part(part).driver().taken_bytes();
    LOCKSTEP_CHECK(
        !host.finished() || taken == 0,
        "after the last tenant " + std::to_string(taken) + " bytes of GPU memory are still taken");
  }
  return result;
}

}  // namespace

std::optional<CheckResult> check_tenants(const Scenario& scenario, const Machine& machine,
                                         Host& host, const std::function<bool()>& is_unwanted) {
  const auto look = [&] {
    if (is_unwanted()) throw CutShort();
  };
  try {
    return check_all(scenario, machine, host, look);
  } catch (const CutShort&) {
    return std::nullopt;
  }
}

std::string note_of_check(const Scenario& scenario) {
  std::uint64_t kept = 0, most = 0, all = 0;
  for (const Tenant& tenant : scenario.tenants) {
    if (tenant.cpu) continue;
    std::uint64_t computed = 0;
    for (const Buffer& buffer : tenant.workload.buffers) {
      const bool is_device = buffer.memory == MemoryKind::device;
      all += buffer.bytes();
      computed += (is_device ? 2 : 1) * buffer.bytes();
      if (buffer.check && buffer.memory != MemoryKind::pinned) kept += buffer.bytes();
    }
    most = std::max(most, computed);
  }
  // The machine holds touched data at most twice, except data that the GPU does not have at the
  // end.
  const std::uint64_t machine = 2 * all, checked = std::max(machine + kept, all + kept + most);
  const std::uint64_t left = memory_left();
  if (checked <= left) return "";
  return fmt::format(
      "note: if all {} MiB of buffers are touched, the run takes {} MiB with --check and {} MiB "
      "without, and {} MiB are left - `check: false` leaves out what the GPU has of a buffer",
      all >> 20, checked >> 20, machine >> 20, left >> 20);
}

std::vector<std::string> find_forgotten_copies(const Scenario& scenario, const Machine& machine) {
  std::vector<std::string> lines;
  for (std::size_t t = 0; t < scenario.tenants.size(); ++t) {
    const Tenant& tenant = scenario.tenants[t];
    if (tenant.cpu) continue;
    for (const std::string& text :
         find_unwritten_reads(tenant.workload, machine.module_of_tenant(t)))
      lines.push_back(fmt::format("warning: tenant {}: {}", tenant.name, text));
  }
  return lines;
}

void write_digests(const CheckResult& check, RunOutput& file) {
  for (const CheckResult::Digest& digest : check.digests) {
    file.write_final(fmt::format("digests/{}/{}", digest.tenant, digest.buffer), "hash",
                     "FNV-1a of the buffer's final bytes", digest.value);
  }
}

}  // namespace lockstep
