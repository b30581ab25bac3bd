// What PETSc calls as it loads libilux_petsc.so by -dll_append; a program that links it may do so itself.

#include "ilux/clients/petsc/factors.hpp"

PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_ilux_petsc(void)
{
    PetscFunctionBegin;
    PetscCall(ilux_petsc::register_pc());
    PetscCall(ilux_petsc::register_mat_solver_type());
    PetscFunctionReturn(static_cast<PetscErrorCode>(0));
}
