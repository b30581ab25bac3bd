/* PC ilux of a matrix with a null space: M is kept clear of what MatSetNullSpace attached, and follows it when it
   changes; what MatSetNearNullSpace attached goes into M. Exits with 0 where all of it holds. */
#include <petscksp.h>

static int failed = 0;

static void expect(PetscBool holds, const char* what)
{
    if (holds) return;
    PetscPrintf(PETSC_COMM_SELF, "not so: %s\n", what);
    ++failed;
}

/* Two lines of n / 2 points each, tied to their neighbours: A takes the ones of either to 0. */
static PetscErrorCode assemble(Mat A, PetscInt n)
{
    PetscFunctionBegin;
    for (PetscInt i = 0; i < n; ++i)
        for (PetscInt j = i - 1; j <= i + 1; j += 2)
            if (j >= 0 && j < n && j / (n / 2) == i / (n / 2)) {
                PetscCall(MatSetValue(A, i, i, 1, ADD_VALUES));
                PetscCall(MatSetValue(A, i, j, -1, ADD_VALUES));
            }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

/* The sums of z = M^-1 r over the first and the second line, for an r that has a part in the null space. */
static PetscErrorCode sums(PC pc, PetscInt n, PetscReal of_line[2])
{
    Mat                A;
    Vec                r, z;
    const PetscScalar* entry;

    PetscFunctionBegin;
    PetscCall(PCGetOperators(pc, NULL, &A));
    PetscCall(MatCreateVecs(A, &z, &r));
    for (PetscInt i = 0; i < n; ++i) PetscCall(VecSetValue(r, i, 1 + i * 7 % 11, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(r));
    PetscCall(VecAssemblyEnd(r));
    PetscCall(PCSetUp(pc));
    PetscCall(PCApply(pc, r, z));
    PetscCall(VecGetArrayRead(z, &entry));
    for (int line = 0; line < 2; ++line) {
        PetscScalar sum = 0;
        for (PetscInt i = 0; i < n / 2; ++i) sum += entry[line * (n / 2) + i];
        of_line[line] = PetscAbsScalar(sum) / n;
    }
    PetscCall(VecRestoreArrayRead(z, &entry));
    PetscCall(VecDestroy(&r));
    PetscCall(VecDestroy(&z));
    PetscFunctionReturn(0);
}

/* The ones of each line, to be given away. */
static PetscErrorCode null_space_of_lines(Mat A, PetscInt n, MatNullSpace* space)
{
    Vec ones[2];

    PetscFunctionBegin;
    for (int line = 0; line < 2; ++line) {
        PetscCall(MatCreateVecs(A, &ones[line], NULL));
        for (PetscInt i = 0; i < n / 2; ++i) PetscCall(VecSetValue(ones[line], line * (n / 2) + i, 1, INSERT_VALUES));
        PetscCall(VecAssemblyBegin(ones[line]));
        PetscCall(VecAssemblyEnd(ones[line]));
        PetscCall(VecNormalize(ones[line], NULL));
    }
    PetscCall(MatNullSpaceCreate(PETSC_COMM_SELF, PETSC_FALSE, 2, ones, space));
    PetscCall(VecDestroy(&ones[0]));
    PetscCall(VecDestroy(&ones[1]));
    PetscFunctionReturn(0);
}

/* x without a part in the null space, from b = A x + that part. */
static PetscErrorCode solve(Mat A, PC pc, PetscInt n)
{
    KSP                ksp;
    KSPConvergedReason reason;
    MatNullSpace       space;
    Vec                x, b, expected;
    PetscReal          error;

    PetscFunctionBegin;
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecDuplicate(x, &expected));
    for (PetscInt i = 0; i < n; ++i) PetscCall(VecSetValue(expected, i, i * 3 % 17, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(expected));
    PetscCall(VecAssemblyEnd(expected));
    PetscCall(MatGetNullSpace(A, &space));
    PetscCall(MatNullSpaceRemove(space, expected));
    PetscCall(MatMult(A, expected, b));
    PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
    PetscCall(KSPSetType(ksp, KSPGMRES));
    PetscCall(KSPSetPC(ksp, pc));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 50));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(VecAXPY(x, -1, expected));
    PetscCall(VecNorm(x, NORM_INFINITY, &error));
    expect(reason > 0, "GMRES converges");
    expect(error < 1e-6, "x has no part in the null space");
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&expected));
    PetscFunctionReturn(0);
}

