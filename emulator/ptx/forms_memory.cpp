// Rows for loads, stores, prefetches and atomics (PTX ISA 9.7.9, 9.7.13).
#include "emulator/ptx/forms.h"

namespace fp8jit::emulator {

// clang-format off
static constexpr std::array kMemoryRows = {
    Form{"ld", "?weak ?@space ?@cop ?@l1 ?@eviction ?L2::cache_hint ?@l2 ?@vector T:any", "dN+ m c", Op::Ld},
    Form{"ld", "volatile ?@space ?@l2 ?@vector T:any", "dN+ m", Op::Ld},
    Form{"ld", "@order:relaxed,acquire @scope ?@space:global,shared,shared::cta,shared::cluster ?@l1 ?@eviction ?L2::cache_hint ?@l2 ?@vector T:any", "dN+ m c", Op::Ld, 70},
    Form{"ld", "relaxed.sys mmio ?@space:global ?@vector T:any", "dN+ m", Op::Ld, 70},
    Form{"ld", "global nc ?@cop ?@l1 ?@eviction ?L2::cache_hint ?@l2 ?@vector T:any", "dN+ m c", Op::Ld},
    Form{"st", "?weak ?@space ?@cop ?@l1 ?@eviction ?L2::cache_hint ?@vector T:any", "m sN+ c", Op::St},
    Form{"st", "volatile ?@space ?@vector T:any", "m sN+", Op::St},
    Form{"st", "@order:relaxed,release @scope ?@space:global,shared,shared::cta,shared::cluster ?@l1 ?@eviction ?L2::cache_hint ?@vector T:any", "m sN+ c", Op::St, 70},
    Form{"st", "relaxed.sys mmio ?@space:global ?@vector T:any", "m sN+", Op::St, 70},
    Form{"prefetch", "?@space:global,local @level", "m", Op::Prefetch},
    Form{"prefetch", "?@space:const,param tensormap", "m", Op::Prefetch, 90},
    Form{"prefetchu", "L1", "m", Op::Prefetch},
    Form{"applypriority", "?@space:global @eviction:L2::evict_normal", "m i:lineBytes", Op::Prefetch, 80},
    Form{"discard", "?@space:global L2", "m i:lineBytes", Op::Prefetch, 80},
    Form{"createpolicy", "fractional @eviction ?@second T:b64", "dT", Op::CreatePolicy, 80},
    Form{"createpolicy", "fractional @eviction ?@second T:b64", "dT x:f32", Op::CreatePolicy, 80},
    Form{"createpolicy", "range ?@space:global @eviction ?@second T:b64", "dT xm x:u32 x:u32", Op::CreatePolicy, 80},
    Form{"createpolicy", "cvt L2 T:b64", "dT x:b64", Op::CreatePolicy, 80},

    Form{"atom", "?@order:relaxed,acquire,release,acq_rel ?@scope ?@space:global,shared,shared::cta,shared::cluster ?L2::cache_hint @atomic:add T:u32,s32,u64,f32,f64", "dT m sT c", Op::Atom},
    Form{"atom", "?@order:relaxed,acquire,release,acq_rel ?@scope ?@space:global,shared,shared::cta,shared::cluster ?L2::cache_hint @atomic:add noftz T:f16,f16x2", "dT m sT c", Op::Atom, 70},
    Form{"atom", "?@order:relaxed,acquire,release,acq_rel ?@scope ?@space:global,shared,shared::cta,shared::cluster ?L2::cache_hint @atomic:add noftz T:bf16,bf16x2", "dT m sT c", Op::Atom, 90},
    Form{"atom", "?@order:relaxed,acquire,release,acq_rel ?@scope ?@space:global ?L2::cache_hint @atomic:add @vector T:f32", "dN m sN c", Op::Atom, 90},
    Form{"atom", "?@order:relaxed,acquire,release,acq_rel ?@scope ?@space:global ?L2::cache_hint @atomic:add,min,max noftz @vectorHalf T:f16,bf16", "dN m sN c", Op::Atom, 90},
    Form{"atom", "?@order:relaxed,acquire,release,acq_rel ?@scope ?@space:global ?L2::cache_hint @atomic:add,min,max noftz @vector T:f16x2,bf16x2", "dN m sN c", Op::Atom, 90},
    Form{"atom", "?@order:relaxed,acquire,release,acq_rel ?@scope ?@space:global,shared,shared::cta,shared::cluster ?L2::cache_hint @atomic:min,max T:u32,s32,u64,s64", "dT m sT c", Op::Atom},
    Form{"atom", "?@order:relaxed,acquire,release,acq_rel ?@scope ?@space:global,shared,shared::cta,shared::cluster ?L2::cache_hint @atomic:inc,dec T:u32", "dT m sT c", Op::Atom},
    Form{"atom", "?@order:relaxed,acquire,release,acq_rel ?@scope ?@space:global,shared,shared::cta,shared::cluster ?L2::cache_hint @atomic:and,or,xor,exch T:b32,b64", "dT m sT c", Op::Atom},
    Form{"atom", "?@order:relaxed,acquire,release,acq_rel ?@scope ?@space:global,shared,shared::cta,shared::cluster ?L2::cache_hint @atomic:cas T:b16,b32,b64", "dT m sT sT c", Op::Atom},
    Form{"atom", "?@order:relaxed,acquire,release,acq_rel ?@scope ?@space:global,shared,shared::cta,shared::cluster ?L2::cache_hint @atomic:exch T:b128", "dT m sT c", Op::Atom, 90},
    Form{"atom", "?@order:relaxed,acquire,release,acq_rel ?@scope ?@space:global,shared,shared::cta,shared::cluster ?L2::cache_hint @atomic:cas T:b128", "dT m sT sT c", Op::Atom, 90},
    Form{"red", "?@order:relaxed,release ?@scope ?@space:global,shared,shared::cta,shared::cluster ?L2::cache_hint @atomic:add T:u32,s32,u64,f32,f64", "m sT c", Op::Red},
    Form{"red", "?@order:relaxed,release ?@scope ?@space:global,shared,shared::cta,shared::cluster ?L2::cache_hint @atomic:add noftz T:f16,f16x2", "m sT c", Op::Red, 70},
    Form{"red", "?@order:relaxed,release ?@scope ?@space:global,shared,shared::cta,shared::cluster ?L2::cache_hint @atomic:add noftz T:bf16,bf16x2", "m sT c", Op::Red, 90},
    Form{"red", "?@order:relaxed,release ?@scope ?@space:global ?L2::cache_hint @atomic:add @vector T:f32", "m sN c", Op::Red, 90},
    Form{"red", "?@order:relaxed,release ?@scope ?@space:global ?L2::cache_hint @atomic:add,min,max noftz @vectorHalf T:f16,bf16", "m sN c", Op::Red, 90},
    Form{"red", "?@order:relaxed,release ?@scope ?@space:global ?L2::cache_hint @atomic:add,min,max noftz @vector T:f16x2,bf16x2", "m sN c", Op::Red, 90},
    Form{"red", "?@order:relaxed,release ?@scope ?@space:global,shared,shared::cta,shared::cluster ?L2::cache_hint @atomic:min,max T:u32,s32,u64,s64", "m sT c", Op::Red},
    Form{"red", "?@order:relaxed,release ?@scope ?@space:global,shared,shared::cta,shared::cluster ?L2::cache_hint @atomic:inc,dec T:u32", "m sT c", Op::Red},
    Form{"red", "?@order:relaxed,release ?@scope ?@space:global,shared,shared::cta,shared::cluster ?L2::cache_hint @atomic:and,or,xor T:b32,b64", "m sT c", Op::Red},

    // into the shared memory of another block, counted by its mbarrier
    Form{"st", "async ?weak ?@space:shared::cluster mbarrier::complete_tx::bytes ?@vector T:b32,b64,u32,u64,s32,s64,f32,f64", "m sN a", Op::StAsync, 90},
    Form{"red", "async @order:relaxed @scope:cluster ?@space:shared::cluster mbarrier::complete_tx::bytes @atomic:add T:u32,s32,u64", "m sT a", Op::RedAsync, 90},
    Form{"red", "async @order:relaxed @scope:cluster ?@space:shared::cluster mbarrier::complete_tx::bytes @atomic:min,max T:u32,s32", "m sT a", Op::RedAsync, 90},
    Form{"red", "async @order:relaxed @scope:cluster ?@space:shared::cluster mbarrier::complete_tx::bytes @atomic:inc,dec T:u32", "m sT a", Op::RedAsync, 90},
    Form{"red", "async @order:relaxed @scope:cluster ?@space:shared::cluster mbarrier::complete_tx::bytes @atomic:and,or,xor T:b32", "m sT a", Op::RedAsync, 90},
};
// clang-format on

std::span<const Form> memoryForms() {
  return kMemoryRows;
}

} // namespace fp8jit::emulator
