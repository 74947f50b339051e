// Rows for integer arithmetic, logic and shifts (PTX ISA 9.7.1, 9.7.2, 9.7.8).
#include "emulator/ptx/forms.h"

namespace fp8jit::emulator {

// clang-format off
static constexpr std::array kIntegerRows = {
    Form{"add", "T:int", "dT sT sT", Op::Add},
    Form{"add", "sat T:s32", "dT sT sT", Op::Add},
    Form{"add", "cc T:u32,s32,u64,s64", "dT sT sT", Op::Add},
    Form{"addc", "?cc T:u32,s32,u64,s64", "dT sT sT", Op::Addc},
    Form{"sub", "T:int", "dT sT sT", Op::Sub},
    Form{"sub", "sat T:s32", "dT sT sT", Op::Sub},
    Form{"sub", "cc T:u32,s32,u64,s64", "dT sT sT", Op::Sub},
    Form{"subc", "?cc T:u32,s32,u64,s64", "dT sT sT", Op::Subc},
    Form{"mul", "lo T:int", "dT sT sT", Op::MulLo},
    Form{"mul", "hi T:int", "dT sT sT", Op::MulHi},
    Form{"mul", "wide T:u16,s16,u32,s32", "dW sT sT", Op::MulWide},
    Form{"mad", "lo T:int", "dT sT sT sT", Op::MadLo},
    Form{"mad", "hi T:int", "dT sT sT sT", Op::MadHi},
    Form{"mad", "wide T:u16,s16,u32,s32", "dW sT sT sW", Op::MadWide},
    Form{"mad", "lo cc T:u32,s32,u64,s64", "dT sT sT sT", Op::MadLo},
    Form{"mad", "hi cc T:u32,s32,u64,s64", "dT sT sT sT", Op::MadHi},
    Form{"madc", "lo ?cc T:u32,s32,u64,s64", "dT sT sT sT", Op::MadLo},
    Form{"madc", "hi ?cc T:u32,s32,u64,s64", "dT sT sT sT", Op::MadHi},
    Form{"sad", "T:int", "dT sT sT sT", Op::Sad},
    Form{"div", "T:int", "dT sT sT", Op::Div},
    Form{"rem", "T:int", "dT sT sT", Op::Rem},
    Form{"abs", "T:s16,s32,s64", "dT sT", Op::Abs},
    Form{"neg", "T:s16,s32,s64", "dT sT", Op::Neg},
    Form{"min", "T:int", "dT sT sT", Op::Min},
    Form{"max", "T:int", "dT sT sT", Op::Max},

    Form{"and", "T:pred", "dp sp sp", Op::And},
    Form{"or", "T:pred", "dp sp sp", Op::Or},
    Form{"xor", "T:pred", "dp sp sp", Op::Xor},
    Form{"not", "T:pred", "dp sp", Op::Not},
    Form{"and", "T:bits", "dT sT sT", Op::And},
    Form{"or", "T:bits", "dT sT sT", Op::Or},
    Form{"xor", "T:bits", "dT sT sT", Op::Xor},
    Form{"not", "T:bits", "dT sT", Op::Not},
    Form{"cnot", "T:bits", "dT sT", Op::Cnot},
    Form{"shl", "T:bits", "dT sT s:b32", Op::Shl},
    Form{"shr", "T:bits,int", "dT sT s:b32", Op::Shr},
    Form{"shf", "l wrap T:b32", "dT sT sT s:b32", Op::ShfLWrap},
    Form{"shf", "l clamp T:b32", "dT sT sT s:b32", Op::ShfLClamp},
    Form{"shf", "r wrap T:b32", "dT sT sT s:b32", Op::ShfRWrap},
    Form{"shf", "r clamp T:b32", "dT sT sT s:b32", Op::ShfRClamp},
    Form{"lop3", "T:b32", "dT sT sT sT i", Op::Lop3},

    Form{"bfe", "T:u32,s32,u64,s64", "dT sT s:b32 s:b32", Op::Bfe},
    Form{"bfi", "T:b32,b64", "dT sT sT s:b32 s:b32", Op::Bfi},
    Form{"bfind", "T:u32,s32,u64,s64", "d:u32 sT", Op::Bfind},
    Form{"bfind", "shiftamt T:u32,s32,u64,s64", "d:u32 sT", Op::Bfind, 0, 1},
    Form{"brev", "T:b32,b64", "dT sT", Op::Brev},
    Form{"popc", "T:b32,b64", "d:u32 sT", Op::Popc},
    Form{"clz", "T:b32,b64", "d:u32 sT", Op::Clz},
    Form{"prmt", "T:b32", "dT sT sT sT", Op::Prmt},
    Form{"prmt", "f4e T:b32", "dT sT sT sT", Op::Prmt, 0, 1},
    Form{"prmt", "b4e T:b32", "dT sT sT sT", Op::Prmt, 0, 2},
    Form{"prmt", "rc8 T:b32", "dT sT sT sT", Op::Prmt, 0, 3},
    Form{"prmt", "ecl T:b32", "dT sT sT sT", Op::Prmt, 0, 4},
    Form{"prmt", "ecr T:b32", "dT sT sT sT", Op::Prmt, 0, 5},
    Form{"prmt", "rc16 T:b32", "dT sT sT sT", Op::Prmt, 0, 6},
};
// clang-format on

std::span<const Form> integerForms() {
  return kIntegerRows;
}

} // namespace fp8jit::emulator
