import { globSync } from "node:fs";
import { resolve } from "node:path";
import type { DescService } from "@bufbuild/protobuf";

/**
 * Reads every service that the generated contract declares, registered or not. For lvmd, reads the protocol of the branch with
 * backups.
 */
export async function readContractServices(): Promise<DescService[]> {
  const folder = resolve(import.meta.dirname, "../../../gen");
  const modules: Record<string, unknown>[] = await Promise.all(
    globSync("**/*_pb.ts", { cwd: folder, exclude: ["lvmd"] }).map((file) => import(resolve(folder, file))),
  );
  return modules.flatMap((module) => Object.values(module).filter(isService));
}

function isService(value: unknown): value is DescService {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "service";
}
