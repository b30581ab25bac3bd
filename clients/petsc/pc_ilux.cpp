// PC ilux: multilevel ILU, ILU(0) or Jacobi of one process's matrix, as the PC of a KSP or of each block of asm and
// bjacobi.

#include <petsc/private/pcimpl.h>

#include "ilux/clients/petsc/factors.hpp"

namespace ilux_petsc {
namespace {

constexpr PetscErrorCode fine = static_cast<PetscErrorCode>(0);

Factors* of(PC pc) { return static_cast<Factors*>(pc->data); }

PetscErrorCode set_up(PC pc)
{
    MatFactorError failure = MAT_FACTOR_NOERROR;
    PetscMPIInt    size = 1;

    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_size(PetscObjectComm(reinterpret_cast<PetscObject>(pc)), &size));
    PetscCheck(size == 1, PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_SUP,
               "PC ilux is of one process; of several: -pc_type asm -sub_pc_type ilux");
    pc->failedreason = PC_NOERROR;
    PetscCall(factor(of(pc), pc->pmat, &failure));
    if (failure == MAT_FACTOR_NOERROR) PetscFunctionReturn(fine);
    PetscCheck(!pc->erroriffailure, PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT, "ilux: %s", ilux_message(of(pc)->solver));
    pc->failedreason = static_cast<PCFailedReason>(failure);  // both name the same reasons in the same order
    PetscFunctionReturn(fine);
}
static_assert(int(PC_FACTOR_NUMERIC_ZEROPIVOT) == int(MAT_FACTOR_NUMERIC_ZEROPIVOT) &&
              int(PC_FACTOR_OUTMEMORY) == int(MAT_FACTOR_OUTMEMORY) && int(PC_FACTOR_OTHER) == int(MAT_FACTOR_OTHER));

PetscErrorCode apply_plain(PC pc, Vec r, Vec z) { return apply(of(pc), ILUX_PLAIN, r, z); }
PetscErrorCode apply_transposed(PC pc, Vec r, Vec z) { return apply(of(pc), ILUX_TRANSPOSED, r, z); }
PetscErrorCode apply_to_columns(PC pc, Mat R, Mat Z) { return apply_columns(of(pc), ILUX_PLAIN, R, Z); }

PetscErrorCode options(PC pc, OptionItems PetscOptionsObject)
{
    static const char* const kinds[] = {"mlilu", "ilu0", "jacobi"};
    PetscInt                 kind = 0;
    PetscBool                given = PETSC_FALSE;

    PetscFunctionBegin;
    PetscOptionsHeadBegin(PetscOptionsObject, "ilux options");
    PetscCall(PetscOptionsEList("-pc_ilux_type", "precond.kind", "ilux_set", kinds, 3, kinds[0], &kind, &given));
    if (given) PetscCall(set(of(pc), "precond.kind", kinds[kind]));
    PetscCall(set_from_options(PetscOptionsObject, "pc_ilux", of(pc)));
    PetscOptionsHeadEnd();
    PetscFunctionReturn(fine);
}

PetscErrorCode take_coordinates(PC pc, PetscInt dim, PetscInt n, PetscReal* coordinates)
{
    return set_coordinates(of(pc), dim, n, coordinates);
}

PetscErrorCode view_pc(PC pc, PetscViewer viewer) { return view(of(pc), viewer); }
PetscErrorCode reset_pc(PC pc) { return reset(of(pc)); }

PetscErrorCode destroy_pc(PC pc)
{
    PetscFunctionBegin;
    PetscCall(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(pc), "PCSetCoordinates_C", nullptr));
    PetscCall(MatNullSpaceDestroy(&of(pc)->rigid));
    PetscCall(destroy(of(pc)));
    PetscCall(PetscFree(pc->data));
    PetscFunctionReturn(fine);
}

PetscErrorCode create_pc(PC pc)
{
    Factors* factors = nullptr;

    PetscFunctionBegin;
    PetscCall(PetscNew(&factors));
    PetscCall(create(Kind::preconditioner, factors));
    pc->data = factors;
    pc->ops->setup = set_up;
    pc->ops->apply = apply_plain;
    pc->ops->applytranspose = apply_transposed;
    pc->ops->matapply = apply_to_columns;
    pc->ops->setfromoptions = options;
    pc->ops->view = view_pc;
    pc->ops->reset = reset_pc;
    pc->ops->destroy = destroy_pc;
    PetscCall(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(pc), "PCSetCoordinates_C", take_coordinates));
    PetscFunctionReturn(fine);
}

}  // namespace

PetscErrorCode register_pc() { return PCRegister("ilux", create_pc); }

}  // namespace ilux_petsc
