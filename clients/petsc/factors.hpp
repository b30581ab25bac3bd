#pragma once
// What the PC and the MatSolverType have in common: one ilux_solver, the matrix whose arrays it looks at, and its
// options. PETSc's conventions: functions return an error code, names are PETSc's where PETSc has one.

#include <ilux.h>
#include <petscmat.h>

namespace ilux_petsc {

#if PETSC_VERSION_GE(3, 23, 0)
using OptionItems = PetscOptionItems;  // a pointer by itself since then
#else
using OptionItems = PetscOptionItems*;
#endif

enum class Kind { preconditioner, lu };

struct Factors {
    Kind             kind = Kind::preconditioner;
    ilux_solver*     solver = nullptr;
    Mat              aij = nullptr;        // of MATSEQAIJ, referenced; its arrays are borrowed
    int32_t*         narrow = nullptr;     // its columns, where PETSc's are of 64 bits
    PetscObjectId    source = 0;           // the matrix that was analysed: aij, or what aij was made of
    PetscObjectState pattern = 0;          // of the source, as its nonzerostate says
    PetscObjectId    null_space = 0;       // the MatNullSpace that M is kept clear of; 0: none
    PetscObjectId    near_null = 0;        // that of MatSetNearNullSpace, likewise
    MatNullSpace     rigid = nullptr;      // the motions of PCSetCoordinates' points, where A has no near null space
    PetscBool        there = PETSC_FALSE;  // whether the last values have factors
    char             options[512] = "";    // that the user gave, for views
};

PetscErrorCode create(Kind kind, Factors* factors);
PetscErrorCode destroy(Factors* factors);
/// What there is of factors and matrix goes; options stay.
PetscErrorCode reset(Factors* factors);

/// An option by its name in ilux. An error that tells the nearest name, where there is none.
PetscErrorCode set(Factors* factors, const char* name, const char* value);
/// Between PetscOptionsBegin and PetscOptionsEnd. Each option of ilux that has a say here is -<prefix>_<its name>, dots
/// and all: -pc_ilux_precond.drop_tol 1e-3; and -<prefix>_options name=value,name=value gives several.
PetscErrorCode set_from_options(OptionItems PetscOptionsObject, const char* prefix, Factors* factors);

/// Keeps the rigid motions of n points for matrices of dim unknowns a point; dim is 2 or 3, or 1, which has none.
/// @param coordinates  dim a point, point after point
PetscErrorCode set_coordinates(Factors* factors, PetscInt dim, PetscInt n, const PetscReal* coordinates);

/// Hands over the vectors that MatSetNullSpace and MatSetNearNullSpace attached to A, for the next analysis; instead of
/// the latter the rigid motions of the coordinates, where A has dim unknowns a point.
/// @param changed  set where they are others than those of the last analysis
PetscErrorCode take_null_spaces(Factors* factors, Mat A, PetscBool* changed);

/// Factors A: anew, or, where it is the matrix analysed last with an unchanged pattern, by what there is.
/// @param failure  why there are no factors, in PETSc's terms; ilux_message has the words
PetscErrorCode factor(Factors* factors, Mat A, MatFactorError* failure);

/// z <- op(M)^-1 r; infinite where there are no factors, as PETSc's own do.
PetscErrorCode apply(Factors* factors, int op, Vec r, Vec z);
/// Z <- op(M)^-1 R for the columns of dense matrices.
PetscErrorCode apply_columns(Factors* factors, int op, Mat R, Mat Z);

PetscErrorCode view(Factors* factors, PetscViewer viewer);

PetscErrorCode register_pc();
PetscErrorCode register_mat_solver_type();

}  // namespace ilux_petsc
