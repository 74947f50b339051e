// Rows for loads, stores, atomics, asynchronous copies and matrices (PTX
// ISA 9.7.9, 9.7.13, 9.7.14).
#include "emulator/ptx/forms.h"

namespace fp8jit::emulator {

// clang-format off
static constexpr std::array kMemoryRows = {
    Form{"ld", "?weak ?@space ?@cop ?@l1 ?@l2 ?@vector T:any", "dN+ m", Op::Ld},
    Form{"ld", "volatile ?@space ?@vector T:any", "dN+ m", Op::Ld},
    Form{"ld", "@semantics:relaxed,acquire @scope ?@space:global,shared,shared::cta ?@l1 ?@l2 ?@vector T:any", "dN+ m", Op::Ld, 70},
    Form{"ld", "global nc ?@cop ?@l1 ?@l2 ?@vector T:any", "dN+ m", Op::Ld},
    Form{"st", "?weak ?@space ?@cop ?@l1 ?@vector T:any", "m sN+", Op::St},
    Form{"st", "volatile ?@space ?@vector T:any", "m sN+", Op::St},
    Form{"st", "@semantics:relaxed,release @scope ?@space:global,shared,shared::cta ?@l1 ?@vector T:any", "m sN+", Op::St, 70},
    Form{"prefetch", "?@space:global,local @level", "m", Op::Prefetch},

    Form{"atom", "?@order ?@scope ?@space:global,shared,shared::cta @atomic:add T:u32,s32,u64,f32,f64", "dT m sT", Op::Atom},
    Form{"atom", "?@order ?@scope ?@space:global,shared,shared::cta @atomic:add noftz T:f16x2", "dT m sT", Op::Atom, 70},
    Form{"atom", "?@order ?@scope ?@space:global,shared,shared::cta @atomic:add noftz T:bf16x2", "dT m sT", Op::Atom, 90},
    Form{"atom", "?@order ?@scope ?@space:global,shared,shared::cta @atomic:min,max T:u32,s32,u64,s64", "dT m sT", Op::Atom},
    Form{"atom", "?@order ?@scope ?@space:global,shared,shared::cta @atomic:inc,dec T:u32", "dT m sT", Op::Atom},
    Form{"atom", "?@order ?@scope ?@space:global,shared,shared::cta @atomic:and,or,xor,exch T:b32,b64", "dT m sT", Op::Atom},
    Form{"atom", "?@order ?@scope ?@space:global,shared,shared::cta @atomic:cas T:b16,b32,b64", "dT m sT sT", Op::Atom},
    Form{"red", "?@order ?@scope ?@space:global,shared,shared::cta @atomic:add T:u32,s32,u64,f32,f64", "m sT", Op::Red},
    Form{"red", "?@order ?@scope ?@space:global,shared,shared::cta @atomic:add noftz T:f16x2", "m sT", Op::Red, 70},
    Form{"red", "?@order ?@scope ?@space:global,shared,shared::cta @atomic:add noftz T:bf16x2", "m sT", Op::Red, 90},
    Form{"red", "?@order ?@scope ?@space:global,shared,shared::cta @atomic:min,max T:u32,s32,u64,s64", "m sT", Op::Red},
    Form{"red", "?@order ?@scope ?@space:global,shared,shared::cta @atomic:inc,dec T:u32", "m sT", Op::Red},
    Form{"red", "?@order ?@scope ?@space:global,shared,shared::cta @atomic:and,or,xor T:b32,b64", "m sT", Op::Red},

    // bytes; bytes and source bytes; bytes and a predicate that suppresses the read
    Form{"cp", "async ca @sharedDestination global ?@l2", "m m i", Op::CpAsync, 80},
    Form{"cp", "async ca @sharedDestination global ?@l2", "m m i s:u32", Op::CpAsync, 80},
    Form{"cp", "async ca @sharedDestination global ?@l2", "m m i sp", Op::CpAsync, 80},
    Form{"cp", "async cg @sharedDestination global ?@l2", "m m i", Op::CpAsync, 80, 16},
    Form{"cp", "async cg @sharedDestination global ?@l2", "m m i s:u32", Op::CpAsync, 80, 16},
    Form{"cp", "async cg @sharedDestination global ?@l2", "m m i sp", Op::CpAsync, 80, 16},
    Form{"cp", "async commit_group", "", Op::CpAsyncCommit, 80},
    Form{"cp", "async wait_group", "i", Op::CpAsyncWait, 80},
    Form{"cp", "async wait_all", "", Op::CpAsyncWaitAll, 80},

    Form{"ldmatrix", "sync aligned m8n8 @matrices ?trans @space:shared,shared::cta T:b16", "dN:b32 m", Op::LdMatrix, 75},
    Form{"mma", "sync aligned m16n8k32 row col T:f32 S:fp8 A:fp8 C:f32", "d4:f32 s4:b32 s2:b32 s4:f32", Op::Mma, 89},
    Form{"mma", "sync aligned m16n8k32 row col T:f16 S:fp8 A:fp8 C:f16", "d2:b32 s4:b32 s2:b32 s2:b32", Op::Mma, 89},
    Form{"mma", "sync aligned m16n8k16 row col T:f32 S:f16 A:f16 C:f32", "d4:f32 s4:b32 s2:b32 s4:f32", Op::Mma, 80},
    Form{"mma", "sync aligned m16n8k16 row col T:f32 S:bf16 A:bf16 C:f32", "d4:f32 s4:b32 s2:b32 s4:f32", Op::Mma, 80},
    Form{"mma", "sync aligned m16n8k16 row col T:f16 S:f16 A:f16 C:f16", "d2:b32 s4:b32 s2:b32 s2:b32", Op::Mma, 80},
};
// clang-format on

std::span<const Form> memoryForms() {
  return kMemoryRows;
}

} // namespace fp8jit::emulator
