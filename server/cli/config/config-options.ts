import { formatMistake } from "../../config/mistake.ts";
import { type LoadedConfig, loadConfig } from "../../gateway/config/load.ts";
import { unknownChangesOf, unknownGrantsOf, unknownServicesOf } from "../../gateway/method-rules.ts";
import type { Output } from "../table/output.ts";

/** Flags of every command that reads the configuration, as commander passes them. */
export interface ConfigOptions {
  readonly config?: string;
  readonly listen?: readonly string[];
  readonly data?: string;
  readonly logLevel?: string;
  readonly set?: readonly string[];
}

/**
 * Loads the configuration from the flags, this process's environment and the file. If there are mistakes, prints them one per
 * line and returns undefined.
 */
export async function loadConfigOrExplain(
  { config: file, ...flags }: ConfigOptions,
  output: Output,
): Promise<Extract<LoadedConfig, { ok: true }> | undefined> {
  const loaded = await loadConfig({ file, env: process.env, flags });
  const mistakes = loaded.ok
    ? [
        ...unknownServicesOf(loaded.config.listen),
        ...unknownGrantsOf(loaded.config.auth),
        ...unknownChangesOf(loaded.config.approvals),
      ]
    : loaded.mistakes.map(formatMistake);
  for (const mistake of mistakes) {
    output.err(mistake);
  }
  return loaded.ok && mistakes.length === 0 ? loaded : undefined;
}