/* PCSetUp's error after the vector t was attached to A as its near null space. */
static PetscErrorCode set_up_near(Mat A, PC pc, Vec t, PetscErrorCode* told)
{
    MatNullSpace near;

    PetscFunctionBegin;
    PetscCall(MatNullSpaceCreate(PETSC_COMM_SELF, PETSC_FALSE, 1, &t, &near));
    PetscCall(MatSetNearNullSpace(A, near));
    PetscCall(MatScale(A, 2));
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    *told = PCSetUp(pc);
    PetscCall(PetscPopErrorHandler());
    PetscCall(MatNullSpaceDestroy(&near));
    PetscFunctionReturn(0);
}

/* A near null space is taken, also where an unknown is 0 in it; zeros alone are refused. */
static PetscErrorCode near_null(Mat A, PC pc)
{
    Vec            t;
    PetscErrorCode told;

    PetscFunctionBegin;
    PetscCall(MatCreateVecs(A, &t, NULL));
    PetscCall(VecSet(t, 1));
    PetscCall(VecNormalize(t, NULL));
    PetscCall(set_up_near(A, pc, t, &told));
    expect(told == 0, "ones are taken");
    PetscCall(PCView(pc, PETSC_VIEWER_STDOUT_SELF));
    PetscCall(VecSetValue(t, 0, 0, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(t));
    PetscCall(VecAssemblyEnd(t));
    PetscCall(VecNormalize(t, NULL));
    PetscCall(set_up_near(A, pc, t, &told));
    expect(told == 0, "a vector that is 0 at an unknown is taken");
    PetscCall(VecSet(t, 0));
    PetscCall(set_up_near(A, pc, t, &told));
    expect(told != 0, "a vector of zeros is refused");
    PetscCall(MatSetNearNullSpace(A, NULL));
    PetscCall(VecDestroy(&t));
    PetscFunctionReturn(0);
}

/* z = M^-1 r with A's numbers written anew, so that M is made once more. */
static PetscErrorCode apply_anew(Mat A, PC pc, Vec r, Vec z)
{
    PetscFunctionBegin;
    PetscCall(MatScale(A, 2));
    PetscCall(MatScale(A, 0.5));
    PetscCall(PCSetUp(pc));
    PetscCall(PCApply(pc, r, z));
    PetscFunctionReturn(0);
}

/* Displacements of points on a line of springs in the plane: coordinates stand for their rigid motions. */
static PetscErrorCode coordinates(void)
{
    const PetscInt points = 200, n = 2 * points;
    Mat            A;
    PC             pc;
    MatNullSpace   rigid;
    Vec            at, r, none, by_coordinates, by_vectors;
    PetscReal      place[400], norm, difference, change;

    PetscFunctionBegin;
    for (PetscInt i = 0; i < n; ++i) place[i] = i % 2 ? (i * 7 % 5) * 0.1 : i * 0.05;
    PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 3, NULL, &A));
    for (PetscInt i = 0; i < n; ++i)
        for (PetscInt j = i - 2; j <= i + 2; j += 2)
            if (j >= 0 && j < n) PetscCall(MatSetValue(A, i, j, i == j ? 2 : -1, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatCreateVecs(A, &at, &r));
    for (Vec *each[] = {&none, &by_coordinates, &by_vectors}, **one = each; one < each + 3; ++one)
        PetscCall(VecDuplicate(r, *one));
    PetscCall(VecSetBlockSize(at, 2));
    for (PetscInt i = 0; i < n; ++i) {
        PetscCall(VecSetValue(at, i, place[i], INSERT_VALUES));
        PetscCall(VecSetValue(r, i, 1 + i * 7 % 11, INSERT_VALUES));
    }
    PetscCall(PetscOptionsSetValue(NULL, "-pc_ilux_precond.coarse", "on"));
    PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
    PetscCall(PCSetType(pc, "ilux"));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetFromOptions(pc));
    PetscCall(apply_anew(A, pc, r, none));
    PetscCall(PCSetCoordinates(pc, 3, 7, place)); /* of other matrices */
    PetscCall(apply_anew(A, pc, r, by_coordinates));
    PetscCall(VecAXPY(by_coordinates, -1, none));
    PetscCall(VecNorm(by_coordinates, NORM_INFINITY, &difference));
    expect(difference == 0, "coordinates of other points have no effect");
    PetscCall(PCSetCoordinates(pc, 2, points, place));
    PetscCall(apply_anew(A, pc, r, by_coordinates));
    PetscCall(PCSetCoordinates(pc, 1, points, place));
    PetscCall(MatNullSpaceCreateRigidBody(at, &rigid));
    PetscCall(MatSetNearNullSpace(A, rigid));
    PetscCall(apply_anew(A, pc, r, by_vectors));
    PetscCall(VecAXPY(none, -1, by_vectors));
    PetscCall(VecNorm(none, NORM_INFINITY, &change));
    PetscCall(VecNorm(by_vectors, NORM_INFINITY, &norm));
    PetscCall(VecAXPY(by_vectors, -1, by_coordinates));
    PetscCall(VecNorm(by_vectors, NORM_INFINITY, &difference));
    expect(change > 1e-9 * norm, "rigid motions change M");
    expect(difference == 0, "coordinates stand for their rigid motions");
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    expect(PCSetCoordinates(pc, 4, points, place) != 0, "four dimensions are refused");
    PetscCall(PetscPopErrorHandler());
    PetscCall(MatNullSpaceDestroy(&rigid));
    PetscCall(PCDestroy(&pc));
    for (Vec *each[] = {&at, &r, &none, &by_coordinates, &by_vectors}, **one = each; one < each + 5; ++one)
        PetscCall(VecDestroy(*one));
    PetscCall(MatDestroy(&A));
    PetscCall(PetscOptionsClearValue(NULL, "-pc_ilux_precond.coarse"));
    PetscFunctionReturn(0);
}

