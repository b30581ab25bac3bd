#include "ilux/clients/petsc/factors.hpp"

#include <petsc/private/matimpl.h>

namespace ilux_petsc {
namespace {

constexpr PetscErrorCode fine = static_cast<PetscErrorCode>(0);

/// The user's numbers are not finite: a failure, which a line search or a time step may mend, and no misuse.
PetscBool all_finite(const PetscScalar* values, PetscInt count)
{
    for (PetscInt p = 0; p < count; ++p)
        if (PetscIsInfOrNanScalar(values[p])) return PETSC_FALSE;
    return PETSC_TRUE;
}

/// @param values  of the matrix, count
PetscErrorCode failure_of(Factors* factors, int status, const PetscScalar* values, PetscInt count,
                          MatFactorError* failure)
{
    PetscFunctionBegin;
    *failure = MAT_FACTOR_OTHER;
    if (status == ILUX_OK) *failure = MAT_FACTOR_NOERROR;
    if (status == ILUX_SINGULAR) *failure = MAT_FACTOR_NUMERIC_ZEROPIVOT;
    if (status == ILUX_OUT_OF_MEMORY) *failure = MAT_FACTOR_OUTMEMORY;
    const PetscBool misuse = static_cast<PetscBool>(status == ILUX_BAD_OPTION || status == ILUX_NO_DEVICE ||
                                                    (status == ILUX_BAD_INPUT && all_finite(values, count)));
    PetscCheck(!misuse, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "ilux: %s", ilux_message(factors->solver));
    PetscCheck(status != ILUX_INTERNAL, PETSC_COMM_SELF, PETSC_ERR_LIB, "ilux: %s", ilux_message(factors->solver));
    factors->there = static_cast<PetscBool>(status == ILUX_OK);
    if (status != ILUX_OK) PetscCall(PetscInfo(factors->aij, "ilux: %s\n", ilux_message(factors->solver)));
    PetscFunctionReturn(fine);
}

/// Makes factors->aij what A is; its arrays stay where they are while `same`.
PetscErrorCode take_matrix(Factors* factors, Mat A, PetscBool same)
{
    PetscBool is_aij = PETSC_FALSE;

    PetscFunctionBegin;
    PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(A), MATSEQAIJ, &is_aij));
    if (!is_aij) {
        if (!same) PetscCall(MatDestroy(&factors->aij));
        PetscCall(MatConvert(A, MATSEQAIJ, same ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, &factors->aij));
    } else if (!same) {
        PetscCall(PetscObjectReference(reinterpret_cast<PetscObject>(A)));
        PetscCall(MatDestroy(&factors->aij));
        factors->aij = A;
    }
    PetscFunctionReturn(fine);
}

/// Columns as ilux has them: PETSc's own, or a copy where those are of 64 bits.
PetscErrorCode columns_of(Factors* factors, const PetscInt* ja, PetscInt count, const int32_t** col)
{
    PetscFunctionBegin;
    if constexpr (sizeof(PetscInt) == sizeof(int32_t)) {
        *col = reinterpret_cast<const int32_t*>(ja);
    } else {
        PetscCall(PetscFree(factors->narrow));
        PetscCall(PetscMalloc1(count, &factors->narrow));
        for (PetscInt p = 0; p < count; ++p) factors->narrow[p] = static_cast<int32_t>(ja[p]);
        *col = factors->narrow;
    }
    PetscFunctionReturn(fine);
}

PetscErrorCode analyse_and_factor(Factors* factors, const PetscScalar* values, int* status)
{
    PetscInt        n = 0;
    const PetscInt *ia = nullptr, *ja = nullptr;
    PetscBool       done = PETSC_FALSE;
    ilux_csr        csr{};

    PetscFunctionBegin;
    PetscCall(MatGetRowIJ(factors->aij, 0, PETSC_FALSE, PETSC_FALSE, &n, &ia, &ja, &done));
    PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "the matrix does not show its rows");
    csr.n = n;
    csr.row_ptr = ia;
    csr.row_ptr_bits = 8 * sizeof(PetscInt);
    csr.values = values;
    PetscCall(columns_of(factors, ja, ia[n], &csr.col));
    *status = ilux_analyse(factors->solver, &csr, 1, 1);
    if (*status == ILUX_OK) *status = ilux_factor(factors->solver, nullptr);
    PetscCall(MatRestoreRowIJ(factors->aij, 0, PETSC_FALSE, PETSC_FALSE, &n, &ia, &ja, &done));
    PetscFunctionReturn(fine);
}

