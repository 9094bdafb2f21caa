# What vcpkg's scripts do, as far as the portfile of tools/packaging/vcpkg uses them, with this machine's libraries.
#
#   cmake -DPORT_DIR=... -DWORK=... -DMESON=... -DLINKAGE=static|dynamic [-DFEATURES=tools] -P vcpkg.cmake
cmake_minimum_required(VERSION 3.13)
set(PORT redlock)
set(CURRENT_PORT_DIR "${PORT_DIR}")
set(CURRENT_PACKAGES_DIR "${WORK}/packages")

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}")
  endif()
endfunction()

# An argument that the real one does not know would be an error there as well.
function(parse flags single multi)
  cmake_parse_arguments(arg "${flags}" "${single}" "${multi}" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "not known to vcpkg: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  foreach(name ${flags} ${single} ${multi})
    set(arg_${name} ${arg_${name}} PARENT_SCOPE)
  endforeach()
endfunction()

function(vcpkg_configure_meson)
  parse("NO_PKG_CONFIG" "SOURCE_PATH" "OPTIONS;OPTIONS_DEBUG;OPTIONS_RELEASE;LANGUAGES;ADDITIONAL_BINARIES" ${ARGN})
  string(REPLACE "dynamic" "shared" library "${LINKAGE}")
  set(common ${arg_OPTIONS} --buildtype plain --wrap-mode nodownload --libdir lib -Ddefault_library=${library})
  run(${MESON} setup ${WORK}/debug ${arg_SOURCE_PATH} ${common} ${arg_OPTIONS_DEBUG} -Ddebug=true
    --prefix ${CURRENT_PACKAGES_DIR}/debug --includedir ../include)
  run(${MESON} setup ${WORK}/release ${arg_SOURCE_PATH} ${common} ${arg_OPTIONS_RELEASE} -Ddebug=false
    --prefix ${CURRENT_PACKAGES_DIR})
endfunction()

function(vcpkg_install_meson)
  parse("ADD_BIN_TO_PATH" "" "" ${ARGN})
  foreach(kind release debug)
    run(${MESON} install -C ${WORK}/${kind})
  endforeach()
endfunction()

# The real one makes the paths relative, which needs the prefix to be written as such.
function(vcpkg_fixup_pkgconfig)
  parse("SKIP_CHECK" "" "SYSTEM_PACKAGES;SYSTEM_LIBRARIES;IGNORE_FLAGS" ${ARGN})
  foreach(place "" "/debug")
    file(STRINGS "${CURRENT_PACKAGES_DIR}${place}/lib/pkgconfig/redlock.pc" prefix REGEX "^prefix=")
    if(NOT prefix STREQUAL "prefix=${CURRENT_PACKAGES_DIR}${place}")
      message(FATAL_ERROR "redlock.pc has ${prefix}")
    endif()
  endforeach()
endfunction()

function(vcpkg_replace_string file from to)
  parse("REGEX;IGNORE_UNCHANGED" "" "" ${ARGN})
  file(READ "${file}" before)
  string(REPLACE "${from}" "${to}" after "${before}")
  if(before STREQUAL after)
    message(FATAL_ERROR "${file} has no '${from}'")
  endif()
  file(WRITE "${file}" "${after}")
endfunction()

function(vcpkg_copy_tools)
  parse("AUTO_CLEAN" "SEARCH_DIR;DESTINATION" "TOOL_NAMES" ${ARGN})
  foreach(name ${arg_TOOL_NAMES})
    file(INSTALL "${CURRENT_PACKAGES_DIR}/bin/${name}" DESTINATION "${CURRENT_PACKAGES_DIR}/tools/${PORT}"
      USE_SOURCE_PERMISSIONS)
  endforeach()
  file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/bin" "${CURRENT_PACKAGES_DIR}/debug/bin")
endfunction()

function(vcpkg_install_copyright)
  parse("" "COMMENT" "FILE_LIST" ${ARGN})
  file(INSTALL ${arg_FILE_LIST} DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
  file(RENAME "${CURRENT_PACKAGES_DIR}/share/${PORT}/LICENSE" "${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright")
endfunction()

include("${PORT_DIR}/portfile.cmake")
