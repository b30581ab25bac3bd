/* KSP with -pc_factor_mat_solver_type klu on a series of convection-diffusion problems: prints norms of what is solved. */
#include <petscksp.h>

#define N 150 /* N*N unknowns */

static PetscErrorCode fill(Mat A, PetscInt step)
{
    PetscFunctionBeginUser;
    for (PetscInt i = 0; i < N * N; ++i) {
        const PetscInt    x = i % N, y = i / N;
        const PetscScalar wind = 0.1 * (1 + step);
        PetscCall(MatSetValue(A, i, i, 4.0 + 0.01 * step, INSERT_VALUES));
        if (x > 0) PetscCall(MatSetValue(A, i, i - 1, -1.0 - wind, INSERT_VALUES));
        if (x < N - 1) PetscCall(MatSetValue(A, i, i + 1, -1.0 + wind, INSERT_VALUES));
        if (y > 0) PetscCall(MatSetValue(A, i, i - N, -1.0, INSERT_VALUES));
        if (y < N - 1) PetscCall(MatSetValue(A, i, i + N, -1.0, INSERT_VALUES));
#if defined(PETSC_USE_COMPLEX)
        PetscCall(MatSetValue(A, i, i, 4.0 + 0.01 * step + 0.5 * PETSC_i, INSERT_VALUES));
#endif
    }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

int main(int argc, char** argv)
{
    Mat A;
    Vec x, b, r;
    KSP ksp;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, N * N, N * N, 5, NULL, &A));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecDuplicate(b, &r));
    PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
    PetscCall(KSPSetFromOptions(ksp));
    for (PetscInt step = 0; step < 5; ++step) {
        PetscReal norm, first, residual;
        PetscInt  its;
        PetscCall(fill(A, step));
        PetscCall(KSPSetOperators(ksp, A, A));
        PetscCall(VecSet(b, 1.0 + step));
        for (PetscInt transposed = 0; transposed < 2; ++transposed) {
            PetscCall(transposed ? KSPSolveTranspose(ksp, b, x) : KSPSolve(ksp, b, x));
            PetscCall(KSPGetIterationNumber(ksp, &its));
            PetscCall(transposed ? MatMultTranspose(A, x, r) : MatMult(A, x, r));
            PetscCall(VecAXPY(r, -1.0, b));
            PetscCall(VecNorm(x, NORM_2, &norm));
            PetscCall(VecNorm(x, NORM_INFINITY, &first));
            PetscCall(VecNorm(r, NORM_2, &residual));
            PetscCall(PetscPrintf(PETSC_COMM_SELF, "%d steps, |x| %.10e %.10e, residual small: %d\n", (int)its, (double)norm,
                                  (double)first, residual < 1e-9 * norm));
        }
    }
    PetscCall(KSPView(ksp, PETSC_VIEWER_STDOUT_SELF));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&r));
    PetscCall(MatDestroy(&A));
    PetscCall(PetscFinalize());
    return 0;
}