PetscErrorCode check(Factors* factors, int status)
{
    PetscFunctionBegin;
    PetscCheck(status == ILUX_OK, PETSC_COMM_SELF, PETSC_ERR_LIB, "ilux: %s", ilux_message(factors->solver));
    PetscFunctionReturn(fine);
}

}  // namespace

PetscErrorCode create(Kind kind, Factors* factors)
{
    const int values = PetscDefined(USE_COMPLEX) ? ILUX_COMPLEX : ILUX_REAL;

    PetscFunctionBegin;
    *factors = Factors{};
    factors->kind = kind;
    PetscCheck(ilux_create(values, &factors->solver) == ILUX_OK, PETSC_COMM_SELF, PETSC_ERR_MEM, "ilux: %s",
               ilux_last_error());
    PetscCall(set(factors, "method", kind == Kind::lu ? "lu" : "gmres"));  // the iteration is PETSc's
    PetscCall(set(factors, "threads", "1"));                               // ranks have a core each
    PetscCall(set(factors, "device", "cpu"));
    PetscCall(set(factors, "time_limit", "0"));
    PetscCall(set(factors, "sequence.refresh_always", "true"));  // -ksp_reuse_preconditioner says otherwise
    if (kind == Kind::preconditioner) PetscCall(set(factors, "retry", "false"));  // what fails says so
    factors->options[0] = '\0';
    PetscFunctionReturn(fine);
}

PetscErrorCode reset(Factors* factors)
{
    PetscFunctionBegin;
    factors->source = 0;
    factors->there = PETSC_FALSE;
    PetscCall(MatDestroy(&factors->aij));
    PetscCall(PetscFree(factors->narrow));
    PetscFunctionReturn(fine);
}

PetscErrorCode destroy(Factors* factors)
{
    PetscFunctionBegin;
    ilux_destroy(factors->solver);
    factors->solver = nullptr;
    PetscCall(reset(factors));
    PetscFunctionReturn(fine);
}

PetscErrorCode factor(Factors* factors, Mat A, MatFactorError* failure)
{
    PetscObjectId      id = 0;
    PetscObjectState   pattern = 0;
    const PetscScalar* values = nullptr;
    MatInfo            info;
    PetscBool          other_null_spaces = PETSC_FALSE;
    int                status = ILUX_OK;

    PetscFunctionBegin;
    if (factors->kind == Kind::preconditioner) PetscCall(take_null_spaces(factors, A, &other_null_spaces));
    PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(A), &id));
    PetscCall(MatGetNonzeroState(A, &pattern));
    const auto same =
        static_cast<PetscBool>(factors->source == id && factors->pattern == pattern && !other_null_spaces);
    factors->there = PETSC_FALSE;
    factors->source = 0;  // until there is something to be used again
    PetscCall(take_matrix(factors, A, same));
    PetscCall(MatSeqAIJGetArrayRead(factors->aij, &values));
    if (same) status = ilux_refactor(factors->solver, values);
    else PetscCall(analyse_and_factor(factors, values, &status));
    PetscCall(MatGetInfo(factors->aij, MAT_LOCAL, &info));
    PetscCall(failure_of(factors, status, values, static_cast<PetscInt>(info.nz_used), failure));
    PetscCall(MatSeqAIJRestoreArrayRead(factors->aij, &values));
    if (status != ILUX_BAD_INPUT) {  // else there may be no analysis
        factors->source = id;
        factors->pattern = pattern;
    }
    PetscFunctionReturn(fine);
}

PetscErrorCode apply(Factors* factors, int op, Vec r, Vec z)
{
    const PetscScalar* from = nullptr;
    PetscScalar*       to = nullptr;
    PetscInt           n = 0;

    PetscFunctionBegin;
    if (!factors->there) {
        PetscCall(VecSet(z, PETSC_INFINITY));
        PetscFunctionReturn(fine);
    }
    PetscCall(VecGetLocalSize(r, &n));
    PetscCall(VecGetArrayRead(r, &from));
    PetscCall(VecGetArrayWrite(z, &to));
    PetscCall(check(factors, ilux_precondition(factors->solver, op, 1, from, n, to, n)));
    PetscCall(VecRestoreArrayWrite(z, &to));
    PetscCall(VecRestoreArrayRead(r, &from));
    PetscFunctionReturn(fine);
}

