// Rows for control flow and warp collectives (PTX ISA 9.7.12, 9.7.13), and the families that are
// known and refused.
#include "emulator/ptx/forms.h"

namespace fp8jit::emulator {

// clang-format off
static constexpr std::array kControlRows = {
    Form{"bra", "?uni", "l", Op::Bra},
    Form{"brx", "idx ?uni", "s:u32 l", Op::BrxIdx},
    Form{"ret", "?uni", "", Op::Ret},
    Form{"exit", "", "", Op::Exit},
    Form{"trap", "", "", Op::Trap},
    Form{"brkpt", "", "", Op::Trap},
    Form{"pmevent", "?mask", "i:events", Op::Nop},
    Form{"nanosleep", "T:u32", "sT", Op::Nanosleep, 70},

    Form{"shfl", "sync @shuffle T:b32", "dT|dp? sT s:b32 s:b32 s:b32", Op::Shfl, 30},
    Form{"vote", "sync all T:pred", "dp sp s:b32", Op::VoteAll, 30},
    Form{"vote", "sync any T:pred", "dp sp s:b32", Op::VoteAny, 30},
    Form{"vote", "sync uni T:pred", "dp sp s:b32", Op::VoteUni, 30},
    Form{"vote", "sync ballot T:b32", "dT sp s:b32", Op::VoteBallot, 30},
    Form{"redux", "sync @atomic:add,min,max T:u32,s32", "dT sT s:b32", Op::Redux, 80},
    Form{"redux", "sync @atomic:and,or,xor T:b32", "dT sT s:b32", Op::Redux, 80},
    Form{"match", "any sync T:b32,b64", "d:b32 sT s:b32", Op::MatchAny, 70},
    Form{"match", "all sync T:b32,b64", "d:b32|dp? sT s:b32", Op::MatchAll, 70},
    Form{"activemask", "T:b32", "dT", Op::Activemask, 30},
};

static constexpr std::array kRefused = {
    Form{"tcgen05", "", "tensor memory instructions"},
    Form{"wmma", "", "wmma instructions"},
    Form{"clusterlaunchcontrol", "", "cluster launch control"},
    Form{"multimem", "", "multi-device memory"},
    Form{"tex", "", "textures"},
    Form{"tld4", "", "textures"},
    Form{"txq", "", "textures"},
    Form{"istypep", "", "textures"},
    Form{"suq", "", "surfaces"},
    Form{"sured", "", "surfaces"},
    Form{"alloca", "", "stack allocations of run-time size"},
    Form{"stacksave", "", "stack allocations of run-time size"},
    Form{"stackrestore", "", "stack allocations of run-time size"},
    Form{"vadd", "", "video instructions"},
    Form{"vsub", "", "video instructions"},
    Form{"vabsdiff", "", "video instructions"},
    Form{"vmin", "", "video instructions"},
    Form{"vmax", "", "video instructions"},
    Form{"vshl", "", "video instructions"},
    Form{"vshr", "", "video instructions"},
    Form{"vmad", "", "video instructions"},
    Form{"vset", "", "video instructions"},
    Form{"vadd2", "", "video instructions"},
    Form{"vsub2", "", "video instructions"},
    Form{"vavrg2", "", "video instructions"},
    Form{"vabsdiff2", "", "video instructions"},
    Form{"vmin2", "", "video instructions"},
    Form{"vmax2", "", "video instructions"},
    Form{"vset2", "", "video instructions"},
    Form{"vadd4", "", "video instructions"},
    Form{"vsub4", "", "video instructions"},
    Form{"vavrg4", "", "video instructions"},
    Form{"vmin4", "", "video instructions"},
    Form{"vmax4", "", "video instructions"},
    Form{"vset4", "", "video instructions"},
    Form{"suld", "", "surfaces"},
    Form{"sust", "", "surfaces"},
    Form{"callprototype", "", "indirect calls"},
};
// clang-format on

std::span<const Form> controlForms() {
  return kControlRows;
}

std::span<const Form> refusedForms() {
  return kRefused;
}

} // namespace fp8jit::emulator
