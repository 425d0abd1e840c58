# SPDX-License-Identifier: Apache-2.0
# Builds programs for Windows (x86-64) on Debian 12, with Debian's mingw-w64 compiler and the libraries
# that installer/windows.sh has built; ctest runs what was built under wine. Which libraries those are
# and where they come from is in installer/windows/libraries.sh.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)

# The variant with POSIX threads: the other one has no std::thread.
set(belfry_triple x86_64-w64-mingw32)
set(CMAKE_C_COMPILER ${belfry_triple}-gcc-posix)
set(CMAKE_CXX_COMPILER ${belfry_triple}-g++-posix)
set(CMAKE_RC_COMPILER ${belfry_triple}-windres)
set(CMAKE_AR llvm-ar)
set(CMAKE_RANLIB llvm-ranlib)

# Programs are linked by LLVM's linker: lld/collect2 says why.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-B${CMAKE_CURRENT_LIST_DIR}/lld/")

# Headers and libraries of this machine's own system are never taken.
get_filename_component(belfry_sysroot "${CMAKE_CURRENT_LIST_DIR}/../../build/windows-libraries/sysroot" ABSOLUTE)
set(CMAKE_FIND_ROOT_PATH ${belfry_sysroot} /usr/${belfry_triple})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${belfry_sysroot}/lib/pkgconfig:${belfry_sysroot}/share/pkgconfig)
set(PKG_CONFIG_ARGN --static) # the libraries are static: what they need themselves is linked as well

# Qt's tools (moc, rcc, uic) are those of this machine's own Qt, which has the same version.
set(QT_HOST_PATH /usr CACHE PATH "")
set(QT_HOST_PATH_CMAKE_DIR /usr/lib/x86_64-linux-gnu/cmake CACHE PATH "")

find_program(BELFRY_WINE_PROGRAM wine)
if(BELFRY_WINE_PROGRAM)
    set(CMAKE_CROSSCOMPILING_EMULATOR ${CMAKE_CURRENT_LIST_DIR}/wine.sh)
endif()
