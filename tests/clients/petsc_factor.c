/* MatSolverType ilux and PC ilux, call by call: every x is measured here. Exits with 0 where all of it holds. */
#include <petscpc.h>

static int failed = 0;

static void expect(PetscBool holds, const char* what)
{
    if (holds) return;
    PetscPrintf(PETSC_COMM_SELF, "not so: %s\n", what);
    ++failed;
}

/* Unsymmetric, its first diagonal entry 0, so that pivots have to be looked for. */
static PetscErrorCode assemble(Mat A, PetscInt n, PetscReal scale, PetscBool singular)
{
    PetscFunctionBegin;
    for (PetscInt i = 0; i < n; ++i) {
        PetscScalar diagonal = scale * (3 + i % 5), row = singular && i == n / 2 ? 0 : 1;
        if (i == 0) diagonal = 0;
#if defined(PETSC_USE_COMPLEX)
        diagonal += PETSC_i * (PetscReal)(i % 3);
#endif
        PetscCall(MatSetValue(A, i, i, row * diagonal, INSERT_VALUES));
        PetscCall(MatSetValue(A, i, (i + 1) % n, row * -1.5, INSERT_VALUES));
        PetscCall(MatSetValue(A, i, (i + n - 1) % n, row * 0.7, INSERT_VALUES));
        PetscCall(MatSetValue(A, i, (i * 7 + 3) % n, row * 0.2, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

/* |b - op(A) x| / |b| */
static PetscErrorCode residual(Mat A, PetscBool transposed, Vec b, Vec x, PetscReal* value)
{
    Vec       r;
    PetscReal norm;

    PetscFunctionBegin;
    PetscCall(VecDuplicate(b, &r));
    PetscCall(transposed ? MatMultTranspose(A, x, r) : MatMult(A, x, r));
    PetscCall(VecAYPX(r, -1, b));
    PetscCall(VecNorm(r, NORM_2, value));
    PetscCall(VecNorm(b, NORM_2, &norm));
    *value /= norm;
    PetscCall(VecDestroy(&r));
    PetscFunctionReturn(0);
}

static PetscErrorCode solve_all_ways(Mat A, Mat F, PetscInt n)
{
    Vec       b, x;
    Mat       B, X;
    PetscReal r;

    PetscFunctionBegin;
    PetscCall(MatCreateVecs(A, &x, &b));
    for (PetscInt i = 0; i < n; ++i) PetscCall(VecSetValue(b, i, 1 + i % 11, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(b));
    PetscCall(VecAssemblyEnd(b));
    PetscCall(MatSolve(F, b, x));
    PetscCall(residual(A, PETSC_FALSE, b, x, &r));
    expect(r < 1e-12, "MatSolve solves");
    PetscCall(MatSolveTranspose(F, b, x));
    PetscCall(residual(A, PETSC_TRUE, b, x, &r));
    expect(r < 1e-12, "MatSolveTranspose solves");
    PetscCall(MatCreateDense(PETSC_COMM_SELF, n, 3, n, 3, NULL, &B));
    PetscCall(MatCreateDense(PETSC_COMM_SELF, n, 3, n, 3, NULL, &X));
    for (PetscInt k = 0; k < 3; ++k)
        for (PetscInt i = 0; i < n; ++i) PetscCall(MatSetValue(B, i, k, 1 + (i * (k + 2)) % 7, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
    for (int transposed = 0; transposed < 2; ++transposed) {
        PetscCall(transposed ? MatMatSolveTranspose(F, B, X) : MatMatSolve(F, B, X));
        for (PetscInt k = 0; k < 3; ++k) {
            PetscCall(MatGetColumnVector(B, b, k));
            PetscCall(MatGetColumnVector(X, x, k));
            PetscCall(residual(A, transposed ? PETSC_TRUE : PETSC_FALSE, b, x, &r));
            expect(r < 1e-12, transposed ? "MatMatSolveTranspose solves" : "MatMatSolve solves");
        }
    }
    PetscCall(MatDestroy(&B));
    PetscCall(MatDestroy(&X));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
    PetscFunctionReturn(0);
}

/* A PC applied to columns does what it does to each; transposed, (M^-T r) . s = r . (M^-1 s). */
static PetscErrorCode apply_all_ways(Mat A, PetscInt n)
{
    PC          pc;
    Mat         R, Z;
    Vec         r, z, column, transposed;
    PetscScalar one, other;
    PetscReal   difference;

    PetscFunctionBegin;
    PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
    PetscCall(PCSetType(pc, "ilux"));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetFromOptions(pc));
    PetscCall(PCSetUp(pc));
    PetscCall(MatCreateDense(PETSC_COMM_SELF, n, 3, n, 3, NULL, &R));
    PetscCall(MatDuplicate(R, MAT_COPY_VALUES, &Z));
    PetscCall(MatSetRandom(R, NULL));
    PetscCall(PCMatApply(pc, R, Z));
    PetscCall(MatCreateVecs(A, &z, &r));
    PetscCall(VecDuplicate(z, &column));
    PetscCall(VecDuplicate(z, &transposed));
    for (PetscInt k = 0; k < 3; ++k) {
        PetscCall(MatGetColumnVector(R, r, k));
        PetscCall(MatGetColumnVector(Z, column, k));
        PetscCall(PCApply(pc, r, z));
        PetscCall(VecAXPY(column, -1, z));
        PetscCall(VecNorm(column, NORM_INFINITY, &difference));
        expect(difference == 0, "PCMatApply is PCApply of each column");
        PetscCall(PCApplyTranspose(pc, r, transposed));
        PetscCall(MatGetColumnVector(R, column, (k + 1) % 3));
        PetscCall(VecTDot(transposed, column, &one));
        PetscCall(PCApply(pc, column, z));
        PetscCall(VecTDot(r, z, &other));
        expect(PetscAbsScalar(one - other) < 1e-10 * (1 + PetscAbsScalar(one)), "PCApplyTranspose is the transpose");
    }
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&R));
    PetscCall(MatDestroy(&Z));
    PetscCall(VecDestroy(&r));
    PetscCall(VecDestroy(&z));
    PetscCall(VecDestroy(&column));
    PetscCall(VecDestroy(&transposed));
    PetscFunctionReturn(0);
}

int main(int argc, char** argv)
{
    Mat             A, F, other;
    PetscInt        n = 300;
    MatFactorInfo   given;
    MatInfo         info;
    MatFactorError  error;
    MatSolverType   type;

    PetscFunctionBeginUser;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(MatFactorInfoInitialize(&given));
    PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 5, NULL, &A));
    PetscCall(assemble(A, n, 1, PETSC_FALSE));
    PetscCall(MatGetFactor(A, "ilux", MAT_FACTOR_LU, &F));
    PetscCall(MatFactorGetSolverType(F, &type));
    expect(type && type[0] == 'i', "the type is told");
    PetscCall(MatLUFactorSymbolic(F, A, NULL, NULL, &given));
    PetscCall(MatLUFactorNumeric(F, A, &given));
    PetscCall(solve_all_ways(A, F, n));
    PetscCall(apply_all_ways(A, n));
    PetscCall(MatGetInfo(F, MAT_LOCAL, &info));
    expect(info.fill_ratio_needed >= 1, "the fill is told");

    PetscCall(assemble(A, n, 1.1, PETSC_FALSE)); /* by the same pivots */
    PetscCall(MatLUFactorNumeric(F, A, &given));
    PetscCall(solve_all_ways(A, F, n));
    PetscCall(PetscViewerPushFormat(PETSC_VIEWER_STDOUT_SELF, PETSC_VIEWER_ASCII_INFO));
    PetscCall(MatView(F, PETSC_VIEWER_STDOUT_SELF));
    PetscCall(PetscViewerPopFormat(PETSC_VIEWER_STDOUT_SELF));

    PetscCall(assemble(A, n, 1, PETSC_TRUE)); /* a row of zeros */
    PetscCall(MatLUFactorNumeric(F, A, &given));
    PetscCall(MatFactorGetError(F, &error));
    expect(error == MAT_FACTOR_NUMERIC_ZEROPIVOT, "a singular matrix is told");

    PetscCall(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, &other)); /* another matrix; the first one goes, the factors stay */
    PetscCall(assemble(other, n, 2, PETSC_FALSE));
    PetscCall(MatDestroy(&A));
    PetscCall(MatLUFactorNumeric(F, other, &given));
    PetscCall(MatFactorGetError(F, &error));
    expect(error == MAT_FACTOR_NOERROR, "and after it a regular one");
    PetscCall(solve_all_ways(other, F, n));
    PetscCall(MatDestroy(&other));
    PetscCall(MatDestroy(&F));
    PetscCall(PetscFinalize());
    return failed;
}
