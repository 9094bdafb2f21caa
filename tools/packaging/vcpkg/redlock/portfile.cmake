# An overlay port that builds the checkout it lies in:
#
#     vcpkg install redlock --overlay-ports=tools/packaging/vcpkg
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../../.." ABSOLUTE)

set(tools false)
if("tools" IN_LIST FEATURES)
  set(tools true)
endif()
vcpkg_configure_meson(
  SOURCE_PATH "${SOURCE_PATH}"
  LANGUAGES C
  OPTIONS
    -Dman=false
    -Dtls=enabled
    -Dsimulation=disabled
    -Dusdt=disabled
  OPTIONS_DEBUG
    -Dtools=false
  OPTIONS_RELEASE
    -Dtools=${tools}
    -Db_ndebug=true)
vcpkg_install_meson()
vcpkg_fixup_pkgconfig()

# Paths in there are relative to the place of the file.
file(MAKE_DIRECTORY "${CURRENT_PACKAGES_DIR}/share")
file(RENAME "${CURRENT_PACKAGES_DIR}/lib/cmake/redlock" "${CURRENT_PACKAGES_DIR}/share/redlock")
vcpkg_replace_string("${CURRENT_PACKAGES_DIR}/share/redlock/redlockConfig.cmake" "../../../" "../../")
file(REMOVE_RECURSE
  "${CURRENT_PACKAGES_DIR}/lib/cmake"
  "${CURRENT_PACKAGES_DIR}/debug/lib/cmake"
  "${CURRENT_PACKAGES_DIR}/debug/include"
  "${CURRENT_PACKAGES_DIR}/debug/share")
if(tools)
  vcpkg_copy_tools(TOOL_NAMES redlock AUTO_CLEAN)
endif()
file(INSTALL "${CURRENT_PORT_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
