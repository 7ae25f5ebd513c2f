#include "jobs/capture/libraries/library_calls.hpp"

#include <dlfcn.h>

#include <array>
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
LOCKSTEP_FILE(lockstep_gemm_wgmma, LOCKSTEP_LIBRARIES_FOLDER "/gemm_wgmma.ptx")
LOCKSTEP_FILE(lockstep_bias_gradient, LOCKSTEP_LIBRARIES_FOLDER "/bias_gradient.ptx")

namespace lockstep::capture {
namespace {

enum ModuleNumber : int { fma = 0, mma = 1, gradients = 2, wgmma = 3 };

/// Grid, threads and dynamic shared memory of a launch.
struct Launch {
  unsigned grid[3], threads, shared_bytes;
};
/// Tensor map of an operand.
struct alignas(64) OperandMap {
  std::array<std::uint32_t, 32> words;
};

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
    find(allow_, "cuFuncSetAttribute");
    find(encode_, "cuTensorMapEncodeTiled");
  }

  /// Returns the kernel; its module is loaded when its first kernel is requested.
  void* kernel(const std::string& name, ModuleNumber number) {
    static const char* const texts[] = {lockstep_gemm_fma, lockstep_gemm_mma,
                                        lockstep_bias_gradient, lockstep_gemm_wgmma};
    const std::lock_guard guard(mutex_);
    const auto known = kernels_.find(name);
    if (known != kernels_.end()) return known->second;
    void*& module = modules_[number];
    if (!module && load_(&module, texts[number]) != 0) return nullptr;
    void* found = nullptr;
    if (function_(&found, module, name.c_str()) != 0) return nullptr;
    return kernels_[name] = found;
  }
  /// Returns the first number of the GPU's compute capability.
  int generation() {
    int major = 0;
    constexpr int compute_capability_major = 75;
    return attribute_(&major, compute_capability_major, 0) == 0 ? major : 0;
  }
  void make_current() {
    void* context = nullptr;
    if (current_(&context) == 0 && context) return;
    if (retain_(&context, 0) == 0) set_current_(context);
  }
  /// Makes the tensor map of a matrix of f16 or bf16 with `columns` columns of `along` contiguous
  /// numbers, for tiles of 64 numbers and `high` columns.
  bool encode(OperandMap& map, Element element, const void* from, std::array<int, 3> sizes,
              int column, std::int64_t stride, unsigned high) {
    const auto as_size = [](auto number) { return static_cast<std::uint64_t>(number); };
    constexpr int f16 = 6, bf16 = 9, swizzle_128_bytes = 3, promotion_128_bytes = 2;
    const std::uint64_t extents[] = {as_size(sizes[0]), as_size(sizes[1]), as_size(sizes[2])};
    const std::uint64_t strides[] = {2 * as_size(column),
                                     2 * as_size(sizes[2] == 1 ? column : stride)};
    const std::uint32_t box[] = {64, high, 1}, steps[] = {1, 1, 1};
    return encode_(&map, element == Element::f16 ? f16 : bf16, 3, const_cast<void*>(from), extents,
                   strides, box, steps, 0, swizzle_128_bytes, promotion_128_bytes, 0) == 0;
  }
  bool launch(void* kernel, const Launch& l, void* stream, void** parameters) {
    constexpr int most_dynamic_shared_bytes = 8;
    if (l.shared_bytes != 0 &&
        allow_(kernel, most_dynamic_shared_bytes, static_cast<int>(l.shared_bytes)) != 0)
      return false;
    return launch_(kernel, l.grid[0], l.grid[1], l.grid[2], l.threads, 1, 1, l.shared_bytes, stream,
                   parameters, nullptr) == 0;
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
  int (*allow_)(void*, int, int);
  int (*encode_)(void*, int, unsigned, void*, const std::uint64_t*, const std::uint64_t*,
                 const std::uint32_t*, const std::uint32_t*, int, int, int, int);
  std::mutex mutex_;
  void* modules_[4] = {};
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
constexpr unsigned most_of_a_grid = 65535;
unsigned tiles(int elements, unsigned tile) {
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

/// Returns whether the product suits warp groups: on Hopper, with operands that can be copied as
/// tiles, and not much smaller than a tile.
bool is_for_warp_groups(const Gemm& g, Element from, int batch) {
  constexpr int hopper = 9, least = 64;
  return (from == Element::f16 || from == Element::bf16) && driver().generation() == hopper &&
         g.m >= least && g.n >= least && g.k >= least && g.a_aligned != 0 && g.b_aligned != 0 &&
         (batch == 1 || (g.a_stride > 0 && g.b_stride > 0));
}

bool launch_by_warp_groups(Gemm& g, Element from, Element to, int batch, void* stream) {
  constexpr unsigned side = 128, shared_bytes = 4 * 32768 + 1024;
  const std::string name = std::string("gemm_wgmma_") + name_of(from) + "_" + name_of(to);
  void* const kernel = driver().kernel(name, wgmma);
  const Launch launch{{tiles(g.m, side), tiles(g.n, side), static_cast<unsigned>(batch)},
                      2 * 128 + 32,
                      shared_bytes};
  if (!kernel || launch.grid[1] > most_of_a_grid || launch.grid[2] > most_of_a_grid) return false;
  // Contiguous numbers run along K (128 columns at once) or across it (64 of K at once).
  const auto encode = [&](OperandMap& map, const void* at, int across, bool along_k, int column,
                          std::int64_t stride) {
    const std::array<int, 3> sizes{along_k ? g.k : across, along_k ? across : g.k, batch};
    return driver().encode(map, from, at, sizes, column, stride, along_k ? 128 : 64);
  };
  OperandMap a, b;
  if (!encode(a, g.a, g.m, g.a_turned != 0, g.a_column, g.a_stride) ||
      !encode(b, g.b, g.n, g.b_turned == 0, g.b_column, g.b_stride))
    return false;
  void* parameters[] = {&g, &a, &b};
  return driver().launch(kernel, launch, stream, parameters);
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
  Gemm parameter = *gemm;
  parameter.a_aligned = is_aligned(gemm->a, gemm->a_column, gemm->a_stride, from) ? 1 : 0;
  parameter.b_aligned = is_aligned(gemm->b, gemm->b_column, gemm->b_stride, from) ? 1 : 0;
  if (is_for_warp_groups(parameter, from, batch))
    return launch_by_warp_groups(parameter, from, to, batch, stream);
  constexpr int ampere = 8;
  const bool matrices = from != Element::f32 && driver().generation() >= ampere;
  if (!matrices && from == Element::tf32) from = Element::f32;
  const std::string name =
      std::string(matrices ? "gemm_mma_" : "gemm_fma_") + name_of(from) + "_" + name_of(to);
  void* const kernel = driver().kernel(name, matrices ? mma : fma);
  const Launch launch{{tiles(gemm->m, 64), tiles(gemm->n, 64), static_cast<unsigned>(batch)},
                      matrices ? 128u : 256u,
                      0};
  if (!kernel || launch.grid[1] > most_of_a_grid || launch.grid[2] > most_of_a_grid) return false;
  void* parameters[] = {&parameter};
  return driver().launch(kernel, launch, stream, parameters);
}

LOCKSTEP_SHARED bool lockstep_launch_bias_gradient(const BiasGradient* gradient, int batch,
                                                   void* stream) {
  if (gradient->sums == 0 || batch == 0) return true;
  driver().make_current();
  void* const kernel = driver().kernel("bias_gradient", gradients);
  const Launch launch{{tiles(gradient->sums, 32), static_cast<unsigned>(batch), 1}, 256, 0};
  if (!kernel || launch.grid[1] > most_of_a_grid) return false;
  BiasGradient parameter = *gradient;
  void* parameters[] = {&parameter};
  return driver().launch(kernel, launch, stream, parameters);
}

LOCKSTEP_SHARED void lockstep_say_lacking(const char* entry, const char* what, const char* advice) {
  std::fprintf(stderr, "lockstep capture: %s: %s - %s\n", entry, what, advice);
}
