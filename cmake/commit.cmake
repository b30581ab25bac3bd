# Writes to OUT the function that tells the commit of SOURCE, "-dirty" behind it where files differ; "" without git or
# outside its own repository. Touches the file only when that changed.
set(commit "")
find_program(GIT git)
if(GIT)
    execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse --show-prefix
        OUTPUT_VARIABLE prefix RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(NOT failed AND prefix STREQUAL "")
        execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
            OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    endif()
endif()
set(text "#include <string>\n\nnamespace ilux::app {\nstd::string build_commit()\n{\n    return \"${commit}\";\n}\n}  // namespace ilux::app\n")
set(old "")
if(EXISTS ${OUT})
    file(READ ${OUT} old)
endif()
if(NOT "${text}" STREQUAL "${old}")
    file(WRITE ${OUT} "${text}")
endif()
