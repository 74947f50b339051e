// Rows for matrices: ldmatrix, stmatrix, movmatrix, mma and wgmma (PTX ISA 9.7.14, 9.7.15).
#include "emulator/ptx/forms.h"

namespace fp8jit::emulator {

// clang-format off
static constexpr std::array kMatrixRows = {
    Form{"ldmatrix", "sync aligned m8n8 @matrices ?trans ?@space:shared,shared::cta T:b16", "dN:b32 m", Op::LdMatrix, 75},
    Form{"stmatrix", "sync aligned m8n8 @matrices ?trans ?@space:shared,shared::cta T:b16", "m sN:b32", Op::StMatrix, 90},
    Form{"movmatrix", "sync aligned m8n8 trans T:b16", "d:b32 s:b32", Op::MovMatrix, 75},

    Form{"mma", "sync aligned m16n8k32 row col T:f32 S:fp8 A:fp8 C:f32", "d4:f32 s4:b32 s2:b32 s4:f32", Op::Mma, 89},
    Form{"mma", "sync aligned m16n8k32 row col T:f16 S:fp8 A:fp8 C:f16", "d2:b32 s4:b32 s2:b32 s2:b32", Op::Mma, 89},
    Form{"mma", "sync aligned m16n8k16 row col T:f32 S:f16 A:f16 C:f32", "d4:f32 s4:b32 s2:b32 s4:f32", Op::Mma, 80},
    Form{"mma", "sync aligned m16n8k16 row col T:f32 S:bf16 A:bf16 C:f32", "d4:f32 s4:b32 s2:b32 s4:f32", Op::Mma, 80},
    Form{"mma", "sync aligned m16n8k16 row col T:f16 S:f16 A:f16 C:f16", "d2:b32 s4:b32 s2:b32 s2:b32", Op::Mma, 80},
    Form{"mma", "sync aligned m16n8k16 row col T:f32 S:fp8 A:fp8 C:f32", "d4:f32 s2:b32 s1:b32 s4:f32", Op::Mma, 89},
    Form{"mma", "sync aligned m16n8k16 row col T:f16 S:fp8 A:fp8 C:f16", "d2:b32 s2:b32 s1:b32 s2:b32", Op::Mma, 89},
    Form{"mma", "sync aligned m16n8k8 row col T:f32 S:f16 A:f16 C:f32", "d4:f32 s2:b32 s1:b32 s4:f32", Op::Mma, 80},
    Form{"mma", "sync aligned m16n8k8 row col T:f32 S:bf16 A:bf16 C:f32", "d4:f32 s2:b32 s1:b32 s4:f32", Op::Mma, 80},
    Form{"mma", "sync aligned m16n8k8 row col T:f16 S:f16 A:f16 C:f16", "d2:b32 s2:b32 s1:b32 s2:b32", Op::Mma, 80},
    Form{"mma", "sync aligned m16n8k8 row col T:f32 S:tf32 A:tf32 C:f32", "d4:f32 s4:b32 s2:b32 s4:f32", Op::Mma, 80},
    Form{"mma", "sync aligned m16n8k4 row col T:f32 S:tf32 A:tf32 C:f32", "d4:f32 s2:b32 s1:b32 s4:f32", Op::Mma, 80},

    // A as a matrix descriptor, then from registers
    Form{"wgmma", "mma_async sync aligned @wgmmaShape:k32 T:f32,f16 S:fp8 A:fp8", "dF s:b64 s:b64 sp i:scaleA i:scaleB", Op::Wgmma, kOnly90a},
    Form{"wgmma", "mma_async sync aligned @wgmmaShape:k32 T:f32,f16 S:fp8 A:fp8", "dF s4:b32 s:b64 sp i:scaleA i:scaleB", Op::Wgmma, kOnly90a},
    Form{"wgmma", "mma_async sync aligned @wgmmaShape:k16 T:f32,f16 S:f16 A:f16", "dF s:b64 s:b64 sp i:scaleA i:scaleB i:transposeA i:transposeB", Op::Wgmma, kOnly90a},
    Form{"wgmma", "mma_async sync aligned @wgmmaShape:k16 T:f32,f16 S:f16 A:f16", "dF s4:b32 s:b64 sp i:scaleA i:scaleB i:transposeB", Op::Wgmma, kOnly90a},
    Form{"wgmma", "mma_async sync aligned @wgmmaShape:k16 T:f32 S:bf16 A:bf16", "dF s:b64 s:b64 sp i:scaleA i:scaleB i:transposeA i:transposeB", Op::Wgmma, kOnly90a},
    Form{"wgmma", "mma_async sync aligned @wgmmaShape:k16 T:f32 S:bf16 A:bf16", "dF s4:b32 s:b64 sp i:scaleA i:scaleB i:transposeB", Op::Wgmma, kOnly90a},
    Form{"wgmma", "mma_async sync aligned @wgmmaShape:k8 T:f32 S:tf32 A:tf32", "dF s:b64 s:b64 sp i:scaleA i:scaleB", Op::Wgmma, kOnly90a},
    Form{"wgmma", "mma_async sync aligned @wgmmaShape:k8 T:f32 S:tf32 A:tf32", "dF s4:b32 s:b64 sp i:scaleA i:scaleB", Op::Wgmma, kOnly90a},
    Form{"wgmma", "fence sync aligned", "", Op::WgmmaFence, kOnly90a},
    Form{"wgmma", "commit_group sync aligned", "", Op::WgmmaCommit, kOnly90a},
    Form{"wgmma", "wait_group sync aligned", "i", Op::WgmmaWait, kOnly90a},
};
// clang-format on

std::span<const Form> matrixForms() {
  return kMatrixRows;
}

} // namespace fp8jit::emulator
