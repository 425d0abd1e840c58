// SPDX-License-Identifier: Apache-2.0
// Opens libraries that belong to the machine (the graphics driver's), never a file of that name
// beside the program. A program of a portable folder (installer/portable.sh) has an RPATH, which
// the loader searches before everything else and for every library: there the machine's places are
// searched by hand. Windows: system32 alone (LOAD_LIBRARY_SEARCH_SYSTEM32).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernels::cuda {

/// What openSystemLibrary looks through first in a program with an RPATH: the value that
/// LD_LIBRARY_PATH had for this program. From any thread; empty leaves it as it is.
void setLibraryPath(const std::string& path);

/// A handle (of dlopen, LoadLibraryEx), or nullptr when the machine has no such library. `name`: a
/// file name such as libcuda.so.1, no path.
void* openSystemLibrary(const char* name);

/// The file that openSystemLibrary() would find, without opening it; empty: none. Of a library that
/// lies where only the loader looks, nothing is found.
std::string findSystemLibrary(const char* name);

/// The file that a function or an object of a loaded library is in (UTF-8); empty where the system
/// does not say.
std::string fileOfSymbol(const void* symbol);

/// Where ld.so's cache (the bytes of /etc/ld.so.cache, glibc 2.2 and newer) says that `name` is, in
/// its order; what is damaged is left out.
std::vector<std::string> pathsInLoaderCache(std::string_view cache, std::string_view name);

/// The files that openSystemLibrary tries in a program with an RPATH: absolute folders of
/// `library_path` (colons or semicolons between them), the cache's, the usual folders.
std::vector<std::string>
systemLibraryPaths(std::string_view name, std::string_view library_path, std::string_view cache);

} // namespace kernels::cuda
