import { readFileSync, statSync } from "node:fs";

/** Packages of node_modules as a few files, which load faster than their own hundreds. */
export interface PackageBundle {
  /** Time of the installation that it was built from: the modification time of npm's own lock file, in milliseconds. */
  readonly installedAtMs: number;
  /** The file of each import specifier, relative to `cacheDirectory`. */
  readonly files: Readonly<Record<string, string>>;
}

export const cacheDirectory = new URL("../../node_modules/.cache/", import.meta.url);
export const bundleIndex = new URL("packages.json", cacheDirectory);

/** Returns when npm last changed node_modules, in milliseconds since the epoch. */
export function installedAtMs(): number {
  return statSync(new URL("../.package-lock.json", cacheDirectory)).mtimeMs;
}

/** Returns the bundle of the packages that are installed now; undefined if there is none. */
export function readPackageBundle(): PackageBundle | undefined {
  try {
    const bundle = JSON.parse(readFileSync(bundleIndex, "utf8")) as PackageBundle;
    return bundle.installedAtMs === installedAtMs() ? bundle : undefined;
  } catch {
    return undefined;
  }
}
