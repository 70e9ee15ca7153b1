import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { root, runBuildCommand } from "./build-command.ts";
import type { Manifest } from "./manifest.ts";

/**
 * Returns the container engine in PATH, docker or podman.
 * @throws Error that says what to do if there is none
 */
export function findEngine(): string {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const engine = ["docker", "podman"].find((each) =>
    folders.some((folder) => existsSync(join(folder, each))),
  );
  if (engine === undefined) {
    throw new Error("neither docker nor podman is installed: install one, or pass --image none");
  }
  return engine;
}

/** Builds the image from the Dockerfile and saves it as an archive for `docker load`. Returns the name of the file in `out`. */
export async function saveImage(options: {
  readonly engine: string;
  readonly out: string;
  readonly manifest: Manifest;
}): Promise<string> {
  const { engine, out, manifest } = options;
  const tag = `hostplane:${manifest.version}`;
  const file = `hostplane-image-${manifest.version}.tar`;
  await runBuildCommand([engine, "build", "--tag", tag, root]);
  await runBuildCommand([engine, "save", "--output", join(out, file), tag]);
  return file;
}
