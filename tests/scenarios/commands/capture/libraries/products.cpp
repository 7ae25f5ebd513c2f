// Products of matrices by cuBLAS, compared with sums in double precision on the host.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Shape {
  cublasOperation_t a, b;
  int m, n, k, batch;
  float alpha, beta;
  bool scalars_on_device;
  bool aligned = false;  // every column begins a piece of 16 bytes
};

template <class T>
T* on_device(const std::vector<T>& values) {
  void* memory = nullptr;
  cudaMalloc(&memory, values.size() * sizeof(T));
  cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return static_cast<T*>(memory);
}
template <class T>
std::vector<T> some(long count) {
  std::vector<T> values(count);
  for (T& value : values) value = T(float(std::rand() % 17 - 8) / 8);
  return values;
}

template <class In, class Out>
bool is_right(cublasHandle_t handle, cudaDataType in, cudaDataType out, const Shape& s) {
  const bool a_plain = s.a == CUBLAS_OP_N, b_plain = s.b == CUBLAS_OP_N;
  const auto column = [&](int rows, int more) {
    return s.aligned ? (rows + 15) / 8 * 8 : rows + more;
  };
  const int lda = column(a_plain ? s.m : s.k, 3), ldb = column(b_plain ? s.k : s.n, 1),
            ldc = s.m + 2;
  const long a_size = long(lda) * (a_plain ? s.k : s.m), b_size = long(ldb) * (b_plain ? s.n : s.k);
  const long c_size = long(ldc) * s.n;
  const auto a = some<In>(a_size * s.batch), b = some<In>(b_size * s.batch);
  const auto c = some<Out>(c_size * s.batch);
  const std::vector<float> scalars{s.alpha, s.beta};
  In *da = on_device(a), *db = on_device(b);
  Out* dc = on_device(c);
  float* dscalars = on_device(scalars);
  const float* at = s.scalars_on_device ? dscalars : scalars.data();
  cublasSetPointerMode(handle,
                       s.scalars_on_device ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST);
  cublasStatus_t status;
  if (s.batch > 1)
    status = cublasGemmStridedBatchedEx(handle, s.a, s.b, s.m, s.n, s.k, at, da, in, lda, a_size,
                                        db, in, ldb, b_size, at + 1, dc, out, ldc, c_size, s.batch,
                                        CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  else if (sizeof(In) == 4)
    status = cublasSgemm(handle, s.a, s.b, s.m, s.n, s.k, at, (const float*)da, lda,
                         (const float*)db, ldb, at + 1, (float*)dc, ldc);
  else
    status = cublasGemmEx(handle, s.a, s.b, s.m, s.n, s.k, at, da, in, lda, db, in, ldb, at + 1, dc,
                          out, ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT_TENSOR_OP);
  if (status != CUBLAS_STATUS_SUCCESS) {
    std::printf("status %s\n", cublasGetStatusName(status));
    return false;
  }
  std::vector<Out> d(c.size());
  cudaMemcpy(d.data(), dc, d.size() * sizeof(Out), cudaMemcpyDeviceToHost);
  for (int z = 0; z < s.batch; ++z)
    for (int j = 0; j < s.n; ++j)
      for (int i = 0; i < ldc; ++i) {
        const long place = z * c_size + long(j) * ldc + i;
        double wanted = float(c[place]);
        if (i < s.m) {
          double sum = 0;
          for (int l = 0; l < s.k; ++l)
            sum +=
                double(float(a[z * a_size + (a_plain ? i + long(l) * lda : l + long(i) * lda)])) *
                float(b[z * b_size + (b_plain ? l + long(j) * ldb : j + long(l) * ldb)]);
          wanted = s.alpha * sum + s.beta * wanted;
        }
        const double tolerance = (sizeof(Out) == 2 ? 0.008 : 1e-5) * (1 + std::fabs(wanted));
        if (std::fabs(float(d[place]) - wanted) > tolerance) {
          std::printf("(%d, %d, %d): %g, not %g\n", z, i, j, float(d[place]), wanted);
          return false;
        }
      }
  for (void* memory : {(void*)da, (void*)db, (void*)dc, (void*)dscalars}) cudaFree(memory);
  return true;
}

// A handle of cuBLAS is one of cuBLASLt.
bool serves_both(cublasHandle_t handle) {
  cublasLtMatmulDesc_t operation;
  cublasLtMatrixLayout_t layout;
  cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, 2, 2, 2);
  const std::vector<float> a{1, 2, 3, 4}, b{5, 6, 7, 8};
  float *da = on_device(a), *db = on_device(b), *dd = on_device(a);
  const float one = 1, zero = 0;
  const auto status =
      cublasLtMatmul((cublasLtHandle_t)handle, operation, &one, da, layout, db, layout, &zero, dd,
                     layout, dd, layout, nullptr, nullptr, 0, nullptr);
  std::vector<float> d(4);
  cudaMemcpy(d.data(), dd, 4 * sizeof(float), cudaMemcpyDeviceToHost);
  cublasLtMatrixLayoutDestroy(layout);
  cublasLtMatmulDescDestroy(operation);
  return status == CUBLAS_STATUS_SUCCESS && d == std::vector<float>{23, 34, 31, 46};
}

