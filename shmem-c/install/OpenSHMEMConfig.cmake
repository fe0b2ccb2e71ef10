# find_package(OpenSHMEM) gives OpenSHMEM::shmem, OpenSHMEM::shmem_static and OpenSHMEM_LAUNCHER, which takes `-np`.
get_filename_component(_openshmem_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." REALPATH)
set(OpenSHMEM_LAUNCHER "${_openshmem_prefix}/bin/oshrun")
set(OpenSHMEM_C_COMPILER "${_openshmem_prefix}/bin/oshcc")
set(OpenSHMEM_CXX_COMPILER "${_openshmem_prefix}/bin/oshc++")
if(NOT TARGET OpenSHMEM::shmem)
  add_library(OpenSHMEM::shmem SHARED IMPORTED)
  set_target_properties(OpenSHMEM::shmem PROPERTIES
    IMPORTED_LOCATION "${_openshmem_prefix}/lib/libshmem.so.1"
    IMPORTED_SONAME "libshmem.so.1"
    INTERFACE_INCLUDE_DIRECTORIES "${_openshmem_prefix}/include"
    INTERFACE_LINK_LIBRARIES "-Wl,--build-id")
  add_library(OpenSHMEM::shmem_static STATIC IMPORTED)
  set_target_properties(OpenSHMEM::shmem_static PROPERTIES
    IMPORTED_LOCATION "${_openshmem_prefix}/lib/libshmem.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_openshmem_prefix}/include"
    INTERFACE_LINK_LIBRARIES "-Wl,--build-id;-Wl,--gc-sections;pthread;dl;rt;m;gcc_s")
endif()
unset(_openshmem_prefix)
