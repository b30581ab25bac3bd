# CUSP as Ilux::Cusp, headers only, from CUSP_ROOT: a clone of https://github.com/cusplibrary/cusplibrary. A rival of
# `ilux compare`, never linked into the library.
include(FindPackageHandleStandardArgs)
find_path(CUSP_INCLUDE_DIR cusp/version.h PATHS ${CUSP_ROOT} NO_DEFAULT_PATH NO_CACHE)
find_package_handle_standard_args(IluxCusp
    REQUIRED_VARS CUSP_INCLUDE_DIR REASON_FAILURE_MESSAGE "CUSP_ROOT=${CUSP_ROOT} holds no cusp/version.h")
if(IluxCusp_FOUND AND CUDAToolkit_VERSION VERSION_GREATER_EQUAL 13)
    file(STRINGS ${CUSP_INCLUDE_DIR}/cusp/detail/memory.inl cusp_line REGEX "minimum_system_t")
    if(cusp_line)
        message(FATAL_ERROR
            "CUDA 13 has no thrust::detail::minimum_system_t. In ${CUSP_INCLUDE_DIR}/cusp/detail/memory.inl its line becomes\n"
            "    typedef typename thrust::detail::minimum_system<MemorySpace1, MemorySpace2, MemorySpace3, "
            "MemorySpace4>::type type;\n")
    endif()
endif()
if(IluxCusp_FOUND AND NOT TARGET Ilux::Cusp)
    add_library(Ilux::Cusp INTERFACE IMPORTED)
    set_target_properties(Ilux::Cusp PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES ${CUSP_INCLUDE_DIR}
        INTERFACE_COMPILE_DEFINITIONS  # CUSP takes first_argument_type and the like from function objects, which C++20 has not
            "_LIBCUDACXX_ENABLE_CXX20_REMOVED_BINDER_TYPEDEFS")
endif()
