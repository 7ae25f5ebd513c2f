// Products with epilogues by cuBLASLt, compared with sums in double precision on the host.
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Case {
  cublasLtEpilogue_t epilogue;
  cublasOperation_t a, b;
  int m, n, k, batch;
  float alpha, beta;
  bool in_place, on_stack, a_by_rows;
};

template <class T>
T* on_device(const std::vector<T>& values) {
  void* memory = nullptr;
  cudaMalloc(&memory, values.size() * sizeof(T));
  cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return static_cast<T*>(memory);
}
template <class T>
std::vector<T> on_host(const std::vector<T>& like, const T* from) {
  std::vector<T> values(like.size());
  cudaMemcpy(values.data(), from, values.size() * sizeof(T), cudaMemcpyDeviceToHost);
  return values;
}
template <class T>
std::vector<T> some(long count) {
  std::vector<T> values(count);
  for (T& value : values) value = T(float(std::rand() % 17 - 8) / 8);
  return values;
}

double gelu(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}
double gelu_slope(double x) {
  const double h = 1e-5;
  return (gelu(x + h) - gelu(x - h)) / (2 * h);
}

bool near(const char* what, const Case& c, int type, double got, double wanted, double last) {
  if (std::fabs(got - wanted) <= last * (1 + std::fabs(wanted))) return true;
  std::printf("%s of epilogue %d, type %d, %d x %d x %d: %g, not %g\n", what, int(c.epilogue), type,
              c.m, c.n, c.k, got, wanted);
  return false;
}
bool has(const Case& c, int bit) {
  return (c.epilogue & bit) != 0;
}

struct Layout {
  cublasLtMatrixLayout_t layout = nullptr;
  cublasLtMatrixLayoutOpaque_t memory;
  bool made = false;
  Layout(bool on_stack, cudaDataType type, long rows, long columns, long distance, long stride,
         int batch)
      : made(!on_stack) {
    if (made)
      cublasLtMatrixLayoutCreate(&layout, type, rows, columns, distance);
    else
      cublasLtMatrixLayoutInit(layout = &memory, type, rows, columns, distance);
    cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch,
                                     sizeof batch);
    const int64_t elements = stride;
    cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &elements,
                                     sizeof elements);
  }
  ~Layout() {
    if (made) cublasLtMatrixLayoutDestroy(layout);
  }
};

template <class T>
void set(cublasLtMatmulDesc_t to, cublasLtMatmulDescAttributes_t attribute, T value) {
  if (cublasLtMatmulDescSetAttribute(to, attribute, &value, sizeof value) != CUBLAS_STATUS_SUCCESS)
    std::printf("attribute %d was refused\n", int(attribute));
}

