import { createPrinter } from "./create-printer.ts";
import { type EngineOptions, mustAsk } from "./engine-options.ts";
import {
  hasLookups,
  type Prepared,
  perform,
  plannable,
  prepare,
  requestOf,
  type Typed,
} from "./perform-command.ts";
import { confirmChange, planLinesOf } from "./plan.ts";
import type { Command } from "./table/command.ts";
import type { ExitCode } from "./table/output.ts";
import type { Parameters, Values } from "./table/parameter.ts";
import type { Printer } from "./table/printer.ts";
import type { Session } from "./table/session.ts";
import { type CommandContext, explainFailure, withSession } from "./target/with-session.ts";
import { canAsk } from "./terminal.ts";

/**
 * Runs a command: resolves what its arguments name, plans or asks where it should, calls the RPC and prints the response.
 * Returns its exit code.
 */
export async function runCommand(
  row: Command,
  typed: Values<Parameters>,
  options: EngineOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const command = row.instead(typed) ?? row;
  const printer = createPrinter(context.output, options.output ?? "table");
  if (mustAsk(command, options) && !canAsk()) {
    const why = command.destroys ? "this cannot be undone" : "this changes several hosts";
    const orPlan = plannable(command) === undefined ? "" : ", or see what it would do with --dry-run";
    printer.err(`${why}: confirm it with --yes${orPlan}`);
    return 2;
  }
  let early: object | undefined;
  try {
    early = hasLookups(command) ? undefined : await requestOf(command, typed);
  } catch (error) {
    return explainFailure(error, undefined, context.output);
  }
  const { host, hostLabel = [] } = options;
  const mustRun = !command.isOffline || host !== undefined || hostLabel.length > 0;
  const all: Typed = { command, values: typed, early, options };
  return withSession(options, context, { mustRun }, async (session) => {
    if (hostLabel.length > 0) {
      const { runOnHosts } = await import("./hosts/run-on-hosts.ts");
      return runOnHosts(all, hostLabel, session, printer);
    }
    return run(all, host === undefined ? session : session.onHost(host), printer);
  });
}

async function run(typed: Typed, session: Session, printer: Printer): Promise<ExitCode> {
  const { command, options } = typed;
  const prepared = await prepare(typed, session);
  if (
    mustAsk(command, options) &&
    options.watch !== true &&
    !(await confirmChange(await previewOf(command, prepared, session), printer))
  ) {
    return 1;
  }
  return perform(typed, prepared, session, printer);
}

/** Returns what is shown before a command asks. */
function previewOf(
  command: Command,
  { values, request }: Prepared,
  session: Session,
): Promise<readonly string[]> {
  return command.preview?.(session, values) ?? planLinesOf(session, plannable(command), request);
}
