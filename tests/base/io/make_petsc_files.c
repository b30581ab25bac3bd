/* Writes small matrices and vectors as PETSc does, for make_files: A, B (dense) and vectors of it, in files PREFIX_NAME.petsc. */
#include <petscmat.h>
#include <stdio.h>

static const double a[4][4] = {{4, 0, -1.5, 0}, {0, 3, 0, 1e-3}, {2, 0, 5, 0}, {0, -7, 0, 6.25}};
static const double b[4][2] = {{1, 5}, {2, 6}, {0, 7}, {4, -8}};

static PetscScalar value(double x)
{
#ifdef PETSC_USE_COMPLEX
    return x + 2 * x * PETSC_i;
#else
    return x;
#endif
}

static PetscViewer opened(const char* prefix, const char* name)
{
    char        path[1024];
    PetscViewer file;
    snprintf(path, sizeof path, "%s_%s.petsc", prefix, name);
    PetscCallAbort(PETSC_COMM_SELF, PetscViewerCreate(PETSC_COMM_SELF, &file));
    PetscCallAbort(PETSC_COMM_SELF, PetscViewerSetType(file, PETSCVIEWERBINARY));
    PetscCallAbort(PETSC_COMM_SELF, PetscViewerFileSetMode(file, FILE_MODE_WRITE));
    PetscCallAbort(PETSC_COMM_SELF, PetscViewerBinarySetSkipInfo(file, PETSC_TRUE));
    PetscCallAbort(PETSC_COMM_SELF, PetscViewerFileSetName(file, path));
    return file;
}

int main(int argc, char** argv)
{
    Mat         A, B;
    Vec         x[2];
    PetscViewer file;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 4, 4, 2, NULL, &A));
    PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, 4, 2, NULL, &B));
    for (int j = 0; j < 2; ++j) PetscCall(VecCreateSeq(PETSC_COMM_SELF, 4, &x[j]));
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j)
            if (a[i][j] != 0) PetscCall(MatSetValue(A, i, j, value(a[i][j]), INSERT_VALUES));
        for (int j = 0; j < 2; ++j) {
            PetscCall(MatSetValue(B, i, j, value(b[i][j]), INSERT_VALUES));
            PetscCall(VecSetValue(x[j], i, value(b[i][j]), INSERT_VALUES));
        }
    }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
    for (int j = 0; j < 2; ++j) {
        PetscCall(VecAssemblyBegin(x[j]));
        PetscCall(VecAssemblyEnd(x[j]));
    }
    file = opened(argv[1], "system");
    PetscCall(MatView(A, file));
    PetscCall(VecView(x[1], file));
    PetscCall(PetscViewerDestroy(&file));
    file = opened(argv[1], "dense");
    PetscCall(MatView(B, file));
    PetscCall(PetscViewerDestroy(&file));
    file = opened(argv[1], "native");
    PetscCall(PetscViewerPushFormat(file, PETSC_VIEWER_NATIVE));
    PetscCall(MatView(B, file));
    PetscCall(PetscViewerPopFormat(file));
    PetscCall(PetscViewerDestroy(&file));
    file = opened(argv[1], "vectors");
    for (int j = 0; j < 2; ++j) PetscCall(VecView(x[j], file));
    PetscCall(PetscViewerDestroy(&file));
    for (int j = 0; j < 2; ++j) PetscCall(VecDestroy(&x[j]));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
    PetscCall(PetscFinalize());
    return 0;
}