template <class In, class Out>
bool is_right(cublasLtHandle_t handle, cudaDataType in, cudaDataType out,
              cublasComputeType_t compute, const Case& c) {
  const bool a_plain = c.a == CUBLAS_OP_N, b_plain = c.b == CUBLAS_OP_N;
  // op(A) has m rows; by rows, what stands in memory is the transposition.
  const long a_rows = a_plain ? c.m : c.k, a_columns = a_plain ? c.k : c.m;
  // Pieces of 16 bytes are aligned in cases that are computed in place.
  const auto distance = [&](long elements) {
    return c.in_place ? (elements + 7) / 8 * 8 : elements + 3;
  };
  const long lda = distance(c.a_by_rows ? a_columns : a_rows), ldb = distance(b_plain ? c.k : c.n);
  const long ldc = c.m + 2, ldd = c.m + 5;
  const long a_size = lda * (c.a_by_rows ? a_rows : a_columns),
             b_size = ldb * (b_plain ? c.n : c.k);
  const long c_size = (c.in_place ? ldd : ldc) * c.n, d_size = ldd * c.n,
             aux_column = (c.m + 7) / 8 * 8;
  const long aux_size = aux_column * c.n, bias_size = c.m > c.n ? c.m : c.n;
  const auto a = some<In>(a_size * c.batch), b = some<In>(b_size * c.batch);
  const auto d_before = some<Out>(d_size * c.batch), aux_before = some<Out>(aux_size * c.batch);
  const auto added = c.in_place ? d_before : some<Out>(c_size * c.batch);
  const auto bias_before = some<Out>(bias_size * c.batch);
  In *da = on_device(a), *db = on_device(b);
  Out *dd = on_device(d_before), *dc = c.in_place ? dd : on_device(added),
      *daux = on_device(aux_before), *dbias = on_device(bias_before);

  cublasLtMatmulDesc_t operation;
  cublasLtMatmulDescOpaque_t memory;
  if (c.on_stack)
    cublasLtMatmulDescInit(operation = &memory, compute, CUDA_R_32F);
  else
    cublasLtMatmulDescCreate(&operation, compute, CUDA_R_32F);
  set(operation, CUBLASLT_MATMUL_DESC_TRANSA, c.a);
  set(operation, CUBLASLT_MATMUL_DESC_TRANSB, c.b);
  set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, c.epilogue);
  const bool adds_bias = has(c, 4), sums_columns = has(c, 16), sums_a = has(c, 256),
             sums_b = has(c, 512);
  const bool has_aux = has(c, 128);
  if (adds_bias || sums_columns || sums_a || sums_b) {
    set(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, dbias);
    set(operation, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, out);
    set(operation, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, int64_t(bias_size));
  }
  if (has_aux) {
    set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, daux);
    set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, int64_t(aux_column));
    set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, int64_t(aux_size));
  }
  const Layout la(c.on_stack, in, a_rows, a_columns, lda, a_size, c.batch);
  const Layout lb(c.on_stack, in, b_plain ? c.k : c.n, b_plain ? c.n : c.k, ldb, b_size, c.batch);
  const Layout lc(c.on_stack, out, c.m, c.n, c.in_place ? ldd : ldc, c_size, c.batch);
  const Layout ld(c.on_stack, out, c.m, c.n, ldd, d_size, c.batch);
  const int by_rows = CUBLASLT_ORDER_ROW;
  if (c.a_by_rows)
    cublasLtMatrixLayoutSetAttribute(la.layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &by_rows,
                                     sizeof by_rows);

  cublasLtMatmulPreference_t preference;
  cublasLtMatmulPreferenceCreate(&preference);
  const uint64_t workspace = 1 << 20;
  cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                       &workspace, sizeof workspace);
  cublasLtMatmulHeuristicResult_t found[4];
  int count = 0;
  cublasLtMatmulAlgoGetHeuristic(handle, operation, la.layout, lb.layout, lc.layout, ld.layout,
                                 preference, 4, found, &count);
  cublasLtMatmulPreferenceDestroy(preference);
  if (count != 1 || found[0].state != CUBLAS_STATUS_SUCCESS) {
    std::printf("no algorithm for epilogue %d\n", int(c.epilogue));
    return false;
  }
  // Cases with descriptors on the stack name no algorithm and have their scalars on the GPU.
  const std::vector<float> scalars{c.alpha, c.beta};
  float* const dscalars = on_device(scalars);
  const float* const at = c.on_stack ? dscalars : scalars.data();
  if (c.on_stack) set(operation, CUBLASLT_MATMUL_DESC_POINTER_MODE, CUBLASLT_POINTER_MODE_DEVICE);
  const auto status =
      cublasLtMatmul(handle, operation, at, da, la.layout, db, lb.layout, at + 1, dc, lc.layout, dd,
                     ld.layout, c.on_stack ? nullptr : &found[0].algo, nullptr, 0, nullptr);
  if (!c.on_stack) cublasLtMatmulDescDestroy(operation);
  if (status != CUBLAS_STATUS_SUCCESS) {
    std::printf("status %s of epilogue %d\n", cublasLtGetStatusName(status), int(c.epilogue));
    return false;
  }
  const auto d = on_host(d_before, dd), aux = on_host(aux_before, daux),
             bias = on_host(bias_before, dbias);
  const double last = in == CUDA_R_32F    ? (compute == CUBLAS_COMPUTE_32F ? 1e-5 : 2e-5)
                      : out == CUDA_R_32F ? 1e-5
                                          : 0.01;
  const auto element_a = [&](int z, long row, long k) {
    const long r = a_plain ? row : k, q = a_plain ? k : row;
    return double(float(a[z * a_size + (c.a_by_rows ? q + r * lda : r + q * lda)]));
  };
  const auto element_b = [&](int z, long k, long column) {
    return double(float(b[z * b_size + (b_plain ? k + column * ldb : column + k * ldb)]));
  };
  bool right = true;
  for (int z = 0; z < c.batch; ++z) {
    std::vector<double> rows(c.m);
    for (long j = 0; j < c.n; ++j)
      for (long i = 0; i < ldd; ++i) {
        const long place = z * d_size + j * ldd + i;
        if (i >= c.m) {
          right &= near("padding", c, in, float(d[place]), float(d_before[place]), 0);
          continue;
        }
        double x = 0;
        for (long l = 0; l < c.k; ++l) x += element_a(z, i, l) * element_b(z, l, j);
        x = c.alpha * x + c.beta * float(added[z * c_size + j * (c.in_place ? ldd : ldc) + i]);
        if (adds_bias) x += float(bias_before[z * bias_size + i]);
        const long aux_place = z * aux_size + j * aux_column + i;
        if (has(c, 64))
          x *= gelu_slope(float(aux_before[aux_place]));
        else if (has_aux)
          right &= near("input of the GELU", c, in, float(aux[aux_place]), x, last);
        if (has(c, 2)) x = x > 0 ? x : 0;
        if (has(c, 32)) x = gelu(x);
        rows[i] += x;
        right &= near("element", c, in, float(d[place]), x, last);
      }
    for (long i = 0; i < bias_size; ++i) {
      double wanted = float(bias_before[z * bias_size + i]), scale = last;
      const auto sum = [&](long sums, auto addend, long addends) {
        if (i >= sums) return;
        wanted = 0;
        for (long l = 0; l < addends; ++l) wanted += addend(l);
      };
      if (sums_a)
        sum(
            c.m, [&](long l) { return element_a(z, i, l); }, c.k);
      if (sums_b)
        sum(
            c.n, [&](long l) { return element_b(z, l, i); }, c.k);
      if (sums_columns) {
        sum(
            c.m, [&](long) { return rows[i]; }, 1);
        scale = last * std::sqrt(double(c.n));  // of rounded addends
      }
      right &= near("bias", c, in, float(bias[z * bias_size + i]), wanted, scale);
    }
  }
  for (void* used : {(void*)da, (void*)db, (void*)dd, (void*)daux, (void*)dbias, (void*)dscalars})
    cudaFree(used);
  if (!c.in_place) cudaFree(dc);
  return right;
}

