import { cp, mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "./build-command.ts";
import type { Manifest } from "./manifest.ts";
import { packDirectory } from "./pack-directory.ts";
import { dateFiles } from "./source-date.ts";
import { clientPackages } from "./write-bills.ts";

/** Generated code that no client imports: the protocols of today's lvmd and of CSI, reflection, and the fleet. */
const leftOut = ["csi", "lvmd", "grpc/reflection", "hostplane/v1/fleet_pb.js", "hostplane/v1/fleet_pb.d.ts"];

/**
 * Packs the TypeScript client with the generated code that it uses, from dist/. It is imported as `hostplane/client`, so this is
 * the package `hostplane`; it contains no part of the gateway. Returns the name of the file in `out`.
 */
export async function packClient(options: {
  readonly directory: string;
  readonly out: string;
  readonly manifest: Manifest;
  readonly builtAt: Date;
}): Promise<string> {
  const { directory, out, manifest, builtAt } = options;
  const { name, version, description, license, type, exports, dependencies } = manifest;
  await mkdir(directory, { recursive: true });
  for (const part of ["client", "gen"]) {
    const from = join(root, "dist", part);
    const filter = (path: string) => !leftOut.some((each) => path === join(root, "dist/gen", each));
    await cp(from, join(directory, "dist", part), { recursive: true, filter });
  }
  await shortenGenerated(join(directory, "dist/gen"));
  for (const file of ["LICENSE", "docs/how-to/use-the-typescript-client.md"]) {
    await cp(join(root, file), join(directory, file.endsWith(".md") ? "README.md" : file));
  }
  const installed = {
    name,
    version,
    description: `Typed client of hostplane: ${description}`,
    license,
    type,
    private: true,
    engines: { node: ">=20" },
    sideEffects: false,
    exports,
    files: ["dist"],
    dependencies: Object.fromEntries(clientPackages.map((each) => [each, dependencies[each]])),
  };
  await writeFile(join(directory, "package.json"), `${JSON.stringify(installed, undefined, 2)}\n`);
  await dateFiles(directory, builtAt);
  const file = `hostplane-client-${version}.tgz`;
  await rename(join(out, await packDirectory(directory, out)), join(out, file));
  return file;
}

/**
 * Removes the generator's comments, which repeat names and field numbers, and those of Google's types. The contract's own comments
 * stay in the types, where editors show them, each on one line. Types are indented by tabs, which are shorter.
 */
async function shortenGenerated(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { recursive: true })) {
    const file = join(directory, entry);
    if (entry.endsWith(".js") || /^google\/.*\.d\.ts$/.test(entry)) {
      const text = await readFile(file, "utf8");
      await writeFile(file, text.replaceAll(/^[ \t]*\/\*\*[\s\S]*?\*\/\n/gm, ""));
    } else if (entry.endsWith(".d.ts")) {
      const text = await readFile(file, "utf8");
      await writeFile(
        file,
        text
          .replaceAll(/^[ \t]*\*\n(?=[ \t]*\* @generated from )/gm, "")
          .replaceAll(/^[ \t]*\* @generated from .*\n/gm, "")
          .replaceAll(/^[ \t]*\/\*\*\n(?:[ \t]*\* (?:Describes the|Use `create\().*\n)*[ \t]*\*\/\n/gm, "")
          .replaceAll(/\/\*\*\n((?:[ \t]*\*.*\n)*?)[ \t]*\*\//g, (_all, lines: string) => {
            const text = lines.replaceAll(/^[ \t]*\*[ \t]*/gm, "").trim();
            return `/** ${text.replaceAll(/\n+/g, " ")} */`;
          })
          .replaceAll(/^(?: {4})+/gm, (spaces) => "\t".repeat(spaces.length / 4)),
      );
    }
  }
}
