import type { Command } from "./table/command.ts";
import { isRead } from "./table/is-read.ts";
import type { Format } from "./table/printer.ts";
import type { TargetOptions } from "./target/with-session.ts";

/** Flags that the engine adds to commands, where they apply. */
export interface EngineOptions extends TargetOptions {
  readonly output?: Format;
  readonly watch?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly wait?: boolean;
  /** A host of the fleet, to which the command goes. */
  readonly host?: string;
  /** Labels, as `NAME=VALUE`: the command goes to each host that has all of them. */
  readonly hostLabel?: readonly string[];
}

/** Reports whether the command asks before it changes anything: also for a change of several hosts. */
export function mustAsk(
  { destroys, method }: Command,
  { yes: isConfirmed = false, dryRun: isDryRun = false, hostLabel = [] }: EngineOptions,
): boolean {
  const isChange = method !== undefined && !isRead(method);
  return !isConfirmed && !isDryRun && (destroys || (isChange && hostLabel.length > 0));
}
