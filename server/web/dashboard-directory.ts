import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";

/** Returns the directory that `npm run build:dashboard` writes, whether this code runs from source or from dist/. */
export function dashboardDirectory(): string {
  const manifest = findPackageJSON(import.meta.url);
  return join(manifest === undefined ? process.cwd() : dirname(manifest), "dist", "dashboard");
}
