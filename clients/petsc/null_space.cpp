// The null space that a matrix of PETSc carries.

#include <petscmat.h>

#include "ilux/clients/petsc/factors.hpp"

namespace ilux_petsc {
namespace {

constexpr PetscErrorCode fine = static_cast<PetscErrorCode>(0);

/// The constant, where the null space has it, and its vectors, one after another.
PetscErrorCode columns_of(MatNullSpace space, PetscInt n, PetscInt* count, PetscScalar** columns)
{
    PetscBool          constant = PETSC_FALSE;
    PetscInt           vectors = 0;
    const Vec*         vector = nullptr;
    const PetscScalar* from = nullptr;

    PetscFunctionBegin;
    PetscCall(MatNullSpaceGetVecs(space, &constant, &vectors, &vector));
    *count = vectors + (constant ? 1 : 0);
    PetscCall(PetscMalloc1(n * *count, columns));
    PetscScalar* to = *columns;
    if (constant)
        for (PetscInt i = 0; i < n; ++i) *to++ = 1;
    for (PetscInt k = 0; k < vectors; ++k, to += n) {
        PetscCall(VecGetArrayRead(vector[k], &from));
        PetscCall(PetscArraycpy(to, from, n));
        PetscCall(VecRestoreArrayRead(vector[k], &from));
    }
    PetscFunctionReturn(fine);
}

}  // namespace

PetscErrorCode take_null_space(Factors* factors, Mat A, PetscBool* changed)
{
    MatNullSpace  space = nullptr;
    PetscObjectId id = 0;
    PetscInt      n = 0, count = 0;
    PetscScalar*  columns = nullptr;

    PetscFunctionBegin;
    PetscCall(MatGetNullSpace(A, &space));
    if (space) PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(space), &id));
    *changed = static_cast<PetscBool>(id != factors->null_space);
    if (!*changed) PetscFunctionReturn(fine);
    PetscCall(MatGetLocalSize(A, &n, nullptr));
    if (space) PetscCall(columns_of(space, n, &count, &columns));
    const int status = ilux_set_null_space(factors->solver, n, count, columns);
    PetscCall(PetscFree(columns));
    PetscCheck(status == ILUX_OK, PETSC_COMM_SELF, PETSC_ERR_LIB, "ilux: %s", ilux_message(factors->solver));
    factors->null_space = id;
    PetscFunctionReturn(fine);
}

}  // namespace ilux_petsc
