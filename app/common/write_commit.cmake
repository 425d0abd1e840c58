# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE=folder -DGIT=program -DCOMMIT=given -DOUT=header -P write_commit.cmake: the header that
# app/common/version.cpp includes. Run by every build, and written only where it says something new.
set(commit "${COMMIT}")
if(commit STREQUAL "" AND GIT AND EXISTS "${SOURCE}/.git")
    # A clone that another user owns (a mounted folder) is read as well.
    set(git ${GIT} -c safe.directory=${SOURCE} -C ${SOURCE})
    execute_process(COMMAND ${git} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit ERROR_QUIET
        OUTPUT_STRIP_TRAILING_WHITESPACE)
    execute_process(COMMAND ${git} status --porcelain --untracked-files=no OUTPUT_VARIABLE changed ERROR_QUIET)
    if(NOT commit STREQUAL "" AND NOT changed STREQUAL "")
        string(APPEND commit "+")
    endif()
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define BELFRY_COMMIT \"${commit}\"\n")
