/// Hand-written PTX on machines of several shapes.  Each program leaves a result that only a
/// machine whose ordering is right can leave; what ordering is asked for stands in the kernel.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lockstep::testing {

inline const std::string module_head = ".version 7.8\n.target sm_80\n.address_size 64\n";

/// A kernel of (data, flag, out) with registers; %rd1 to %rd3 are the three pointers.
std::string kernel(const std::string& name, const std::string& body);
std::string workload(const std::string& launches, unsigned words = 16384);
std::string launch(const std::string& name, unsigned blocks, unsigned threads);

/// Runs on machines that differ in every latency and queue, and in the number of SMs.
void expect_one_result(const std::string& ptx, const std::string& steps, bool needs_two_sms = true,
                       const std::vector<std::string>& more = {});

}  // namespace lockstep::testing
