// The instructions of the sm_89 pipeline, one per function.
#pragma once

namespace fp8jit {

/// The 32-bit shared-memory address of `pointer`.
__device__ inline unsigned sharedAddress(const void *pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

/// Closes this thread's group of copies. PTX ISA 9.7.9.25.3.2 (cp.async.commit_group).
__device__ inline void commitCopies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until at most `Pending` groups of this thread are under way. PTX ISA 9.7.9.25.3.3
/// (cp.async.wait_group).
template <int Pending>
__device__ inline void waitCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

/// Four 8x8 matrices of 16-bit units, that is 8 rows of 16 bytes each; lanes 8i..8i+7 give the row
/// addresses of matrix i, and word i of lane l holds bytes 4(l%4)..+3 of row l/4. PTX
/// ISA 9.7.14.5.15 (ldmatrix).
__device__ inline void loadMatrices(unsigned (&words)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(address)
               : "memory"); // reads what other threads' copies wrote
}

/// d = c + a times b for a [16, 32] and b [8, 32] of E4M3, both along k. With g = lane / 4 and
/// t = lane % 4: d[e] is row g + 8(e / 2), column 2t + e % 2. PTX ISA 9.7.14.5.14 (mma.m16n8k32).
__device__ inline void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2],
                                const float (&c)[4]) {
  asm("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]),
        "f"(c[2]), "f"(c[3]));
}

} // namespace fp8jit
