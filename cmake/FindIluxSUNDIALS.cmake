# Ilux::sundials: headers and the generic part of SUNDIALS 6 or 7; Ilux::sundials_tests besides: what the tests solve with.
# Debian's has no CMake configuration. Its headers may include MPI's.

find_path(SUNDIALS_INCLUDE_DIR sundials/sundials_linearsolver.h)
find_library(SUNDIALS_core_LIBRARY NAMES sundials_core sundials_generic)  # of SUNDIALS 7, and of 6
mark_as_advanced(SUNDIALS_core_LIBRARY)
foreach(part cvode nvecserial sunmatrixsparse sunlinsolklu)
    find_library(SUNDIALS_${part}_LIBRARY sundials_${part})
    mark_as_advanced(SUNDIALS_${part}_LIBRARY)
endforeach()
find_path(SUNDIALS_KLU_INCLUDE_DIR klu.h PATH_SUFFIXES suitesparse)  # KLU is who the tests compare with
mark_as_advanced(SUNDIALS_INCLUDE_DIR SUNDIALS_KLU_INCLUDE_DIR)
set(IluxSUNDIALS_VERSION "")
if(SUNDIALS_INCLUDE_DIR)
    file(STRINGS ${SUNDIALS_INCLUDE_DIR}/sundials/sundials_config.h line REGEX "define SUNDIALS_VERSION \"")
    string(REGEX MATCH "[0-9.]+" IluxSUNDIALS_VERSION "${line}")
    set(MPI_CXX_SKIP_MPICXX ON)
    find_package(MPI QUIET COMPONENTS CXX)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(IluxSUNDIALS
    REQUIRED_VARS SUNDIALS_INCLUDE_DIR SUNDIALS_core_LIBRARY VERSION_VAR IluxSUNDIALS_VERSION)
if(IluxSUNDIALS_FOUND AND NOT TARGET Ilux::sundials)
    add_library(Ilux::sundials INTERFACE IMPORTED GLOBAL)
    target_include_directories(Ilux::sundials SYSTEM INTERFACE ${SUNDIALS_INCLUDE_DIR})
    target_link_libraries(Ilux::sundials INTERFACE ${SUNDIALS_core_LIBRARY})
    if(MPI_CXX_FOUND)
        target_link_libraries(Ilux::sundials INTERFACE MPI::MPI_CXX)
    endif()
    add_library(Ilux::sundials_tests INTERFACE IMPORTED GLOBAL)
    target_include_directories(Ilux::sundials_tests SYSTEM INTERFACE ${SUNDIALS_KLU_INCLUDE_DIR})
    target_link_libraries(Ilux::sundials_tests INTERFACE Ilux::sundials ${SUNDIALS_cvode_LIBRARY} ${SUNDIALS_nvecserial_LIBRARY}
        ${SUNDIALS_sunmatrixsparse_LIBRARY} ${SUNDIALS_sunlinsolklu_LIBRARY})
endif()
