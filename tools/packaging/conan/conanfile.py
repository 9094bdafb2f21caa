"""Packages the checkout that this file lies in: conan create tools/packaging/conan --build missing"""
import os
import re

from conan import ConanFile
from conan.tools.files import copy, load, rmdir
from conan.tools.gnu import PkgConfigDeps
from conan.tools.layout import basic_layout
from conan.tools.meson import Meson, MesonToolchain


class Redlock(ConanFile):
    name = "redlock"
    description = "Distributed locks over independent Redis masters (Redlock)"
    license = "MIT"
    topics = ("redis", "lock", "redlock", "distributed")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "tls": [True, False], "tools": [True, False]}
    default_options = {"shared": False, "fPIC": True, "tls": True, "tools": False}
    implements = ["auto_shared_fpic"]
    languages = "C"

    @property
    def _checkout(self):
        return os.path.normpath(os.path.join(self.recipe_folder, "..", "..", ".."))

    def set_version(self):
        text = load(self, os.path.join(self._checkout, "meson.build"))
        self.version = re.search(r"^\s*version: '([^']+)'", text, re.M).group(1)

    def export_sources(self):
        for pattern in ("meson.build", "meson_options.txt", "LICENSE", "include/*", "lib/*", "tools/*"):
            copy(self, pattern, self._checkout, self.export_sources_folder)

    def validate(self):
        from conan.errors import ConanInvalidConfiguration

        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("redlock needs Linux: CLOCK_BOOTTIME, futexes and eventfds")

    def requirements(self):
        self.requires("hiredis/[>=0.14 <2]")
        self.requires("libevent/[>=2.1 <3]")
        self.requires("util-linux-libuuid/[>=2.39 <3]")
        if self.options.tls:
            self.requires("openssl/[>=3.0 <4]")
        if self.options.tools:
            self.requires("jansson/[>=2.8 <3]")

    def build_requirements(self):
        self.tool_requires("meson/[>=0.56 <2]")
        if not self.conf.get("tools.gnu:pkg_config", check_type=str):
            self.tool_requires("pkgconf/[>=1.7]")

    def layout(self):
        basic_layout(self)

    def generate(self):
        toolchain = MesonToolchain(self)
        toolchain.project_options["usdt"] = "disabled"
        toolchain.project_options["man"] = False
        toolchain.project_options["simulation"] = "disabled"
        toolchain.project_options["tls"] = "enabled" if self.options.tls else "disabled"
        toolchain.project_options["tools"] = bool(self.options.tools)
        toolchain.generate()
        PkgConfigDeps(self).generate()

    def build(self):
        meson = Meson(self)
        meson.configure()
        meson.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        Meson(self).install()
        # Conan writes these for whoever uses the package.
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "share"))

    def package_info(self):
        self.cpp_info.libs = ["redlock"]
        self.cpp_info.set_property("pkg_config_name", "redlock")
        self.cpp_info.set_property("cmake_file_name", "redlock")
        self.cpp_info.set_property("cmake_target_name", "redlock::redlock")
        self.cpp_info.system_libs = ["pthread"]
