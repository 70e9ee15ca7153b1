import { copyFile, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { cacheDirectory, type ForeignTool, foreignTool, install } from "../foreign-tool.ts";

const requirements = join(import.meta.dirname, "requirements.txt");

/** A Python interpreter that has the packages of requirements.txt, in a virtual environment in the cache. */
export function grpcioPython(): Promise<ForeignTool> {
  return foreignTool("grpcio", async () => {
    const directory = join(cacheDirectory, "grpcio");
    const python = join(directory, "bin/python");
    const installed = join(directory, "installed.txt");
    const isCurrent = await Promise.all([readFile(requirements, "utf8"), readFile(installed, "utf8")]).then(
      ([wanted, had]) => wanted === had,
      () => false,
    );
    if (!isCurrent) {
      await rm(directory, { recursive: true, force: true });
      await install("python3 -m venv", "python3", ["-m", "venv", directory]);
      await install("pip install grpcio", python, ["-m", "pip", "install", "--quiet", "-r", requirements]);
      await copyFile(requirements, installed);
    }
    return python;
  });
}
