# SPDX-License-Identifier: Apache-2.0
# Flags that every target of ours gets, and the helpers that keep the folder rules of the house
# style true: one static library per engine folder, one executable per test file.

add_library(belfry_flags INTERFACE)
target_include_directories(belfry_flags INTERFACE ${PROJECT_SOURCE_DIR})
if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    target_compile_options(belfry_flags INTERFACE
        -Wall -Wextra -Wshadow -Wnon-virtual-dtor -ffp-contract=off
        -fstack-protector-strong $<$<BOOL:${BELFRY_WARNINGS_AS_ERRORS}>:-Werror>)
    target_compile_definitions(belfry_flags INTERFACE _GLIBCXX_ASSERTIONS)
    if(BELFRY_SANITIZE)
        target_compile_options(belfry_flags INTERFACE -fsanitize=${BELFRY_SANITIZE} -fno-omit-frame-pointer
            -fno-sanitize-recover=all)
        target_link_options(belfry_flags INTERFACE -fsanitize=${BELFRY_SANITIZE})
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # False alarms of g++ 12: its own AVX-512 headers (GCC bug 105593), std::string (105651).
        target_compile_options(belfry_flags INTERFACE -Wno-maybe-uninitialized -Wno-uninitialized
            -Wno-restrict)
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
        target_compile_options(belfry_flags INTERFACE -Wno-unknown-warning-option)
    endif()
endif()
find_package(Threads REQUIRED)
target_link_libraries(belfry_flags INTERFACE Threads::Threads)

# belfry_engine_library(text LIBS engine_base ...): static library engine_text from the .cpp files
# of this folder (none yet: an interface library, so that others can link it already).
function(belfry_engine_library name)
    cmake_parse_arguments(ARG "" "" "LIBS" ${ARGN})
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
    if(sources)
        add_library(engine_${name} STATIC ${sources})
        target_link_libraries(engine_${name} PUBLIC belfry_flags ${ARG_LIBS})
    else()
        add_library(engine_${name} INTERFACE)
        target_link_libraries(engine_${name} INTERFACE belfry_flags ${ARG_LIBS})
    endif()
endfunction()

# belfry_tests(LABEL unit LIBS ...): one QtTest executable per tst_*.cpp of this folder.
function(belfry_tests)
    cmake_parse_arguments(ARG "" "LABEL;TIMEOUT" "LIBS" ${ARGN})
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 300)
    endif()
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/tst_*.cpp)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR}/tests ${CMAKE_CURRENT_SOURCE_DIR})
    string(REPLACE "/" "." folder "${folder}")
    foreach(source ${sources})
        get_filename_component(name ${source} NAME_WE)
        string(REPLACE "tst_" "" short ${name})
        set(target tst_${folder}.${short})
        add_executable(${target} ${source})
        set_target_properties(${target} PROPERTIES AUTOMOC ON)
        # The libraries under test are optimised; the tests' own code only has to compile fast.
        target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU,Clang>:-O0>)
        target_link_libraries(${target} PRIVATE belfry_flags test_support Qt6::Test ${ARG_LIBS})
        add_test(NAME ${folder}.${short} COMMAND ${target})
        set_tests_properties(${folder}.${short} PROPERTIES LABELS "${ARG_LABEL}" TIMEOUT ${ARG_TIMEOUT}
            ENVIRONMENT "QT_QPA_PLATFORM=offscreen;BELFRY_CLI=$<$<TARGET_EXISTS:belfry-cli>:$<TARGET_FILE:belfry-cli>>")
    endforeach()
endfunction()

# belfry_portable(target): finds libraries in lib/ beside or above its own folder first, also those
# that its libraries and Qt's plug-ins need (RPATH is inherited, RUNPATH is not). Folders made by
# installer/portable.sh and tests/gpu/collect rely on it; nothing is there otherwise.
function(belfry_portable target)
    if(UNIX AND NOT APPLE)
        set_target_properties(${target} PROPERTIES BUILD_RPATH "$ORIGIN/../lib;$ORIGIN/lib"
            INSTALL_RPATH "$ORIGIN/../lib;$ORIGIN/lib")
        target_link_options(${target} PRIVATE LINKER:--disable-new-dtags)
    endif()
endfunction()
