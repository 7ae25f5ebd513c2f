"""Spack recipe, for a checkout of the sources: spack repo add jobs/install/spack, then
spack install lockstep@develop dev_path=$PWD."""
from spack.package import CMakePackage, depends_on, variant, version


class Lockstep(CMakePackage):
    """A parallel simulator of GPUs that several applications share."""

    version("develop")
    variant("analysis", default=True, description="packages of the scripts that plot")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("intel-oneapi-tbb")
    depends_on("hdf5@1.10: ~mpi+hl")
    depends_on("yaml-cpp@0.7:")
    depends_on("fmt@9:")
    depends_on("cli11@2.2:")
    depends_on("metis@5:")
    depends_on("muparser@2.3:")
    depends_on("lz4")
    depends_on("zstd")
    depends_on("jemalloc")
    depends_on("random123")
    depends_on("pegtl@3.2:3")
    for package in ("py-h5py", "py-matplotlib", "py-numpy", "py-pandas"):
        depends_on(package, type="run", when="+analysis")

    generator = "Ninja"

    def cmake_args(self):
        return ["-DLOCKSTEP_TESTS=OFF", "-DCMAKE_UNITY_BUILD=ON"]
