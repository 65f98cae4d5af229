# Compiler options shared by every target, and hv_library(): one static library per folder.
add_library(hv_options INTERFACE)
target_compile_options(hv_options INTERFACE -Wall -Wextra -Wconversion -Wshadow -fno-math-errno
                                            -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # Wrong about std::string's operator+ at -O3: GCC bug 105651, mended in 13.
  target_compile_options(hv_options INTERFACE -Wno-restrict)
  # And about fmt's table of fill characters, when it inlines all of its parser.
  target_compile_options(hv_options INTERFACE $<$<CONFIG:Release>:-Wno-stringop-overflow>)
endif()
target_include_directories(hv_options INTERFACE ${PROJECT_SOURCE_DIR})
if(HV_WERROR)
  target_compile_options(hv_options INTERFACE -Werror)
endif()
if(HV_SANITIZE)
  target_compile_options(hv_options INTERFACE -fsanitize=${HV_SANITIZE} -fno-omit-frame-pointer
                                              -fno-sanitize-recover=all)
  target_link_options(hv_options INTERFACE -fsanitize=${HV_SANITIZE})
endif()
find_program(HV_MOLD mold)
if(HV_MOLD)
  target_link_options(hv_options INTERFACE -fuse-ld=mold)
endif()
find_program(HV_CCACHE ccache)
if(HV_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${HV_CCACHE})
endif()

# hv_library(<folder> [<folder it may include>...]): every .cc of the folder, warnings on.
function(hv_library name)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${name}/*.cc)
  if(NOT sources)
    set(sources ${PROJECT_BINARY_DIR}/empty.cc)
    file(TOUCH ${sources})
  endif()
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC hv_options ${ARGN})
endfunction()

# hv_program(<name> <folder lib>...): a main of tools/ or bench/, placed in the build root.
function(hv_program name)
  add_executable(${name} ${name}.cc)
  target_link_libraries(${name} PRIVATE ${ARGN})
endfunction()