bool attributes_are_kept() {
  cublasLtMatmulDesc_t operation;
  cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  cublasLtEpilogue_t epilogue{};
  int compute = 0;
  size_t bytes = 0;
  bool right = cublasLtMatmulDescGetAttribute(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                              sizeof epilogue, &bytes) == CUBLAS_STATUS_SUCCESS &&
               epilogue == CUBLASLT_EPILOGUE_DEFAULT && bytes == sizeof epilogue;
  right &= cublasLtMatmulDescGetAttribute(operation, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, &compute,
                                          sizeof compute, nullptr) == CUBLAS_STATUS_SUCCESS &&
           compute == CUBLAS_COMPUTE_32F;
  right &= cublasLtMatmulDescGetAttribute(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, nullptr, 0,
                                          &bytes) == CUBLAS_STATUS_SUCCESS &&
           bytes == sizeof(void*);
  // Of a wrong size.
  right &= cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, 1) ==
           CUBLAS_STATUS_INVALID_VALUE;
  cublasLtMatmulDescDestroy(operation);
  return right;
}

bool what_lacks_is_said(cublasLtHandle_t handle) {
  const Layout matrix(false, CUDA_R_32F, 8, 8, 8, 0, 1), narrow(false, CUDA_R_32F, 4, 8, 4, 0, 1),
      bytes(false, CUDA_R_8I, 8, 8, 8, 0, 1);
  cublasLtMatmulPreference_t preference;
  cublasLtMatmulPreferenceCreate(&preference);
  cublasLtMatmulHeuristicResult_t found;
  int count = 0;
  const auto asked = [&](cublasLtMatmulDesc_t operation, const Layout& a) {
    const auto status =
        cublasLtMatmulAlgoGetHeuristic(handle, operation, a.layout, matrix.layout, matrix.layout,
                                       matrix.layout, preference, 1, &found, &count);
    return count == 0 ? status : CUBLAS_STATUS_SUCCESS;
  };
  cublasLtMatmulDesc_t operation;
  cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  bool right = asked(operation, narrow) == CUBLAS_STATUS_INVALID_VALUE;
  right &= asked(operation, bytes) == CUBLAS_STATUS_NOT_SUPPORTED;
  set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU_AUX);
  right &= asked(operation, matrix) == CUBLAS_STATUS_NOT_SUPPORTED;
  set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DEFAULT);
  set(operation, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &right);
  right &= asked(operation, matrix) == CUBLAS_STATUS_NOT_SUPPORTED;
  set(operation, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, static_cast<void*>(nullptr));
  right &= asked(operation, matrix) == CUBLAS_STATUS_SUCCESS;
  cublasLtMatmulDescDestroy(operation);
  cublasLtMatmulPreferenceDestroy(preference);
  return right &&
         cublasLtMatrixTransform(handle, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                 nullptr, nullptr, nullptr, nullptr) == CUBLAS_STATUS_NOT_SUPPORTED;
}

