import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Bill, type BillComponent, billOf } from "./bill.ts";
import { runBuildCommand } from "./build-command.ts";
import type { Manifest } from "./manifest.ts";

/** Development dependencies that Vite bundles into the dashboard. */
const dashboardPackages = ["@preact/signals", "preact", "wouter-preact"];

/** The dependencies of the client, by name. */
export const clientPackages: readonly string[] = [
  "@bufbuild/protobuf",
  "@connectrpc/connect",
  "@connectrpc/connect-web",
];

/** Reads the bill of materials of the whole clone, tools included, from package-lock.json. */
export async function readBill(): Promise<Bill> {
  return JSON.parse(await runBuildCommand(["npm", "sbom", "--package-lock-only", "--sbom-format=cyclonedx"]));
}

/** Returns the bill of the gateway's tarball: what the bundle and the dashboard contain, and the native modules. */
export function gatewayBill(bill: Bill, { dependencies }: Pick<Manifest, "dependencies">): Bill {
  return billOf(bill, [...Object.keys(dependencies), ...dashboardPackages].toSorted(), isShipped);
}

/** Types are not shipped, and koffi's binaries only for Linux on x64 and arm64. */
function isShipped({ name }: BillComponent): boolean {
  const isOtherBinary = name.startsWith("@koromix/koffi-") && !nativePackages.includes(name);
  return !name.startsWith("@types/") && !isOtherBinary;
}

/** Packages with koffi's binaries for the platforms that the tarball runs on. */
export const nativePackages: readonly string[] = ["@koromix/koffi-linux-arm64", "@koromix/koffi-linux-x64"];

/**
 * Writes a bill of materials for each product, in CycloneDX JSON: the gateway, the gateway with Node (Debian package and image),
 * and the client. Returns the names of the files in `out`.
 */
export async function writeBills(options: {
  readonly out: string;
  readonly manifest: Manifest;
  readonly bill: Bill;
  readonly builtAt: Date;
}): Promise<string[]> {
  const { out, manifest, bill, builtAt } = options;
  const { version } = manifest;
  const nodePackages = bill.components.flatMap(({ name }) =>
    /^node-linux-(x64|arm64)$/.test(name) ? name : [],
  );
  const withNode = [...Object.keys(manifest.dependencies), ...dashboardPackages, ...nodePackages];
  const bills = {
    [`hostplane-gateway-${version}.cdx.json`]: gatewayBill(bill, manifest),
    [`hostplane-with-node-${version}.cdx.json`]: billOf(bill, withNode.toSorted(), isShipped),
    [`hostplane-client-${version}.cdx.json`]: billOf(bill, clientPackages, isShipped),
  };
  for (const [file, each] of Object.entries(bills)) {
    await writeFile(join(out, file), textOf(each, version, builtAt));
  }
  return Object.keys(bills);
}

/** npm writes the time and a random serial number; both are replaced by what the content and the commit determine. */
function textOf(bill: Bill, version: string, builtAt: Date): string {
  const { metadata } = bill;
  const name = "hostplane";
  const component = { ...metadata.component, name, version, purl: `pkg:generic/${name}@${version}` };
  const dated = { ...bill, metadata: { ...metadata, timestamp: builtAt.toISOString(), component } };
  const hash = createHash("sha256").update(JSON.stringify({ ...dated, serialNumber: "" }));
  // The layout of a version 8 UUID, whose bits the program chooses (RFC 9562).
  const hex = hash.digest("hex");
  const uuid = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return `${JSON.stringify({ ...dated, serialNumber: `urn:uuid:${uuid.join("-")}` }, undefined, 2)}\n`;
}
