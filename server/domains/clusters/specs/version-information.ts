import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { z } from "zod";
import type { GetVersionReply_VersionInformationSchema } from "../../../../gen/cnct/kaas/api/api_pb.ts";

type VersionInformationSchema = typeof GetVersionReply_VersionInformationSchema;

const manifest = z.object({ devDependencies: z.object({ typescript: z.string() }) });

/** Architecture names as in Go, which clients of this API expect. */
const goArchitectures: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386" };

/**
 * Returns what the gateway was built from. The package does not contain the commit and the build time, so they are omitted.
 * @param version of the gateway
 */
export function versionInformation(version: string): MessageInitShape<VersionInformationSchema> {
  return {
    gitVersion: version,
    goVersion: `node ${process.versions.node}`,
    compiler: `TypeScript ${typescriptVersion()}`,
    platform: `${process.platform}/${goArchitectures[process.arch] ?? process.arch}`,
  };
}

/** Returns the TypeScript version that the package was checked and built with; at run time there is none. */
function typescriptVersion(): string {
  const path = findPackageJSON(import.meta.url);
  const read = manifest.safeParse(path === undefined ? undefined : JSON.parse(readFileSync(path, "utf8")));
  return read.success ? read.data.devDependencies.typescript.replace(/^[^0-9]*/, "") : "unknown";
}
