/* As PETSc's tutorial ex10: solves with a matrix of -f FILE (PETSc's binary format), -mtx FILE or -gallery SPEC, b = A x for known
   x, by a KSP whose options say how; -write FILE writes A in PETSc's format instead. Prints steps, error, seconds. */
#include <ilux.h>
#include <petscksp.h>
#include <petsctime.h>

/* Of ilux's matrix, this process's rows, which come in blocks of the same size. */
static PetscErrorCode distribute(ilux_matrix* given, Mat* A)
{
    ilux_csr       csr;
    const int64_t* ptr;
    PetscInt       first, last;

    PetscFunctionBegin;
    PetscCheck(ilux_matrix_csr(given, &csr) == ILUX_OK, PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG, "%s", ilux_last_error());
    PetscCheck(ilux_matrix_values(given) == ILUX_REAL, PETSC_COMM_WORLD, PETSC_ERR_SUP, "a complex matrix");
    ptr = (const int64_t*)csr.row_ptr;
    PetscCall(MatCreate(PETSC_COMM_WORLD, A));
    PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, (PetscInt)csr.n, (PetscInt)csr.n));
    PetscCall(MatSetFromOptions(*A));
    PetscCall(MatSetUp(*A));
    PetscCall(MatGetOwnershipRange(*A, &first, &last));
    PetscInt longest = 1;
    for (PetscInt i = first; i < last; ++i) longest = PetscMax(longest, (PetscInt)(ptr[i + 1] - ptr[i]) + 1);
    PetscCall(MatSeqAIJSetPreallocation(*A, longest, NULL));
    PetscCall(MatMPIAIJSetPreallocation(*A, longest, NULL, longest, NULL));
    for (PetscInt i = first; i < last; ++i) {
        PetscCall(MatSetValue(*A, i, i, 0, ADD_VALUES)); /* PETSc's ILU wants every diagonal entry */
        for (int64_t p = ptr[i]; p < ptr[i + 1]; ++p)
            PetscCall(MatSetValue(*A, i, csr.col[p], ((const double*)csr.values)[p], ADD_VALUES));
    }
    PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

static PetscErrorCode load(Mat* A)
{
    char         text[PETSC_MAX_PATH_LEN];
    PetscBool    given = PETSC_FALSE;
    ilux_matrix* matrix = NULL;
    int          status;

    PetscFunctionBegin;
    PetscCall(PetscOptionsGetString(NULL, NULL, "-f", text, sizeof text, &given));
    if (given) {
        PetscViewer file;
        PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, text, FILE_MODE_READ, &file));
        PetscCall(MatCreate(PETSC_COMM_WORLD, A));
        PetscCall(MatSetFromOptions(*A));
        PetscCall(MatLoad(*A, file));
        PetscCall(PetscViewerDestroy(&file));
        PetscFunctionReturn(0);
    }
    PetscCall(PetscOptionsGetString(NULL, NULL, "-mtx", text, sizeof text, &given));
    if (given) status = ilux_read(text, &matrix);
    else {
        PetscCall(PetscStrcpy(text, "convdiff2d:n=40"));
        PetscCall(PetscOptionsGetString(NULL, NULL, "-gallery", text, sizeof text, NULL));
        status = ilux_gallery(text, &matrix);
    }
    PetscCheck(status == ILUX_OK, PETSC_COMM_WORLD, PETSC_ERR_FILE_OPEN, "%s", ilux_last_error());
    PetscCall(distribute(matrix, A));
    ilux_matrix_free(matrix);
    PetscFunctionReturn(0);
}

static PetscErrorCode solve(Mat A)
{
    Vec                expected, b, x, r;
    KSP                ksp;
    PC                 pc;
    PetscInt           n, first, last, steps;
    PetscReal          error, norm, residual, of_b;
    KSPConvergedReason reason;
    PCFailedReason     why;
    PetscLogDouble     begin, ready, end;

    PetscFunctionBegin;
    PetscCall(MatGetSize(A, &n, NULL));
    PetscCall(MatCreateVecs(A, &expected, &b));
    PetscCall(VecDuplicate(expected, &x));
    PetscCall(VecDuplicate(expected, &r));
    PetscCall(VecGetOwnershipRange(expected, &first, &last));
    for (PetscInt i = first; i < last; ++i) PetscCall(VecSetValue(expected, i, 1 + (PetscReal)(i * 7919LL % 1000) / 1000, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(expected));
    PetscCall(VecAssemblyEnd(expected));
    PetscCall(MatMult(A, expected, b));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    PetscCall(PetscTime(&begin));
    PetscCall(KSPSetUp(ksp));
    PetscCall(KSPSetUpOnBlocks(ksp));
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    PetscCall(PetscTime(&ready));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    PetscCall(PetscTime(&end));
    PetscCall(KSPGetIterationNumber(ksp, &steps));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCGetFailedReason(pc, &why));
    PetscCall(MatMult(A, x, r));
    PetscCall(VecAYPX(r, -1, b));
    PetscCall(VecNorm(r, NORM_2, &residual));
    PetscCall(VecNorm(b, NORM_2, &of_b));
    PetscCall(VecNorm(expected, NORM_2, &norm));
    PetscCall(VecAXPY(x, -1, expected));
    PetscCall(VecNorm(x, NORM_2, &error));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "reason %s pc %s n %d steps %d residual %.3e error %.3e setup %.4f solve %.4f\n",
                          KSPConvergedReasons[reason], PCFailedReasons[why], (int)n, (int)steps, (double)(residual / of_b),
                          (double)(error / norm), ready - begin, end - ready));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&expected));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&r));
    PetscFunctionReturn(0);
}

int main(int argc, char** argv)
{
    Mat       A;
    char      path[PETSC_MAX_PATH_LEN];
    PetscBool write = PETSC_FALSE;

    PetscFunctionBeginUser;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(load(&A));
    PetscCall(PetscOptionsGetString(NULL, NULL, "-write", path, sizeof path, &write));
    if (write) {
        PetscViewer file;
        PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, path, FILE_MODE_WRITE, &file));
        PetscCall(MatView(A, file));
        PetscCall(PetscViewerDestroy(&file));
    } else PetscCall(solve(A));
    PetscCall(MatDestroy(&A));
    PetscCall(PetscFinalize());
    return 0;
}
