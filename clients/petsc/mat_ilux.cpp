// MatSolverType ilux: LU of a MATSEQAIJ, with pivots that are kept while they hold.

#include <petsc/private/matimpl.h>

#include "ilux/clients/petsc/factors.hpp"

namespace ilux_petsc {
namespace {

constexpr PetscErrorCode fine = static_cast<PetscErrorCode>(0);

Factors* of(Mat F) { return static_cast<Factors*>(F->data); }

PetscErrorCode numeric(Mat F, Mat A, const MatFactorInfo*)
{
    PetscFunctionBegin;
    F->factorerrortype = MAT_FACTOR_NOERROR;
    PetscCall(factor(of(F), A, &F->factorerrortype));
    PetscCheck(!F->erroriffailure || F->factorerrortype == MAT_FACTOR_NOERROR, PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT,
               "ilux: %s", ilux_message(of(F)->solver));
    F->assembled = PETSC_TRUE;
    F->preallocated = PETSC_TRUE;
    PetscFunctionReturn(fine);
}

/// The analysis waits for the numbers, since a matching looks at them.
PetscErrorCode symbolic(Mat F, Mat, IS, IS, const MatFactorInfo*)
{
    PetscFunctionBegin;
    of(F)->source = 0;
    PetscOptionsBegin(PETSC_COMM_SELF, (reinterpret_cast<PetscObject>(F))->prefix, "ilux options", "Mat");
    PetscCall(set_from_options(PetscOptionsObject, "mat_ilux", of(F)));
    PetscOptionsEnd();
    F->ops->lufactornumeric = numeric;
    PetscFunctionReturn(fine);
}

PetscErrorCode solve(Mat F, Vec b, Vec x) { return apply(of(F), ILUX_PLAIN, b, x); }
PetscErrorCode solve_transposed(Mat F, Vec b, Vec x) { return apply(of(F), ILUX_TRANSPOSED, b, x); }
PetscErrorCode solve_columns(Mat F, Mat B, Mat X) { return apply_columns(of(F), ILUX_PLAIN, B, X); }
PetscErrorCode solve_columns_transposed(Mat F, Mat B, Mat X) { return apply_columns(of(F), ILUX_TRANSPOSED, B, X); }

PetscErrorCode view_factors(Mat F, PetscViewer viewer) { return view(of(F), viewer); }

PetscErrorCode info(Mat F, MatInfoType, MatInfo* facts)
{
    ilux_factors made{};
    made.size = sizeof made;

    PetscFunctionBegin;
    PetscCall(PetscMemzero(facts, sizeof *facts));
    facts->block_size = 1;
    if (of(F)->there && ilux_factors_of(of(F)->solver, &made) == ILUX_OK) {
        facts->memory = static_cast<PetscLogDouble>(made.bytes);
        facts->fill_ratio_needed = made.fill;
    }
    PetscFunctionReturn(fine);
}

PetscErrorCode solver_type(Mat, MatSolverType* type)
{
    PetscFunctionBegin;
    *type = "ilux";
    PetscFunctionReturn(fine);
}

PetscErrorCode destroy_factors(Mat F)
{
    PetscFunctionBegin;
    PetscCall(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(F), "MatFactorGetSolverType_C", nullptr));
    PetscCall(destroy(of(F)));
    PetscCall(PetscFree(F->data));
    PetscFunctionReturn(fine);
}

PetscErrorCode get_factor(Mat A, MatFactorType type, Mat* made)
{
    Mat      F = nullptr;
    Factors* factors = nullptr;

    PetscFunctionBegin;
    PetscCall(MatCreate(PetscObjectComm(reinterpret_cast<PetscObject>(A)), &F));
    PetscCall(MatSetSizes(F, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
    PetscCall(PetscStrallocpy("ilux", &(reinterpret_cast<PetscObject>(F))->type_name));
    PetscCall(MatSetUp(F));
    PetscCall(PetscNew(&factors));
    PetscCall(create(Kind::lu, factors));
    F->data = factors;
    F->ops->lufactorsymbolic = symbolic;
    F->ops->solve = solve;
    F->ops->solvetranspose = solve_transposed;
    F->ops->matsolve = solve_columns;
    F->ops->matsolvetranspose = solve_columns_transposed;
    F->ops->view = view_factors;
    F->ops->getinfo = info;
    F->ops->destroy = destroy_factors;
    PetscCall(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(F), "MatFactorGetSolverType_C", solver_type));
    F->factortype = type;
    PetscCall(PetscFree(F->solvertype));
    PetscCall(PetscStrallocpy("ilux", &F->solvertype));
    F->canuseordering = PETSC_FALSE;
    PetscCall(PetscStrallocpy(MATORDERINGEXTERNAL, const_cast<char**>(&F->preferredordering[MAT_FACTOR_LU])));
    *made = F;
    PetscFunctionReturn(fine);
}

}  // namespace

PetscErrorCode register_mat_solver_type()
{
    PetscFunctionBegin;
    PetscCall(MatInitializePackage());  // PETSc's own come first: where nobody says which, the first one is taken
    PetscCall(MatSolverTypeRegister("ilux", MATSEQAIJ, MAT_FACTOR_LU, get_factor));
    PetscFunctionReturn(fine);
}

}  // namespace ilux_petsc
