#!/bin/sh
# Makes the artifacts of a release in target/packages: a static program with manual pages and
# completions (.tar.gz), a Debian package, a Python wheel, and the folder of the container image,
# which is also built and saved where a container engine answers.
#
#     packaging/dist.sh TOOLS [TARGET]    # TOOLS/bin has cargo-deb
#
# TARGET is x86_64-unknown-linux-musl (the default) or aarch64-unknown-linux-musl. Another target
# than this machine's is linked by Zig, which the Python environment of the wheel brings.
set -eu
cd "$(dirname "$0")/.."
tools=$1
target=${2:-x86_64-unknown-linux-musl}
out=$PWD/target/packages
host=$(uname -m)-unknown-linux-musl
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' Cargo.toml)
# What `sandbox --version` names: the commit and its date.
SANDBOX_COMMIT=$(git log -1 --format='%h %cs')
export SANDBOX_COMMIT

rustup target add "$target" 2>/dev/null || {
    echo "dist: this Rust toolchain has no target $target; install it with rustup" >&2
    exit 3
}
# Packages of other targets stay.
[ "$target" != "$host" ] || rm -rf "$out"
mkdir -p "$out/share/man/man1" "$out/share/completions"

[ -x target/dist-venv/bin/maturin ] || {
    python3 -m venv target/dist-venv
    target/dist-venv/bin/pip install -q maturin==1.16.0 ziglang==0.17.1 cargo-zigbuild==0.24.1
}
PATH="$PWD/target/dist-venv/bin:$tools/bin:$PATH"

zig=
if [ "$target" != "$host" ]; then
    zig=--zig
elif ! command -v musl-gcc >/dev/null; then
    echo "dist: musl-gcc is missing; run: apt-get install -y musl-tools" >&2
    exit 3
fi

echo "== the program for $target, and the wheel"
(
    # maturin takes pyproject.toml from the folder in which it is started. Its build is the only
    # one: it gives the compiler options of its own, so another would compile the program again.
    cd clients/python
    maturin build --quiet $zig --profile dist --target "$target" \
        --compatibility manylinux2014 musllinux_1_1 --out "$out"
)
program=target/$target/dist/sandbox

# Manual pages and completions come from a program that runs here.
native=target/$host/dist/sandbox
[ -x "$native" ] || { echo "dist: run it for $host first; its program writes the manual pages" >&2; exit 3; }
"$native" man "$out/share/man/man1"
for shell in bash zsh fish; do "$native" completions "$shell" >"$out/share/completions/sandbox.$shell"; done

echo "== the archive"
name=sandbox-$version-$target
mkdir "$out/$name"
cp "$program" README.md LICENSE-APACHE LICENSE-MIT "$out/$name"
cp -r "$out/share/man" "$out/share/completions" "$out/$name"
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" -C "$out" -czf "$out/$name.tar.gz" "$name"
rm -r "${out:?}/$name"

echo "== the Debian package"
cargo deb --quiet --no-build --no-strip -p cli --profile dist --target "$target" --output "$out/"

echo "== the container image"
image=$out/images/sandbox
mkdir -p "$image/demo/tasks" "$image/demo/snapshots"
cp packaging/image/Dockerfile "$program" "$image"
cp images/base.sh "$out/images"
cp -r tasks/demo "$image/demo/tasks"
cp snapshots/demo.wacz "$image/demo/snapshots"
if [ "$target" = "$host" ] && docker version >/dev/null 2>&1; then
    "$native" build --images "$out/images" sandbox
    "$native" save sandbox/sandbox:1 -o "$out/sandbox-$version-image.tar"
else
    echo "dist: no container engine answers here, or none for $target; build the image from $image"
fi

rm -r "$out/share"
(cd "$out" && sha256sum -- *.tar* *.deb *.whl >SHA256SUMS)
ls -l "$out"
