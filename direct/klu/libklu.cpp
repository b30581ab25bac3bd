// KLU's own names: what libklu.so.1 and libklu.so.2 are made of, and no part of the library `ilux`.

#include "ilux/direct/klu/ilux_klu_entries.hpp"

using namespace ilux::klu;
using ilux::Transpose;

extern "C" {

ILUX_KLU_FUNCTIONS(ilux_klu, klu, klu_z, int)
ILUX_KLU_FUNCTIONS(ilux_klu_l, klu_l, klu_zl, std::int64_t)

/// KLU has it from its version 2 on.
void klu_version(int version[3])
{
    version[0] = ILUX_KLU_MAIN_VERSION;
    version[1] = 3;
    version[2] = 0;
}
}
