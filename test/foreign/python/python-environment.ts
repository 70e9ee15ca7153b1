import { copyFile, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { cacheDirectory, type ForeignTool, foreignTool, install } from "../foreign-tool.ts";

/** A Python interpreter with the packages of `<name>-requirements.txt`, in a virtual environment in the cache. */
export function pythonEnvironment(name: "grpcio" | "schemathesis"): Promise<ForeignTool> {
  const requirements = join(import.meta.dirname, `${name}-requirements.txt`);
  return foreignTool(name, async () => {
    const directory = join(cacheDirectory, name);
    const python = join(directory, "bin/python");
    const installed = join(directory, "installed.txt");
    const isCurrent = await Promise.all([readFile(requirements, "utf8"), readFile(installed, "utf8")]).then(
      ([expected, had]) => expected === had,
      () => false,
    );
    if (!isCurrent) {
      await rm(directory, { recursive: true, force: true });
      await install("python3 -m venv", "python3", ["-m", "venv", directory]);
      await install(`pip install ${name}`, python, ["-m", "pip", "install", "--quiet", "-r", requirements]);
      await copyFile(requirements, installed);
    }
    return python;
  });
}
