# KLU as Ilux::KLU. LGPL: an oracle of the tests and a rival in benchmarks, never linked into the library.
include(FindPackageHandleStandardArgs)
find_path(KLU_INCLUDE_DIR klu.h PATH_SUFFIXES suitesparse)
find_library(KLU_LIBRARY klu)
find_library(KLU_BTF_LIBRARY btf)
find_package_handle_standard_args(IluxKLU REQUIRED_VARS KLU_LIBRARY KLU_BTF_LIBRARY KLU_INCLUDE_DIR)
if(IluxKLU_FOUND AND NOT TARGET Ilux::KLU)
    add_library(Ilux::KLU UNKNOWN IMPORTED)
    set_target_properties(Ilux::KLU PROPERTIES
        IMPORTED_LOCATION ${KLU_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES ${KLU_INCLUDE_DIR}
        INTERFACE_LINK_LIBRARIES "${KLU_BTF_LIBRARY};Ilux::AMD;Ilux::COLAMD")
endif()