int main() {
  cublasHandle_t handle;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return 1;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cublasSetStream(handle, stream);
  using Half = __half;
  using Brain = __nv_bfloat16;
  bool right = true;
  for (const auto a : {CUBLAS_OP_N, CUBLAS_OP_T})
    for (const auto b : {CUBLAS_OP_N, CUBLAS_OP_T}) {
      // Of eighths up to one, which tf32 has.
      for (const auto mode : {CUBLAS_DEFAULT_MATH, CUBLAS_TF32_TENSOR_OP_MATH}) {
        cublasSetMathMode(handle, mode);
        right &= is_right<float, float>(handle, CUDA_R_32F, CUDA_R_32F,
                                        {a, b, 70, 33, 19, 1, 1.5F, -0.5F, false});
      }
      right &=
          is_right<Half, Half>(handle, CUDA_R_16F, CUDA_R_16F, {a, b, 65, 66, 40, 2, 1, 0, false});
      right &=
          is_right<Half, float>(handle, CUDA_R_16F, CUDA_R_32F, {a, b, 20, 70, 33, 1, 1, 1, true});
      right &= is_right<Brain, Brain>(handle, CUDA_R_16BF, CUDA_R_16BF,
                                      {a, b, 64, 64, 32, 1, 0.5F, 0, false});
      right &= is_right<Brain, float>(handle, CUDA_R_16BF, CUDA_R_32F,
                                      {a, b, 33, 17, 70, 3, 1, 2, false});
      right &= is_right<Half, Half>(handle, CUDA_R_16F, CUDA_R_16F,
                                    {a, b, 150, 66, 136, 2, 1, 0.5F, false, true});
      right &= is_right<Half, float>(handle, CUDA_R_16F, CUDA_R_32F,
                                     {a, b, 64, 200, 64, 1, 2, 0, true, true});
      right &= is_right<Brain, Brain>(handle, CUDA_R_16BF, CUDA_R_16BF,
                                      {a, b, 129, 129, 330, 1, 0.5F, 0, false, true});
      right &= is_right<Brain, float>(handle, CUDA_R_16BF, CUDA_R_32F,
                                      {a, b, 65, 64, 65, 3, 1, 1, false, true});
    }
  // What is not there says so; what is wrong is refused.
  double one = 1;
  float scalar = 1;
  const bool lacks = cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, &one, 1, &one, 1,
                                 &one, &one, 1) == CUBLAS_STATUS_NOT_SUPPORTED;
  const bool refuses = cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &scalar, &scalar, 4,
                                   &scalar, 8, &scalar, &scalar, 8) == CUBLAS_STATUS_INVALID_VALUE;
  right &= serves_both(handle);
  cublasDestroy(handle);
  std::puts(right && lacks && refuses ? "right" : "wrong");
  return 0;
}
