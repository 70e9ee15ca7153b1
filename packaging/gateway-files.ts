import { existsSync, readFileSync } from "node:fs";
import { cp, mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Bill } from "./bill.ts";
import { root } from "./build-command.ts";
import type { Manifest } from "./manifest.ts";
import { gatewayBill, nativePackages } from "./write-bills.ts";

/** Parts of koffi that only its own build needs. Its JavaScript is also below src/. */
const unusedOfKoffi = /(\/koffi\/(doc|lib|vendor|cnoke\.cjs)|\.(cc|hh|inc|S|asm))$/;

/**
 * Writes the files of an installed gateway to a directory: the bundle, the dashboard, the native modules that the bundle loads,
 * `deploy`, the documentation and the licenses. They need nothing except Node, so installing them downloads nothing.
 * @throws Error if dist/ has no build
 */
export async function stageGateway(options: {
  readonly directory: string;
  readonly manifest: Manifest;
  readonly bill: Bill;
}): Promise<void> {
  const { directory, manifest, bill } = options;
  for (const name of manifest.files) {
    const from = join(root, name);
    if (!existsSync(from)) {
      throw new Error(`${name} does not exist: run npm run build`);
    }
    await copyTo(from, join(directory, name));
  }
  const modules = join(directory, "node_modules");
  const native = nativePackages.filter((name) => existsSync(join(root, "node_modules", name)));
  if (!native.includes(`@koromix/koffi-${process.platform}-${process.arch}`)) {
    throw new Error(`koffi has no binary for ${process.platform} on ${process.arch}: run npm ci`);
  }
  for (const name of ["koffi", ...native]) {
    const from = join(root, "node_modules", name);
    await copyTo(from, join(modules, name), (path) => !unusedOfKoffi.test(path));
  }
  await dropOptionalPackages(join(modules, "koffi/package.json"), native);
  await writeFile(
    join(directory, "package.json"),
    `${JSON.stringify(installedManifest(manifest, native), undefined, 2)}\n`,
  );
  await copyLicenses(gatewayBill(bill, manifest), join(directory, "licenses"));
}

/** npm downloads missing optional packages and runs install scripts; the tarball has what it needs. */
async function dropOptionalPackages(file: string, native: readonly string[]): Promise<void> {
  const manifest = JSON.parse(readFileSync(file, "utf8"));
  const { scripts: _scripts, optionalDependencies, ...rest } = manifest;
  const kept = Object.entries(optionalDependencies).filter(([name]) => native.includes(name));
  await writeFile(
    file,
    `${JSON.stringify({ ...rest, optionalDependencies: Object.fromEntries(kept) }, undefined, 2)}\n`,
  );
}

function installedManifest(manifest: Manifest, native: readonly string[]) {
  const { version, description, license, type, engines, bin, files } = manifest;
  return {
    name: "hostplane-gateway",
    version,
    description,
    license,
    type,
    private: true,
    engines,
    bin,
    files: [...files, "licenses"],
    dependencies: { koffi: manifest.dependencies.koffi },
    bundleDependencies: ["koffi", ...native],
  };
}

/** Copies the license files of the bill's packages, by their path in node_modules. */
async function copyLicenses({ components }: Bill, directory: string): Promise<void> {
  const wanted = new Set(components.map(({ name, version }) => `${name}@${version}`));
  const lock: { readonly packages: Readonly<Record<string, { readonly version: string }>> } = JSON.parse(
    readFileSync(join(root, "package-lock.json"), "utf8"),
  );
  for (const [path, { version }] of Object.entries(lock.packages)) {
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    if (wanted.has(`${name}@${version}`) && existsSync(join(root, path))) {
      for (const file of await readdir(join(root, path))) {
        if (/^(licen[cs]e|notice|copying)/i.test(file)) {
          await copyTo(join(root, path, file), join(directory, `${name}@${version}`, file));
        }
      }
    }
  }
}

async function copyTo(
  from: string,
  to: string,
  filter: (path: string) => boolean = () => true,
): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await cp(from, to, { recursive: true, dereference: true, filter });
}
