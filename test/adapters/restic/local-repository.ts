import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";
import { run } from "../../../adapters/host/process/run.ts";
import type { ResticProcessOptions } from "../../../adapters/restic/processes.ts";
import { createRestic } from "../../../adapters/restic/restic.ts";
import type { ContractSubject } from "./contract.ts";
import { quickenKey } from "./quick-key.ts";

const mebibyte = 1 << 20;
export const templatePassword = "correct horse battery";

/** Returns why there is no real restic here; false if there is. Throws instead when HOSTPLANE_LAB=required. */
export async function reasonToSkip(): Promise<string | false> {
  const isThere = await run(["restic", "version"], { kind: "read" }).then(
    () => true,
    () => false,
  );
  if (!isThere && process.env.HOSTPLANE_LAB === "required") {
    throw new Error("HOSTPLANE_LAB=required, but restic is not installed");
  }
  return isThere ? false : "restic is not installed";
}

export interface LocalSubject extends Required<ContractSubject> {
  readonly directory: string;
  /** Path of the repository. */
  readonly path: string;
}

/**
 * Creates a real restic with the location of a local repository, a source file of random bytes, and a target file of
 * zeros.
 */
export async function makeLocalSubject(
  t: Test,
  options: ResticProcessOptions & { readonly sizeBytes?: number } = {},
): Promise<LocalSubject> {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-restic-"));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const sizeBytes = options.sizeBytes ?? 5 * mebibyte + 4096;
  const [source, target, path] = [
    join(directory, "source"),
    join(directory, "target"),
    join(directory, "repository"),
  ];
  await writeFile(source, randomBytes(sizeBytes));
  await writeFile(target, Buffer.alloc(sizeBytes + mebibyte));
  return {
    restic: createRestic({ progressMs: 20, ...options }),
    repository: { location: { kind: "local", path }, password: templatePassword },
    source,
    target,
    sizeBytes,
    directory,
    path,
    prepare: async () => cp(await template(), path, { recursive: true }),
  };
}

let created: Promise<string> | undefined;

/**
 * Returns an empty repository to copy, which restic opens faster than one that it has created. Its password is
 * `templatePassword`.
 */
export function template(): Promise<string> {
  created ??= makeTemplate();
  return created;
}

async function makeTemplate(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "hostplane-restic-template-"));
  process.once("exit", () => rmSync(path, { recursive: true, force: true }));
  const restic = createRestic();
  await restic.ensureRepository(
    { location: { kind: "local", path }, password: templatePassword },
    new AbortController().signal,
  );
  await quickenKey(path, templatePassword);
  return path;
}