int main(int argc, char** argv)
{
    const PetscInt n = 400;
    Mat            A;
    PC             pc;
    MatNullSpace   constant, lines, none;
    PetscReal      of_line[2];

    PetscFunctionBeginUser;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 3, NULL, &A));
    PetscCall(assemble(A, n));
    PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
    PetscCall(PCSetType(pc, "ilux"));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetFromOptions(pc));

    PetscCall(MatNullSpaceCreate(PETSC_COMM_SELF, PETSC_TRUE, 0, NULL, &constant));
    PetscCall(MatSetNullSpace(A, constant));
    PetscCall(sums(pc, n, of_line));
    expect(of_line[0] > 1e-6 && PetscAbsReal(of_line[0] - of_line[1]) < 1e-9, "the constant alone is left out");
    PetscCall(PCView(pc, PETSC_VIEWER_STDOUT_SELF));

    PetscCall(null_space_of_lines(A, n, &lines));
    PetscCall(MatSetNullSpace(A, lines));
    PetscCall(MatScale(A, 2));
    PetscCall(sums(pc, n, of_line));
    expect(of_line[0] < 1e-9 && of_line[1] < 1e-9, "the ones of each line are left out");
    PetscCall(solve(A, pc, n));

    PetscCall(MatSetValue(A, 0, 0, 3, ADD_VALUES)); /* A takes the first line's ones to 0 no more */
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    expect(PCSetUp(pc) != 0, "what A does not take to 0 is refused");
    PetscCall(PetscPopErrorHandler());

    PetscCall(MatNullSpaceDestroy(&lines));
    PetscCall(MatNullSpaceDestroy(&constant));
    PetscCall(MatSetNullSpace(A, NULL));
    PetscCall(MatGetNullSpace(A, &none));
    expect(none == NULL, "the null space goes");
    PetscCall(MatScale(A, 2));
    PetscCall(sums(pc, n, of_line));
    expect(of_line[0] > 1e-6, "and with it what M is kept clear of");
    PetscCall(near_null(A, pc));
    PetscCall(coordinates());
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
    PetscCall(PetscFinalize());
    return failed;
}
