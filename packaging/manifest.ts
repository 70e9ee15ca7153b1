import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./build-command.ts";

/** The parts of package.json that the packages are made from. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly type: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, unknown>>;
  /** Content of the tarball, beside the native modules and licenses. */
  readonly files: readonly string[];
  /** Ranges by package. */
  readonly dependencies: Readonly<Record<string, string>>;
}

/** Reads package.json of the clone. */
export function readManifest(): Manifest {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
}
