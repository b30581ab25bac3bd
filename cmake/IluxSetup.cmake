# What each CMakeLists.txt says in a few words: folders, the library, programs, tests, benchmarks, fuzz targets.

include(CheckCXXSourceCompiles)
include(CheckLanguage)
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

if(PROJECT_IS_TOP_LEVEL)
    set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
    if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
        set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
    endif()
endif()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})

find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED)
find_package(FastFloat REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)  # any since 3.3, the first with a configuration; that of 5 refuses who asks for 3
find_package(nlohmann_json REQUIRED)
find_package(IluxSuiteSparse REQUIRED)
find_package(IluxMETIS REQUIRED)
set(ILUX_WITH_HDF5 OFF)
if(ILUX_HDF5 STREQUAL AUTO)
    find_package(IluxHdf5 QUIET)
    set(ILUX_WITH_HDF5 ${IluxHdf5_FOUND})
elseif(ILUX_HDF5)
    find_package(IluxHdf5 REQUIRED)
    set(ILUX_WITH_HDF5 ON)
endif()

# Machine code and PTX, which newer devices compile at start: as given, as CUDAARCHS says, for the device that is here,
# or for an H100 or H200.
macro(ilux_cuda_architectures)
    if(NOT CMAKE_CUDA_ARCHITECTURES AND NOT "$ENV{CUDAARCHS}" STREQUAL "")
        set(CMAKE_CUDA_ARCHITECTURES $ENV{CUDAARCHS})
    endif()
    find_program(ILUX_NVIDIA_SMI nvidia-smi)
    mark_as_advanced(ILUX_NVIDIA_SMI)
    if(NOT CMAKE_CUDA_ARCHITECTURES AND ILUX_NVIDIA_SMI)
        execute_process(COMMAND ${ILUX_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
                        RESULT_VARIABLE ilux_failed OUTPUT_VARIABLE ilux_devices ERROR_QUIET)
        if(ilux_failed STREQUAL "0" AND ilux_devices MATCHES "^([0-9]+)\\.([0-9]+)")
            set(CMAKE_CUDA_ARCHITECTURES ${CMAKE_MATCH_1}${CMAKE_MATCH_2})
        endif()
    endif()
    if(NOT CMAKE_CUDA_ARCHITECTURES)
        set(CMAKE_CUDA_ARCHITECTURES 90)
    endif()
endmacro()

if(NOT ILUX_CUDA STREQUAL OFF)
    if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
        find_program(ILUX_NVCC nvcc PATHS /usr/local/cuda/bin)
        mark_as_advanced(ILUX_NVCC)
        if(ILUX_NVCC)
            set(ENV{CUDACXX} ${ILUX_NVCC})
        endif()
    endif()
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
        ilux_cuda_architectures()
        enable_language(CUDA)
        find_package(CUDAToolkit 12 REQUIRED)  # the first with C++20
        set(ILUX_WITH_CUDA ON)
    elseif(ILUX_CUDA STREQUAL ON)
        message(FATAL_ERROR "ILUX_CUDA=ON, but no CUDA compiler was found; put nvcc on PATH or set CMAKE_CUDA_COMPILER")
    endif()
endif()

# Programs have the paths of the libraries they were linked with, installed or not, such as that of the CUDA toolkit. What CMake
# does by itself is to end the paths of a program that install() may change by a colon, and the dynamic loader takes the empty
# part behind it for the current folder: a library lying there would be run.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

# Every include reads as a user's does: #include "ilux/base/matrix/csr.hpp".
set(ILUX_INCLUDE_DIR ${CMAKE_CURRENT_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${ILUX_INCLUDE_DIR})
file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${ILUX_INCLUDE_DIR}/ilux SYMBOLIC)

add_library(ilux_cpu_flags INTERFACE)
target_compile_features(ilux_cpu_flags INTERFACE cxx_std_20)
target_compile_options(ilux_cpu_flags INTERFACE   # -std=c++20 by hand: CMake 3.25.1 knows of no CUDA20
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wno-sign-compare -Wno-unknown-pragmas>
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict -Wno-psabi>  # psabi: how GCC 4.4 passed complex<float>
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>  # unity: g++ 13 takes an included source for a header
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-pass-failed>  # `omp simd` at -O1
    $<$<COMPILE_LANGUAGE:C>:-std=c99 -Wall -Wextra -Wpedantic -Werror>  # tests
    $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 --extended-lambda -Xcompiler=-Wall,-Wextra,-Wno-sign-compare,-Wno-unknown-pragmas>
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${ILUX_WERROR}>>:-Werror>
    $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${ILUX_WERROR}>>:-Werror=all-warnings -Xcompiler=-Werror>
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${ILUX_NATIVE}>>:-march=native>)
target_include_directories(ilux_cpu_flags INTERFACE $<BUILD_INTERFACE:${ILUX_INCLUDE_DIR}>)

# Of our own sources and programs in release; users of the library choose theirs. Distributions may have set some of it.
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    set(release $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
    set(CMAKE_REQUIRED_FLAGS "-O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
    check_cxx_source_compiles(
        "#include <cstdio>\n#if __USE_FORTIFY_LEVEL < 3\n#error\n#endif\nint main() {}" ILUX_FORTIFY_3)
    unset(CMAKE_REQUIRED_FLAGS)
    set(fortify $<IF:$<BOOL:${ILUX_FORTIFY_3}>,3,2>)
    target_compile_options(ilux_cpu_flags INTERFACE
        $<$<AND:$<COMPILE_LANGUAGE:CXX>,${release}>:-fstack-protector-strong;-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=${fortify}>
        $<$<AND:$<COMPILE_LANGUAGE:CUDA>,${release}>:-Xcompiler=-fstack-protector-strong>)
    target_link_options(ilux_cpu_flags INTERFACE $<${release}:LINKER:-z,relro,-z,now>)
endif()

add_library(ilux_flags INTERFACE)
target_link_libraries(ilux_flags INTERFACE ilux_cpu_flags)
if(ILUX_WITH_CUDA)
    target_compile_definitions(ilux_flags INTERFACE ILUX_WITH_CUDA)
endif()

# Tests and the command line only call the library: compiling them with all optimisations costs more than it saves. Not so rivals that are
# headers, in lab/rivals. Under a sanitizer it holds for those and for the gallery, too.
set(ILUX_CALLER_OPTIMISATION $<$<CONFIG:Release,RelWithDebInfo>:-O1>)
set(ILUX_CALLERS "^(apps|lab/(model|suites)$)")
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    set(ILUX_CALLER_OPTIMISATION -O0)
    set(ILUX_CALLERS "^(apps|lab|gallery$)")
endif()

# With GCC fuzz targets use the library of the sanitizers' tests. What reads files, options and arguments then tells libFuzzer where it
# goes; in the folders that compute this would double the time of the tests.
if(ILUX_FUZZ AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize=[^ ]*address")
        message(FATAL_ERROR "ILUX_FUZZ with GCC needs AddressSanitizer, whose runtime hears of comparisons; use the preset `asan`, or `fuzz`")
    endif()
    set(ILUX_COVERAGE -fsanitize-coverage=trace-pc,trace-cmp -fsanitize=null,alignment,object-size,vptr)
    set(ILUX_COVERED "^(base/io|apps/input|direct/klu|direct/plan|(engine|solver)(/|$))")
    add_library(ilux_coverage STATIC fuzz/coverage.cpp)
    target_link_libraries(ilux_cpu_flags INTERFACE ilux_coverage)
    target_link_options(ilux_cpu_flags INTERFACE LINKER:-u,__sanitizer_cov_trace_pc)  # wherever the archive stands in a command
endif()

# ilux_alone(file...): sources that a unity build compiles by themselves.
function(ilux_alone)
    set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# The target of a folder: ilux_direct_factor of direct/factor.
function(ilux_target out folder)
    string(REPLACE "/" "_" target ilux_${folder})
    set(${out} ${target} PARENT_SCOPE)
endfunction()

# ilux_folder(NAME [DEPENDS folder...] SOURCES file... [CUDA file...] [NO_CUDA file...] [X86_64 file...] [OTHERWISE file...]
#             [LINK target...])
# A static library of the folder whose CMakeLists.txt this is. What it links, its dependents see. NO_CUDA stands in for CUDA
# where that is absent, OTHERWISE for X86_64 on other processors. The target with _cpu behind its name is the same without
# CUDA, whatever this build has; it is built where something links it.
function(ilux_folder name)
    cmake_parse_arguments(arg "" "" "DEPENDS;SOURCES;CUDA;NO_CUDA;X86_64;OTHERWISE;LINK" ${ARGN})
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
        list(APPEND arg_SOURCES ${arg_X86_64})
    else()
        list(APPEND arg_SOURCES ${arg_OTHERWISE})
    endif()
    ilux_alone(${arg_CUDA})
    foreach(folder IN LISTS arg_DEPENDS)
        ilux_target(needed ${folder})
        list(APPEND needed_targets ${needed})
        list(APPEND needed_cpu_targets ${needed}_cpu)
    endforeach()
    ilux_target(target ${name})
    if(ILUX_WITH_CUDA)
        add_library(${target} STATIC ${arg_SOURCES} ${arg_CUDA})
        target_link_libraries(${target} PUBLIC ilux_flags ${arg_LINK} CUDA::cudart_static ${needed_targets})
        if(NOT name MATCHES "^(apps|lab)")
            list(FILTER arg_LINK EXCLUDE REGEX "CUDA::")
            add_library(${target}_cpu STATIC EXCLUDE_FROM_ALL ${arg_SOURCES} ${arg_NO_CUDA})
            target_link_libraries(${target}_cpu PUBLIC ilux_cpu_flags ${arg_LINK} ${needed_cpu_targets})
        endif()
    else()
        add_library(${target} STATIC ${arg_SOURCES} ${arg_NO_CUDA})
        target_link_libraries(${target} PUBLIC ilux_flags ${arg_LINK} ${needed_targets})
        add_library(${target}_cpu ALIAS ${target})
    endif()
    if(ILUX_COVERAGE AND name MATCHES "${ILUX_COVERED}")
        target_compile_options(${target} PRIVATE ${ILUX_COVERAGE})
    endif()
    if(name MATCHES ${ILUX_CALLERS})
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${ILUX_CALLER_OPTIMISATION}>)
    endif()
    set_property(GLOBAL APPEND PROPERTY ILUX_FOLDERS ${name})
endfunction()

# ilux_klu_library(VERSION [definition...]): libklu.so.VERSION, which takes the place of SuiteSparse's library of that name. It
# needs no CUDA and shows KLU's names only. Installed in a folder of its own, lest programs take it unasked.
function(ilux_klu_library version)
    set(target ilux-klu-${version})
    get_target_property(sources ilux_direct_klu SOURCES)
    list(REMOVE_ITEM sources ilux_klu.cpp)  # those names
    set(map ${CMAKE_CURRENT_SOURCE_DIR}/libklu.map)
    add_library(${target} SHARED ${sources} libklu.cpp)
    target_link_libraries(${target} PRIVATE ilux_direct_lu_cpu)
    target_compile_definitions(${target} PRIVATE ILUX_KLU_MAIN_VERSION=${version} ${ARGN})
    target_link_options(${target} PRIVATE LINKER:--version-script=${map} LINKER:--gc-sections)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME klu SUFFIX .so.${version} LINK_DEPENDS ${map}
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/klu)
    add_dependencies(ilux-klu ${target})
    if(ILUX_INSTALL)
        install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/ilux)
    endif()
endfunction()

# The targets of a folder and of all below it.
function(ilux_targets out top)
    get_property(folders GLOBAL PROPERTY ILUX_FOLDERS)
    list(FILTER folders INCLUDE REGEX "^${top}(/|$)")
    set(targets "")
    foreach(folder IN LISTS folders)
        ilux_target(target ${folder})
        list(APPEND targets ${target})
    endforeach()
    set(${out} ${targets} PARENT_SCOPE)
endfunction()

# ilux_library(folder...): the one library users link, made of the objects of these folders and of all below them.
function(ilux_library)
    add_library(ilux STATIC)
    add_library(ilux::ilux ALIAS ilux)
    foreach(folder IN LISTS ARGN)
        ilux_targets(targets ${folder})
        foreach(target IN LISTS targets)
            target_sources(ilux PRIVATE $<TARGET_OBJECTS:${target}>)
            get_target_property(target_links ${target} LINK_LIBRARIES)
            list(APPEND links ${target_links})
        endforeach()
    endforeach()
    list(FILTER links EXCLUDE REGEX "^ilux_")
    list(REMOVE_DUPLICATES links)
    target_link_libraries(ilux PUBLIC ${links})
    target_compile_features(ilux PUBLIC cxx_std_20)
    set_target_properties(ilux PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME ilux_cxx)  # libilux.so is the C interface
    target_include_directories(ilux PUBLIC
        $<BUILD_INTERFACE:${ILUX_INCLUDE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    ilux_shared_library()
    if(ILUX_INSTALL)
        ilux_install(${ARGN})
    endif()
endfunction()

# ilux_shared_library(): libilux.so, which shows the functions of c_api/ilux.h and nothing else.
function(ilux_shared_library)
    add_library(ilux_shared SHARED)
    add_library(ilux::shared ALIAS ilux_shared)
    set(map ${PROJECT_SOURCE_DIR}/c_api/ilux.map)
    target_sources(ilux_shared PRIVATE $<TARGET_OBJECTS:ilux_c_api>)
    target_link_libraries(ilux_shared PRIVATE ilux_flags ilux)
    target_link_options(ilux_shared PRIVATE LINKER:--version-script=${map} LINKER:--gc-sections)
    if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")  # clang links a sanitizer's runtime with programs alone
        target_link_options(ilux_shared PRIVATE LINKER:--no-undefined)
    endif()
    set_target_properties(ilux_shared PROPERTIES
        OUTPUT_NAME ilux VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
        EXPORT_NAME shared LINKER_LANGUAGE CXX LINK_DEPENDS ${map})
    target_include_directories(ilux_shared INTERFACE
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/c_api> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()

# ilux_install(folder...): library, headers, CMake package and ilux.pc.
function(ilux_install)
    set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ilux)
    foreach(folder IN LISTS ARGN)
        install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ilux FILES_MATCHING PATTERN *.hpp PATTERN *.h
            PATTERN hdf5_library.hpp EXCLUDE)  # it needs HDF5's headers, and is of base/io alone
    endforeach()
    install(FILES c_api/ilux.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
    install(TARGETS ilux ilux_shared EXPORT ilux_targets)
    install(EXPORT ilux_targets FILE ilux-targets.cmake NAMESPACE ilux:: DESTINATION ${package_dir})
    configure_package_config_file(cmake/ilux-config.cmake.in ilux-config.cmake INSTALL_DESTINATION ${package_dir})
    write_basic_package_version_file(ilux-config-version.cmake COMPATIBILITY SameMinorVersion)
    install(FILES cmake/FindIluxMETIS.cmake cmake/FindIluxSuiteSparse.cmake
                  ${CMAKE_CURRENT_BINARY_DIR}/ilux-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/ilux-config-version.cmake
            DESTINATION ${package_dir})
    set(pc_libs ${SuiteSparse_AMD_LIBRARY} ${SuiteSparse_COLAMD_LIBRARY} ${SuiteSparse_CONFIG_LIBRARY} ${METIS_LIBRARY}
                ${OpenMP_CXX_LIBRARIES})
    if(ILUX_WITH_CUDA)
        list(APPEND pc_libs ${CUDA_cudart_static_LIBRARY} -lrt -ldl -lpthread)
    endif()
    list(REMOVE_DUPLICATES pc_libs)
    list(JOIN pc_libs " " pc_libs)
    file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
    foreach(language ilux ilux-cxx)
        configure_file(cmake/${language}.pc.in ${language}.pc @ONLY)
        install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${language}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
    endforeach()
endfunction()

# ilux_app(): the program `ilux`, and `ilux-lab` where ILUX_LAB asks for it. All but their main() form ilux_parts, which benchmarks link.
function(ilux_app)
    find_package(CLI11 REQUIRED)
    string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
    set(commit ${PROJECT_BINARY_DIR}/ilux_commit.cpp)
    add_custom_target(ilux_commit_now
        BYPRODUCTS ${commit}
        COMMAND ${CMAKE_COMMAND} -D SOURCE=${PROJECT_SOURCE_DIR} -D OUT=${commit} -P ${PROJECT_SOURCE_DIR}/cmake/commit.cmake
        VERBATIM)
    add_library(ilux_build STATIC ${commit})
    ilux_alone(${commit})  # another after each commit
    add_dependencies(ilux_build ilux_commit_now)
    target_link_libraries(ilux_build PUBLIC ilux_flags)
    target_compile_definitions(ilux_build PUBLIC
        ILUX_VERSION="${PROJECT_VERSION}" ILUX_BUILD_TYPE="${CMAKE_BUILD_TYPE}"
        ILUX_BUILD_FLAGS="${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}")
    add_subdirectory(apps)
    if(ILUX_LAB)
        add_subdirectory(lab)
    endif()
    ilux_targets(parts apps)
    ilux_targets(lab_parts lab)
    add_library(ilux_parts INTERFACE)
    target_link_libraries(ilux_parts INTERFACE ${lab_parts} ${parts})
    ilux_manual(solve sequence info gallery compare doctor)
    if(ILUX_INSTALL)
        install(TARGETS ilux_app)
    endif()
endfunction()

# ilux_manual(COMMAND...): ilux.1 and ilux-COMMAND.1, which the program writes itself, and completion for three shells.
function(ilux_manual)
    set(folder ${PROJECT_BINARY_DIR}/man)
    set(pages ${folder}/ilux.1)
    set(write COMMAND ilux_app --man > ${folder}/ilux.1)
    foreach(command IN LISTS ARGN)
        list(APPEND pages ${folder}/ilux-${command}.1)
        list(APPEND write COMMAND ilux_app --man ${command} > ${folder}/ilux-${command}.1)
    endforeach()
    if(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR)
        file(MAKE_DIRECTORY ${folder})
        add_custom_command(OUTPUT ${pages} ${write} DEPENDS ilux_app COMMENT "Writing the manual")
        add_custom_target(ilux_man ALL DEPENDS ${pages})
    endif()
    if(ILUX_INSTALL)
        if(TARGET ilux_man)
            install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
        endif()
        set(scripts apps/completion)
        install(FILES ${scripts}/ilux.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ilux)
        install(FILES ${scripts}/_ilux DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
        install(FILES ${scripts}/ilux.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
    endif()
endfunction()

# ilux_compare_cusp(): the program by which `ilux compare` runs CUSP. Not with our warnings: CUSP's headers have some.
function(ilux_compare_cusp)
    if(NOT ILUX_WITH_CUDA)
        message(FATAL_ERROR "CUSP_ROOT is given, but this build has no CUDA, which CUSP needs")
    endif()
    find_package(IluxCusp REQUIRED)
    add_executable(ilux_compare_cusp compare_cusp.cu)
    target_compile_options(ilux_compare_cusp PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 --extended-lambda -w>)
    target_link_libraries(ilux_compare_cusp PRIVATE ilux_apps_input Ilux::Cusp)
    if(ILUX_INSTALL)
        install(TARGETS ilux_compare_cusp)
    endif()
endfunction()

# ilux_tests(FOLDER file... [CUDA file...]): one test program for a folder and those below it; `support` is linked into all
# others. CUDA: what only a build with CUDA has.
function(ilux_tests folder)
    cmake_parse_arguments(arg "" "" "CUDA" ${ARGN})
    set(sources ${arg_UNPARSED_ARGUMENTS})
    if(ILUX_WITH_CUDA)
        list(APPEND sources ${arg_CUDA})
    endif()
    find_package(GTest REQUIRED)
    find_package(rapidcheck REQUIRED)
    include(GoogleTest)
    if(folder STREQUAL support)
        add_library(test_support OBJECT ${sources})
        target_link_libraries(test_support PUBLIC ilux_flags ilux_gallery ilux_base_io GTest::gtest)
        return()
    endif()
    add_executable(test_${folder} ${sources})
    target_compile_options(test_${folder} PRIVATE ${ILUX_CALLER_OPTIMISATION})
    target_compile_definitions(test_${folder} PRIVATE _GLIBCXX_ASSERTIONS)
    target_link_libraries(test_${folder} PRIVATE test_support GTest::gtest_main rapidcheck)
    ilux_targets(targets ${folder})
    if(targets)
        target_link_libraries(test_${folder} PRIVATE ${targets} ilux_gallery)
    else()
        target_link_libraries(test_${folder} PRIVATE ilux)
    endif()
    set(properties TIMEOUT 300 ENVIRONMENT OMP_WAIT_POLICY=passive)
    gtest_discover_tests(test_${folder} DISCOVERY_MODE PRE_TEST TEST_FILTER -Gpu* PROPERTIES ${properties})
    gtest_discover_tests(test_${folder} DISCOVERY_MODE PRE_TEST TEST_FILTER Gpu* PROPERTIES ${properties} LABELS gpu)
endfunction()

# ilux_document_tests(PAGE...): what documents say is still so. The script of each page of docs/guide is run on model problems
# and, where they are, on real data; the API reference is made without warnings; the papers' table has the figures of
# bench/results.
function(ilux_document_tests)
    set(tools ${PROJECT_SOURCE_DIR}/tools)
    set(pages ${PROJECT_SOURCE_DIR}/docs/guide)
    if(TARGET ilux_app)
        foreach(page IN LISTS ARGN)
            foreach(kind model real)
                add_test(NAME guide.${page}.${kind}
                    COMMAND ${tools}/guide --check ${kind} $<TARGET_FILE:ilux_app> ${pages}/${page}.md)
                set_tests_properties(guide.${page}.${kind} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300)
            endforeach()
        endforeach()
    endif()
    add_test(NAME api_docs COMMAND ${tools}/api_docs ${PROJECT_BINARY_DIR}/api_docs)
    set_tests_properties(api_docs PROPERTIES SKIP_RETURN_CODE 77)
    add_test(NAME papers_table COMMAND ${tools}/papers --check)
endfunction()

# ilux_consumer_tests(): installs into the build folder; then an outside project is built in each way users of an installed package
# have. `.ci/run` builds one that takes the sources along.
function(ilux_consumer_tests)
    set(prefix ${PROJECT_BINARY_DIR}/consumer/prefix)
    add_test(NAME consumer.clear COMMAND ${CMAKE_COMMAND} -E rm -rf ${prefix})  # of headers that an earlier tree had
    set_tests_properties(consumer.clear PROPERTIES FIXTURES_SETUP empty_prefix)
    add_test(NAME consumer.install
        COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${prefix})
    set_tests_properties(consumer.install PROPERTIES FIXTURES_REQUIRED empty_prefix FIXTURES_SETUP installed_ilux)
    foreach(way find_package pkg_config)
        add_test(NAME consumer.${way}
            COMMAND ${CMAKE_COMMAND} -D WAY=${way} -D PREFIX=${prefix}
                    -D BINARY=${PROJECT_BINARY_DIR}/consumer/${way} -D CXX=${CMAKE_CXX_COMPILER}
                    -P ${PROJECT_SOURCE_DIR}/tests/consumer/run.cmake)
        set_tests_properties(consumer.${way} PROPERTIES FIXTURES_REQUIRED installed_ilux TIMEOUT 600)
    endforeach()
    set(hardened $<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:--hardened>)
    add_test(NAME consumer.binaries
        COMMAND ${PROJECT_SOURCE_DIR}/tests/consumer/binaries ${hardened} ${CMAKE_CXX_COMPILER} $<TARGET_FILE:ilux_app>
                ${PROJECT_BINARY_DIR} ${prefix})
    set_tests_properties(consumer.binaries PROPERTIES FIXTURES_REQUIRED installed_ilux)
endfunction()

# ilux_bench(NAME...): a Google Benchmark program each.
function(ilux_bench)
    find_package(benchmark REQUIRED)
    foreach(name IN LISTS ARGN)
        add_executable(${name} ${name}.cpp)
        target_link_libraries(${name} PRIVATE ilux_flags ilux benchmark::benchmark Eigen3::Eigen)
    endforeach()
endfunction()

# ilux_gpu_bench(NAME...): the same with a GpuTimer and the vendor's libraries as rivals; nothing in a build without CUDA.
function(ilux_gpu_bench)
    if(NOT ILUX_WITH_CUDA)
        return()
    endif()
    find_package(benchmark REQUIRED)
    add_library(bench_gpu_timer STATIC gpu_timer.cu)
    target_link_libraries(bench_gpu_timer PUBLIC ilux_flags ilux)
    foreach(name IN LISTS ARGN)
        add_executable(${name} ${name}.cpp)
        target_link_libraries(${name} PRIVATE bench_gpu_timer benchmark::benchmark CUDA::cublas CUDA::cusparse)
    endforeach()
endfunction()

# ilux_fuzz(NAME file... FOLDER folder): a libFuzzer program of this folder and all below it. libFuzzer is clang's, whose compiler links
# it by itself; GCC takes the archive, in which trace_pc does nothing, behind ours.
function(ilux_fuzz name)
    cmake_parse_arguments(arg "" "FOLDER" "" ${ARGN})
    ilux_targets(targets ${arg_FOLDER})
    add_executable(${name} ${name}.cpp ${arg_UNPARSED_ARGUMENTS})
    target_link_libraries(${name} PRIVATE ilux_flags ${targets} nlohmann_json::nlohmann_json)
    if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
        target_link_options(${name} PRIVATE -fsanitize=fuzzer)
        return()
    endif()
    set(archive libclang_rt.fuzzer-${CMAKE_SYSTEM_PROCESSOR}.a)
    file(GLOB found /usr/lib/llvm-*/lib/clang/*/lib/linux/${archive})
    if(NOT found)
        message(FATAL_ERROR "ILUX_FUZZ needs clang's libFuzzer, ${archive} (Debian: libclang-rt-14-dev)")
    endif()
    list(GET found 0 found)
    cmake_path(GET found PARENT_PATH libraries)
    target_compile_options(${name} PRIVATE ${ILUX_CALLER_OPTIMISATION} -idirafter ${libraries}/../../include)  # FuzzedDataProvider.h
    target_link_libraries(${name} PRIVATE $<TARGET_OBJECTS:ilux_coverage> ${found})
    target_link_options(${name} PRIVATE LINKER:--allow-multiple-definition)
endfunction()

# ilux_summary(): the last line of configuring: what was found and what was not, and how long a first build may take.
function(ilux_summary)
    set(found "CUDA ${CMAKE_CUDA_COMPILER_VERSION} for sm_${CMAKE_CUDA_ARCHITECTURES}")
    set(work 8)  # minutes of one core for the program
    if(NOT ILUX_WITH_CUDA)
        set(found "no CUDA compiler, so the CPU alone")
        if(ILUX_CUDA STREQUAL OFF)
            set(found "without CUDA, as asked for")
        endif()
    else()
        set(work 25)
    endif()
    set(parts library)
    foreach(part APPS TESTS PYTHON PETSC SUNDIALS BENCH FUZZ)
        if(ILUX_${part})
            string(TOLOWER ${part} name)
            list(APPEND parts ${name})
        endif()
    endforeach()
    list(JOIN parts ", " parts)
    cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
    math(EXPR minutes "(${work} + ${cores} - 1) / ${cores}")
    message(STATUS "ilux: ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}; ${found}; builds ${parts}; "
                   "the program takes about ${minutes} min at first on ${cores} cores, tests as long again")
endfunction()
