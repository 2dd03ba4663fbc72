// Bundles the extension, with our own client and the panel's painter, into one file for the extension host.
import { build } from "esbuild";
import { copyFileSync } from "node:fs";

await build({
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode"],
  alias: { "@ttyward/client": "../../sdk/typescript/src/index.js" },
  legalComments: "none",
});
copyFileSync("../../LICENSE", "LICENSE");
