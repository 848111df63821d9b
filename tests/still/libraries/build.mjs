// Bundles the libraries that a browser can't load as they are: build.mjs BUNDLES OUTPUT.
// It runs in the folder that has node_modules.
import { readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { createRequire } from "node:module";

const require = createRequire(join(process.cwd(), "package.json"));
const { build } = require("esbuild");
const { compile } = require("svelte/compiler");
const [folder, output] = process.argv.slice(2).map((path) => resolve(path));

const svelte = {
  name: "svelte",
  setup(builder) {
    builder.onLoad({ filter: /\.svelte$/ }, ({ path }) => {
      const source = readFileSync(path, "utf8");
      return { contents: compile(source, { filename: path, css: "injected" }).js.code };
    });
  },
};

await build({
  entryPoints: readdirSync(folder)
    .filter((name) => !name.endsWith(".svelte"))
    .map((name) => join(folder, name)),
  outdir: output,
  bundle: true,
  minify: true,
  format: "iife",
  jsx: "automatic",
  conditions: ["svelte", "browser", "production"],
  define: { "process.env.NODE_ENV": '"production"' },
  nodePaths: [resolve("node_modules")],
  plugins: [svelte],
  logLevel: "warning",
});
