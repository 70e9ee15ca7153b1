import { runBuildCommand } from "./build-command.ts";

/**
 * Packs a directory with a package.json as npm does, with fixed dates. Returns the name of the file in `out`.
 * @throws Error with npm's output if it fails
 */
export async function packDirectory(directory: string, out: string): Promise<string> {
  const printed = await runBuildCommand(
    ["npm", "pack", "--json", "--ignore-scripts", "--loglevel=error", `--pack-destination=${out}`],
    { cwd: directory },
  );
  const [packed]: readonly { readonly filename: string }[] = JSON.parse(printed);
  if (packed === undefined) {
    throw new Error(`npm pack packed nothing: ${printed}`);
  }
  return packed.filename;
}
