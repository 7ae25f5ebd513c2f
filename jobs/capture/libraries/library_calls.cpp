#include "jobs/capture/libraries/library_calls.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): a file's bytes with a zero behind them
#define LOCKSTEP_FILE(name, file)                                                              \
  extern "C" const char name[];                                                                \
  __asm__(".section .rodata\n.hidden " #name "\n.globl " #name "\n" #name ":\n.incbin \"" file \
          "\"\n.byte 0\n.previous\n");
LOCKSTEP_FILE(lockstep_gemm_fma, LOCKSTEP_LIBRARIES_FOLDER "/gemm_fma.ptx")
LOCKSTEP_FILE(lockstep_gemm_mma, LOCKSTEP_LIBRARIES_FOLDER "/gemm_mma.ptx")
LOCKSTEP_FILE(lockstep_bias_gradient, LOCKSTEP_LIBRARIES_FOLDER "/bias_gradient.ptx")

namespace lockstep::capture {
namespace {

enum ModuleNumber : int { fma = 0, mma = 1, gradients = 2 };

/// The driver's entries, of the libcuda.so.1 that `lockstep capture` gives the program.
class Driver {
 public:
  Driver() {
    void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
    const auto find = [&](auto& entry, const char* name) {
      using Entry = std::remove_reference_t<decltype(entry)>;
      entry = library ? reinterpret_cast<Entry>(::dlsym(library, name)) : nullptr;
      if (entry) return;
      std::fprintf(stderr, "lockstep capture: no %s - start the program below `lockstep capture`\n",
                   name);
      std::_Exit(1);
    };
    find(retain_, "cuDevicePrimaryCtxRetain");
    find(current_, "cuCtxGetCurrent");
    find(set_current_, "cuCtxSetCurrent");
    find(attribute_, "cuDeviceGetAttribute");
    find(load_, "cuModuleLoadData");
    find(function_, "cuModuleGetFunction");
    find(launch_, "cuLaunchKernel");
  }

  /// Returns the kernel, whose module is loaded when its first kernel is asked for.
  void* kernel(const std::string& name, ModuleNumber number) {
    static const char* const texts[] = {lockstep_gemm_fma, lockstep_gemm_mma,
                                        lockstep_bias_gradient};
    const std::lock_guard guard(mutex_);
    const auto known = kernels_.find(name);
    if (known != kernels_.end()) return known->second;
    void*& module = modules_[number];
    if (!module && load_(&module, texts[number]) != 0) return nullptr;
    void* found = nullptr;
    if (function_(&found, module, name.c_str()) != 0) return nullptr;
    return kernels_[name] = found;
  }
  bool has_matrices() {
    int major = 0;
    constexpr int compute_capability_major = 75;
    return attribute_(&major, compute_capability_major, 0) == 0 && major >= 8;
  }
  void make_current() {
    void* context = nullptr;
    if (current_(&context) == 0 && context) return;
    if (retain_(&context, 0) == 0) set_current_(context);
  }
  bool launch(void* kernel, const unsigned (&grid)[3], unsigned threads, void* stream,
              void* parameter) {
    void* parameters[] = {parameter};
    return launch_(kernel, grid[0], grid[1], grid[2], threads, 1, 1, 0, stream, parameters,
                   nullptr) == 0;
  }

 private:
  int (*retain_)(void**, int);
  int (*current_)(void**);
  int (*set_current_)(void*);
  int (*attribute_)(int*, int, int);
  int (*load_)(void**, const void*);
  int (*function_)(void**, void*, const char*);
  int (*launch_)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                 void**, void**);
  std::mutex mutex_;
  void* modules_[3] = {};
  std::map<std::string, void*> kernels_;
};

Driver& driver() {
  static Driver only;
  return only;
}

const char* name_of(Element element) {
  static const char* const names[] = {"f32", "f16", "bf16", "tf32"};
  return names[static_cast<int>(element)];
}
constexpr unsigned tile = 64, most_of_a_grid = 65535;
unsigned tiles(int elements) {
  return (static_cast<unsigned>(elements) + tile - 1) / tile;
}
/// Returns whether 16 bytes that begin every `column` and every `stride` elements are aligned.
bool is_aligned(const void* from, int column, std::int64_t stride, Element element) {
  const std::int64_t bytes = element == Element::f16 || element == Element::bf16 ? 2 : 4;
  return (reinterpret_cast<std::uintptr_t>(from) | static_cast<std::uint64_t>(column * bytes) |
          static_cast<std::uint64_t>(stride * bytes)) %
             16 ==
         0;
}

}  // namespace
}  // namespace lockstep::capture

using namespace lockstep::capture;

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define LOCKSTEP_SHARED extern "C" __attribute__((visibility("default")))

LOCKSTEP_SHARED bool lockstep_launch_gemm(const Gemm* gemm, Element from, Element to, int batch,
                                          void* stream) {
  if (gemm->m == 0 || gemm->n == 0 || batch == 0) return true;
  driver().make_current();
  const bool matrices = from != Element::f32 && driver().has_matrices();
  if (!matrices && from == Element::tf32) from = Element::f32;
  const std::string name =
      std::string(matrices ? "gemm_mma_" : "gemm_fma_") + name_of(from) + "_" + name_of(to);
  void* const kernel = driver().kernel(name, matrices ? mma : fma);
  const unsigned grid[3] = {tiles(gemm->m), tiles(gemm->n), static_cast<unsigned>(batch)};
  if (!kernel || grid[1] > most_of_a_grid || grid[2] > most_of_a_grid) return false;
  Gemm parameter = *gemm;
  parameter.a_aligned = is_aligned(gemm->a, gemm->a_column, gemm->a_stride, from) ? 1 : 0;
  parameter.b_aligned = is_aligned(gemm->b, gemm->b_column, gemm->b_stride, from) ? 1 : 0;
  return driver().launch(kernel, grid, matrices ? 128 : 256, stream, &parameter);
}

LOCKSTEP_SHARED bool lockstep_launch_bias_gradient(const BiasGradient* gradient, int batch,
                                                   void* stream) {
  if (gradient->sums == 0 || batch == 0) return true;
  driver().make_current();
  void* const kernel = driver().kernel("bias_gradient", gradients);
  const unsigned grid[3] = {(static_cast<unsigned>(gradient->sums) + 31) / 32,
                            static_cast<unsigned>(batch), 1};
  if (!kernel || grid[1] > most_of_a_grid) return false;
  BiasGradient parameter = *gradient;
  return driver().launch(kernel, grid, 256, stream, &parameter);
}

LOCKSTEP_SHARED void lockstep_say_lacking(const char* entry, const char* what, const char* advice) {
  std::fprintf(stderr, "lockstep capture: %s: %s - %s\n", entry, what, advice);
}