int main() {
  cublasLtHandle_t handle;
  if (cublasLtCreate(&handle) != CUBLAS_STATUS_SUCCESS) return 1;
  using Half = __half;
  using Brain = __nv_bfloat16;
  const auto N = CUBLAS_OP_N, T = CUBLAS_OP_T;
  bool right = attributes_are_kept();
  for (const auto epilogue :
       {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_BIAS,
        CUBLASLT_EPILOGUE_RELU_BIAS, CUBLASLT_EPILOGUE_GELU, CUBLASLT_EPILOGUE_GELU_BIAS,
        CUBLASLT_EPILOGUE_GELU_AUX, CUBLASLT_EPILOGUE_GELU_AUX_BIAS, CUBLASLT_EPILOGUE_DGELU,
        CUBLASLT_EPILOGUE_DGELU_BGRAD, CUBLASLT_EPILOGUE_BGRADA, CUBLASLT_EPILOGUE_BGRADB}) {
    right &= is_right<Brain, Brain>(handle, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F,
                                    {epilogue, T, N, 72, 40, 64, 1, 0.25F, 0, true, false, false});
    right &= is_right<Half, Half>(handle, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F,
                                  {epilogue, N, T, 33, 70, 40, 2, 0.25F, 1, false, true, false});
    right &= is_right<Half, float>(handle, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F,
                                   {epilogue, N, N, 65, 17, 50, 1, 0.5F, 0.5F, true, true, true});
    right &=
        is_right<float, float>(handle, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F,
                               {epilogue, T, T, 20, 66, 35, 2, -0.5F, 0.5F, false, false, false});
    // Of eighths up to one: exact in tf32.
    right &= is_right<float, float>(handle, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32,
                                    {epilogue, N, N, 67, 36, 24, 1, 0.5F, 0, true, false, false});
    right &= is_right<float, float>(handle, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32,
                                    {epilogue, T, T, 12, 9, 30, 1, 0.5F, 0, false, true, true});
  }
  right &= what_lacks_is_said(handle);
  cublasLtDestroy(handle);
  std::puts(right ? "right" : "wrong");
  return 0;
}
