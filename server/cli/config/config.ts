import { configJsonSchema, configKeys } from "../../gateway/config/keys.ts";
import type { ExitCode, Output } from "../table/output.ts";
import { type ConfigOptions, loadConfigOrExplain } from "./config-options.ts";
import { markdownFromKeys, textFromKeys } from "./key-documentation.ts";

/** Prints every configuration key: as text, as the page docs/reference/configuration.md, or as a JSON Schema. */
export function printConfigSchema(
  { json = false, markdown = false }: { readonly json?: boolean; readonly markdown?: boolean },
  output: Output,
): ExitCode {
  if (json) {
    output.out(JSON.stringify(configJsonSchema(), null, 2));
  } else {
    output.out(markdown ? markdownFromKeys(configKeys()) : textFromKeys(configKeys()));
  }
  return 0;
}

/** Reports whether `serve` would accept the configuration, and lists every mistake if not. */
export async function checkConfig(options: ConfigOptions, output: Output): Promise<ExitCode> {
  const loaded = await loadConfigOrExplain(options, output);
  if (loaded === undefined) {
    return 2;
  }
  output.out(`${loaded.file ?? "configuration without a file"}: ok`);
  return 0;
}
