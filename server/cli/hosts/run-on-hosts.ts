import type { PlanResponse } from "../../../gen/hostplane/v1/plan_pb.ts";
import { mustAsk } from "../engine-options.ts";
import { type Prepared, perform, plannable, prepare, type Typed } from "../perform-command.ts";
import { confirmOnHosts, planIfPossible } from "../plan.ts";
import type { Command } from "../table/command.ts";
import type { ExitCode, Output } from "../table/output.ts";
import type { Printer } from "../table/printer.ts";
import type { Session } from "../table/session.ts";
import { explainFailure } from "../target/with-session.ts";
import { eachHost, exitCodeOf } from "./each-host.ts";
import { createHostPrinters } from "./host-printers.ts";
import { labelledHosts } from "./labelled-hosts.ts";

/**
 * Runs a command on each host that has the labels. For a change, it first shows the plan of each host and asks once; if one of
 * them cannot be planned, nothing is changed.
 */
export async function runOnHosts(
  typed: Typed,
  labels: readonly string[],
  session: Session,
  printer: Printer,
): Promise<ExitCode> {
  const { command, options } = typed;
  const hosts = await labelledHosts(labels, session);
  const isLive = options.watch === true || options.wait === true || isStream(command);
  const printers = createHostPrinters(printer, hosts, isLive);
  const onEach = (lasts: boolean, work: (host: string) => Promise<ExitCode>) =>
    eachHost(hosts, lasts, (host) =>
      work(host).catch((error: unknown) =>
        explainFailure(error, undefined, { ...silent, err: printers.of(host).err }),
      ),
    );
  const prepared = new Map<string, Prepared & { readonly plan: PlanResponse | undefined }>();
  const asks = mustAsk(command, options);
  const method = asks ? plannable(command) : undefined;
  const codes = await onEach(false, async (host) => {
    const ready = await prepare(typed, session.onHost(host));
    const plan = method && (await planIfPossible(session.onHost(host), method, ready.request));
    prepared.set(host, { ...ready, plan });
    return 0;
  });
  if (asks) {
    if (exitCodeOf(codes) !== 0) {
      printer.err("nothing was changed");
      return exitCodeOf(codes);
    }
    const plans = hosts.map((host) => [host, prepared.get(host)?.plan] as const);
    if (!(await confirmOnHosts(plans, printer))) {
      return 1;
    }
  }
  const ended = await onEach(isLive, async (host) => {
    const ready = prepared.get(host);
    return ready === undefined
      ? failedCodeOf(host)
      : perform(typed, ready, session.onHost(host), printers.of(host));
  });
  printers.flush();
  return exitCodeOf(ended);

  /** Its error was printed. */
  function failedCodeOf(host: string): ExitCode {
    return codes[hosts.indexOf(host)] ?? 1;
  }
}

const silent: Output = { out() {}, err() {} };

function isStream({ rendering }: Command): boolean {
  return rendering.kind === "stream" || rendering.kind === "log";
}
