import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";

/** Returns the version of the package this file belongs to, whether it runs as source or built into dist/. */
export function packageVersion(): string {
  const path = findPackageJSON(import.meta.url);
  const manifest: unknown = path === undefined ? undefined : JSON.parse(readFileSync(path, "utf8"));
  const isManifest = typeof manifest === "object" && manifest !== null && "version" in manifest;
  return isManifest ? String(manifest.version) : "unknown";
}