PetscErrorCode apply_columns(Factors* factors, int op, Mat R, Mat Z)
{
    const PetscScalar* from = nullptr;
    PetscScalar*       to = nullptr;
    PetscInt           columns = 0, ldr = 0, ldz = 0;
    PetscBool          dense_R = PETSC_FALSE, dense_Z = PETSC_FALSE;

    PetscFunctionBegin;
    PetscCall(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(R), &dense_R, MATSEQDENSE, MATMPIDENSE, NULL));
    PetscCall(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(Z), &dense_Z, MATSEQDENSE, MATMPIDENSE, NULL));
    PetscCheck(dense_R && dense_Z, PETSC_COMM_SELF, PETSC_ERR_SUP, "ilux takes dense B and X");
    if (!factors->there) {
        PetscCall(MatDenseGetArray(Z, &to));
        PetscCall(MatDenseGetLDA(Z, &ldz));
        PetscCall(MatGetSize(Z, nullptr, &columns));
        for (PetscInt p = 0; p < ldz * columns; ++p) to[p] = PETSC_INFINITY;
        PetscCall(MatDenseRestoreArray(Z, &to));
        PetscFunctionReturn(fine);
    }
    PetscCall(MatGetSize(R, nullptr, &columns));
    PetscCall(MatDenseGetLDA(R, &ldr));
    PetscCall(MatDenseGetLDA(Z, &ldz));
    PetscCall(MatDenseGetArrayRead(R, &from));
    PetscCall(MatDenseGetArrayWrite(Z, &to));
    PetscCall(check(factors, ilux_precondition(factors->solver, op, columns, from, ldr, to, ldz)));
    PetscCall(MatDenseRestoreArrayWrite(Z, &to));
    PetscCall(MatDenseRestoreArrayRead(R, &from));
    PetscFunctionReturn(fine);
}

PetscErrorCode view(Factors* factors, PetscViewer viewer)
{
    ilux_factors facts{};
    facts.size = sizeof facts;
    PetscBool ascii = PETSC_FALSE;
    char      what[64] = "";

    PetscFunctionBegin;
    PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
    if (!ascii) PetscFunctionReturn(fine);
    PetscCall(PetscViewerASCIIPrintf(viewer, "  ilux %s, options: %s\n", ilux_version(),
                                     factors->options[0] ? factors->options : "as they are without any"));
    if (!factors->there || ilux_factors_of(factors->solver, &facts) != ILUX_OK) {
        PetscCall(PetscViewerASCIIPrintf(viewer, "  no factors%s%s\n", ilux_message(factors->solver)[0] ? ": " : "",
                                         ilux_message(factors->solver)));
        PetscFunctionReturn(fine);
    }
    if (facts.direct) PetscCall(PetscStrcpy(what, "LU"));
    else if (facts.levels == 0) PetscCall(PetscStrcpy(what, "one level"));
    else
        PetscCall(PetscSNPrintf(what, sizeof what, "multilevel ILU of %d level%s", static_cast<int>(facts.levels),
                                facts.levels == 1 ? "" : "s"));
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %s%s, %.3g values for each of A, %.3g MB, made in %.3g s\n", what,
                                     !facts.reused  ? ""
                                     : facts.direct ? " by former pivots"
                                                    : " by former rounds",
                                     facts.fill, 1e-6 * static_cast<double>(facts.bytes), facts.seconds));
    if (factors->null_space != 0)
        PetscCall(PetscViewerASCIIPrintf(viewer, "  it is kept clear of the null space of the matrix\n"));
    if (factors->near_null != 0)
        PetscCall(PetscViewerASCIIPrintf(viewer, "  it has the near null space of the matrix\n"));
    if (facts.deficiency > 0)
        PetscCall(PetscViewerASCIIPrintf(viewer, "  they lack rank %d: A is singular or nearly so\n",
                                         static_cast<int>(facts.deficiency)));
    PetscFunctionReturn(fine);
}

}  // namespace ilux_petsc
