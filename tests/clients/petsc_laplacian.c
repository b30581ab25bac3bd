/* As PETSc's tutorial ex2: -u'' of a grid of -m by -m points, with -wind, row by row over the processes, solved by a KSP whose
   options say how. With -again the numbers change and the pattern does not, and it is solved once more; with -transposed A^T x = b
   is; with -singular a row is a zero one. Prints a line for each solve: what KSP says, steps, and the error of x. */
#include <petscksp.h>

static PetscErrorCode assemble(Mat A, PetscInt m, PetscReal wind, PetscReal shift, PetscBool singular)
{
    PetscInt first, last;

    PetscFunctionBegin;
    PetscCall(MatGetOwnershipRange(A, &first, &last));
    for (PetscInt row = first; row < last; ++row) {
        const PetscInt    i = row / m, j = row % m;
        const PetscScalar scale = singular && row == m + 1 ? 0 : 1;
        if (i > 0) PetscCall(MatSetValue(A, row, row - m, -scale, INSERT_VALUES));
        if (i < m - 1) PetscCall(MatSetValue(A, row, row + m, -scale, INSERT_VALUES));
        if (j > 0) PetscCall(MatSetValue(A, row, row - 1, -scale * (1 + wind), INSERT_VALUES));
        if (j < m - 1) PetscCall(MatSetValue(A, row, row + 1, -scale * (1 - wind), INSERT_VALUES));
        PetscCall(MatSetValue(A, row, row, scale * (4 + shift), INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

/* Numbers that are the same for every number of processes. */
static PetscErrorCode fill(Vec x)
{
    PetscInt first, last;

    PetscFunctionBegin;
    PetscCall(VecGetOwnershipRange(x, &first, &last));
    for (PetscInt i = first; i < last; ++i) PetscCall(VecSetValue(x, i, 1 + (PetscReal)(i * 7919 % 1000) / 1000, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(x));
    PetscCall(VecAssemblyEnd(x));
    PetscFunctionReturn(0);
}

static PetscErrorCode solve(KSP ksp, Mat A, Vec expected, PetscBool transposed)
{
    Vec                b, x;
    PetscInt           steps;
    PetscReal          error, norm;
    KSPConvergedReason reason;
    PCFailedReason     why;
    PC                 pc;

    PetscFunctionBegin;
    PetscCall(VecDuplicate(expected, &b));
    PetscCall(VecDuplicate(expected, &x));
    PetscCall(VecNorm(expected, NORM_2, &norm));
    if (transposed) {
        PetscCall(MatMultTranspose(A, expected, b));
        PetscCall(KSPSolveTranspose(ksp, b, x));
    } else {
        PetscCall(MatMult(A, expected, b));
        PetscCall(KSPSolve(ksp, b, x));
    }
    PetscCall(KSPGetIterationNumber(ksp, &steps));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCGetFailedReason(pc, &why));
    PetscCall(VecAXPY(x, -1, expected));
    PetscCall(VecNorm(x, NORM_2, &error));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "reason %s pc %s steps %d error %.3e\n", KSPConvergedReasons[reason],
                          PCFailedReasons[why], (int)steps, (double)(error / norm)));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
    PetscFunctionReturn(0);
}

int main(int argc, char** argv)
{
    PetscInt  m = 40;
    PetscReal wind = 0.3;
    PetscBool again = PETSC_FALSE, transposed = PETSC_FALSE, singular = PETSC_FALSE;
    Mat       A;
    Vec       expected;
    KSP       ksp;

    PetscFunctionBeginUser;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-m", &m, NULL));
    PetscCall(PetscOptionsGetReal(NULL, NULL, "-wind", &wind, NULL));
    PetscCall(PetscOptionsGetBool(NULL, NULL, "-again", &again, NULL));
    PetscCall(PetscOptionsGetBool(NULL, NULL, "-transposed", &transposed, NULL));
    PetscCall(PetscOptionsGetBool(NULL, NULL, "-singular", &singular, NULL));
    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, m * m, m * m));
    PetscCall(MatSetFromOptions(A));
    PetscCall(MatSeqAIJSetPreallocation(A, 5, NULL));
    PetscCall(MatMPIAIJSetPreallocation(A, 5, NULL, 5, NULL));
    PetscCall(MatSetUp(A));
    PetscCall(assemble(A, m, wind, 0, singular));
    PetscCall(MatCreateVecs(A, &expected, NULL));
    PetscCall(fill(expected));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(solve(ksp, A, expected, transposed));
    if (again) {
        PetscCall(assemble(A, m, 0.5 * wind, 0.5, PETSC_FALSE));
        PetscCall(solve(ksp, A, expected, transposed));
    }
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&expected));
    PetscCall(MatDestroy(&A));
    PetscCall(PetscFinalize());
    return 0;
}
