#include "ilux/direct/klu/ilux_klu.h"

#include "ilux/direct/klu/ilux_klu_entries.hpp"
#include "ilux/direct/klu/ilux_klu_z.h"

using namespace ilux::klu;
using ilux::Transpose;

ILUX_KLU_FUNCTIONS(ilux_klu, ilux_klu, ilux_klu_z, int)
ILUX_KLU_FUNCTIONS(ilux_klu_l, ilux_klu_l, ilux_klu_zl, std::int64_t)
