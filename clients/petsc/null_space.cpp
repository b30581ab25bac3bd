// The null space that a matrix of PETSc carries, and the vectors near one.

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

/// n numbers a column, as ilux takes them. @return a status of ilux
using Taker = int (*)(ilux_solver* solver, int64_t n, int64_t count, const PetscScalar* columns);

int give_null_space(ilux_solver* solver, int64_t n, int64_t count, const PetscScalar* columns)
{
    return ilux_set_null_space(solver, n, count, columns);
}

/// Real parts: rigid-body modes are real, whatever the matrix is.
int give_near_null(ilux_solver* solver, int64_t n, int64_t count, const PetscScalar* columns)
{
    double* real = nullptr;
    if (PetscMalloc1(n * count, &real) != 0) return ILUX_OUT_OF_MEMORY;
    for (int64_t i = 0; i < n * count; ++i) real[i] = PetscRealPart(columns[i]);
    const int status = ilux_set_near_null(solver, n, count, real);
    (void)PetscFree(real);
    return status;
}

/// @param known  the space that ilux has; it becomes this one  @param changed  set where it does
PetscErrorCode take(Factors* factors, Mat A, MatNullSpace space, Taker give, PetscObjectId* known, PetscBool* changed)
{
    PetscObjectId id = 0;
    PetscInt      n = 0, count = 0;
    PetscScalar*  columns = nullptr;

    PetscFunctionBegin;
    if (space) PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(space), &id));
    if (id == *known) PetscFunctionReturn(fine);
    PetscCall(MatGetLocalSize(A, &n, nullptr));
    if (space) PetscCall(columns_of(space, n, &count, &columns));
    const int status = give(factors->solver, n, count, columns);
    PetscCall(PetscFree(columns));
    PetscCheck(status == ILUX_OK, PETSC_COMM_SELF, PETSC_ERR_LIB, "ilux: %s", ilux_message(factors->solver));
    *known = id;
    factors->source = 0;  // whatever fails before the next analysis
    *changed = PETSC_TRUE;
    PetscFunctionReturn(fine);
}

/// The rigid motions, where they have as many unknowns as A, or null.
PetscErrorCode rigid_motions(const Factors* factors, Mat A, MatNullSpace* motions)
{
    const Vec* vector = nullptr;
    PetscInt   n = 0, size = 0, count = 0;

    PetscFunctionBegin;
    *motions = nullptr;
    if (!factors->rigid) PetscFunctionReturn(fine);
    PetscCall(MatNullSpaceGetVecs(factors->rigid, nullptr, &count, &vector));
    PetscCall(MatGetLocalSize(A, &n, nullptr));
    PetscCall(VecGetLocalSize(vector[0], &size));
    if (size == n) *motions = factors->rigid;
    PetscFunctionReturn(fine);
}

}  // namespace

PetscErrorCode set_coordinates(Factors* factors, PetscInt dim, PetscInt n, const PetscReal* coordinates)
{
    Vec          points = nullptr;
    PetscScalar* values = nullptr;

    PetscFunctionBegin;
    PetscCheck(dim >= 1 && dim <= 3, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "coordinates of %d dimensions; there are 1 to 3", static_cast<int>(dim));
    PetscCall(MatNullSpaceDestroy(&factors->rigid));
    if (dim == 1) PetscFunctionReturn(fine);
    PetscCall(VecCreateSeq(PETSC_COMM_SELF, dim * n, &points));
    PetscCall(VecSetBlockSize(points, dim));
    PetscCall(VecGetArrayWrite(points, &values));
    for (PetscInt i = 0; i < dim * n; ++i) values[i] = coordinates[i];
    PetscCall(VecRestoreArrayWrite(points, &values));
    PetscCall(MatNullSpaceCreateRigidBody(points, &factors->rigid));
    PetscCall(VecDestroy(&points));
    PetscFunctionReturn(fine);
}

PetscErrorCode take_null_spaces(Factors* factors, Mat A, PetscBool* changed)
{
    MatNullSpace space = nullptr, near = nullptr;

    PetscFunctionBegin;
    PetscCall(MatGetNullSpace(A, &space));
    PetscCall(take(factors, A, space, give_null_space, &factors->null_space, changed));
    PetscCall(MatGetNearNullSpace(A, &near));
    if (!near) PetscCall(rigid_motions(factors, A, &near));
    PetscCall(take(factors, A, near, give_near_null, &factors->near_null, changed));
    PetscFunctionReturn(fine);
}

}  // namespace ilux_petsc
