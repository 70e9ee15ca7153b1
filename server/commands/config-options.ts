import { type LoadedConfig, loadConfig } from "../config/load.ts";
import { formatMistake } from "../config/mistake.ts";
import { unknownServicesOf } from "../method-table.ts";
import type { Output } from "./output.ts";

/** The flags every command that reads the configuration has, as commander hands them over. */
export interface ConfigOptions {
  readonly config?: string;
  readonly listen?: readonly string[];
  readonly data?: string;
  readonly logLevel?: string;
  readonly set?: readonly string[];
}

/**
 * Loads the configuration that the flags, this process' environment and the file make together. Undefined after
 * the mistakes have been written, one a line.
 */
export async function loadConfigOrExplain(
  { config: file, ...flags }: ConfigOptions,
  output: Output,
): Promise<Extract<LoadedConfig, { ok: true }> | undefined> {
  const loaded = await loadConfig({ file, env: process.env, flags });
  const mistakes = loaded.ok ? unknownServicesOf(loaded.config.listen) : loaded.mistakes.map(formatMistake);
  for (const mistake of mistakes) {
    output.err(mistake);
  }
  return loaded.ok && mistakes.length === 0 ? loaded : undefined;
}
