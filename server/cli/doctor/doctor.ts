import type { Inspection } from "../../domain/inspection.ts";
import type { Config } from "../../gateway/config/schema.ts";
import { type ConfigOptions, loadConfigOrExplain } from "../config/config-options.ts";
import type { ExitCode, Output } from "../table/output.ts";
import { createGatewayInspector } from "./inspect-gateway.ts";
import { createStoreInspector } from "./inspect-store.ts";

/**
 * Checks everything that `serve` would need with this configuration, without changing anything, and prints a line for each
 * finding, with the fix. Returns 0 when nothing is missing.
 */
export async function doctor(
  options: ConfigOptions,
  createInspectors: (config: Config) => Promise<Inspection>,
  output: Output,
): Promise<ExitCode> {
  const loaded = await loadConfigOrExplain(options, output);
  if (loaded === undefined) {
    return 2;
  }
  const { config, file } = loaded;
  const systems = await createInspectors(config);
  try {
    const { RUNTIME_DIRECTORY: runtimeDirectories, HOSTPLANE_KEY: key } = process.env;
    const own = [createGatewayInspector(config, runtimeDirectories), createStoreInspector(config, key)];
    const inspectors = [...own, ...systems.inspectors];
    const width = Math.max(8, ...inspectors.map(({ name }) => name.length));
    output.out(`ok       ${"config".padEnd(width)} ${file ?? "no file"}: no mistakes`);
    let isComplete = true;
    for (const { name, inspect } of inspectors) {
      const { findings } = await inspect();
      for (const { ok, what, fix } of findings) {
        output.out(`${ok ? "ok     " : "missing"}  ${name.padEnd(width)} ${what}`);
        if (fix !== undefined) {
          output.out(`${" ".repeat(width + 10)}-> ${fix}`);
        }
        isComplete &&= ok;
      }
    }
    if (systems.inspectors.length === 0) {
      const why =
        config.fleet.hub === undefined
          ? "only `hostplane serve --sandbox` can run"
          : "a hub needs none of its own";
      output.out(`off      systems  none configured: ${why}`);
    }
    return isComplete ? 0 : 1;
  } finally {
    await systems.close();
  }
}
