# CMake's toolchain for Zig's compiler, which is Clang with the headers and libraries of MinGW-w64: the
# set-up compiles llama.cpp with it on Windows, where few computers have a compiler.
# HEADSTART_ZIG in the environment is the path of the program, HEADSTART_ZIG_TARGET another target.
set(zig "$ENV{HEADSTART_ZIG}")
set(target "$ENV{HEADSTART_ZIG_TARGET}")
if(target)
    set(CMAKE_SYSTEM_NAME Windows)
    set(CMAKE_SYSTEM_PROCESSOR AMD64)
    set(target "-target;${target}")
    set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
    set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
    set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
endif()
set(CMAKE_C_COMPILER "${zig}" cc ${target})
set(CMAKE_CXX_COMPILER "${zig}" c++ ${target})
foreach(language C CXX)
    set(CMAKE_${language}_FLAGS_INIT "-include \"${CMAKE_CURRENT_LIST_DIR}/zig.inc\"")
endforeach()
# a trial that is linked would build the library of C++ once more, for minutes
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
# one program is all of these; rules name which, since a variable of CMake holds a path only
set(CMAKE_AR "${zig}" CACHE FILEPATH "")
set(CMAKE_RANLIB "${zig}" CACHE FILEPATH "")
set(CMAKE_RC_COMPILER "${zig}" CACHE FILEPATH "")
set(CMAKE_USER_MAKE_RULES_OVERRIDE "${CMAKE_CURRENT_LIST_DIR}/zig_rules.cmake")
