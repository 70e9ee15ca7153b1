import { create, toJson } from "@bufbuild/protobuf";
import type { CallOptions } from "@connectrpc/connect";
import {
  CreateHypervisorsResponseSchema,
  HypervisorCapabilities,
  HypervisorState,
  type ListHypervisorsResponseHypervisor,
  ListHypervisorsResponseHypervisorSchema,
  OperationState,
} from "../../gen/operations/v1/operations_pb.ts";
import type { ExitCode } from "../cli/table/output.ts";
import { printableLine } from "../cli/table/printable-line.ts";
import { textTable } from "../cli/table/text-table.ts";
import type { AdminClient } from "../cli/target/admin-client.ts";
import { type AdminOptions, type CommandContext, runAdminCommand } from "./run-admin-command.ts";

/** Hypervisors are known only to a running gateway. */
const running = { mustRun: true };

const head = ["ID", "STATE", "THREADS", "RAM (MiB)", "CAPABILITIES", "GPUS"];

const stateNames: Readonly<Record<HypervisorState, string>> = {
  [HypervisorState.UNSPECIFIED]: "unknown",
  [HypervisorState.UNKNOWN]: "unknown",
  [HypervisorState.AVAILABLE_TO_CREATE]: "off",
  [HypervisorState.AVAILABLE_TO_DESTROY]: "running",
};

const progressNames: Readonly<Record<OperationState, string>> = {
  [OperationState.UNSPECIFIED]: "unknown",
  [OperationState.SCHEDULED]: "scheduled",
  [OperationState.ACTIVE]: "active",
  [OperationState.FAILED]: "failed",
  [OperationState.COMPLETED]: "completed",
};

/** Prints the inventory, as a table or as a JSON array of the API's messages. */
export function listHypervisors(options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  const work = async (client: AdminClient) => {
    const { hypervisors } = await client.hypervisors.listHypervisors({});
    const lines =
      options.json === true
        ? [JSON.stringify(hypervisors.map(jsonOf), null, 2)]
        : textTable(head, hypervisors.map(row));
    for (const line of lines) {
      context.output.out(line);
    }
  };
  return runAdminCommand(options, context, work, running);
}

/** Creates hypervisors and prints the progress until all have finished. Returns 1 when one fails. */
export function createHypervisors(
  ids: readonly string[],
  options: AdminOptions,
  context: CommandContext,
): Promise<ExitCode> {
  return follow(options, context, ({ hypervisors }, call) => {
    const [id = ""] = ids;
    return ids.length === 1
      ? hypervisors.createHypervisor({ id }, call)
      : hypervisors.createHypervisors({ ids: [...ids] }, call);
  });
}

/** Destroys hypervisors and prints the progress until all have finished. Returns 1 when one fails. */
export function destroyHypervisors(
  ids: readonly string[],
  options: AdminOptions,
  context: CommandContext,
): Promise<ExitCode> {
  return follow(options, context, ({ hypervisors }, call) => {
    const [id = ""] = ids;
    return ids.length === 1
      ? hypervisors.destroyHypervisor({ id }, call)
      : hypervisors.destroyHypervisors({ ids: [...ids] }, call);
  });
}

interface Progress {
  readonly state: OperationState;
  readonly msg: string;
}

async function follow(
  options: AdminOptions,
  context: CommandContext,
  begin: (client: AdminClient, call: CallOptions) => AsyncIterable<Progress>,
): Promise<ExitCode> {
  let last: OperationState | undefined;
  // The operations go on when this command is stopped; their ids allow following or cancelling them.
  const onHeader = (headers: Headers) => {
    const ids = headers.get("hostplane-operation")?.split(", ") ?? [];
    for (const id of options.json === true ? [] : ids) {
      context.output.out(`operation ${id}`);
    }
  };
  const work = async (client: AdminClient) => {
    for await (const { state, msg } of begin(client, { onHeader })) {
      last = state;
      context.output.out(options.json === true ? jsonLine({ state, msg }) : textLine({ state, msg }));
    }
  };
  const code = await runAdminCommand(options, context, work, running);
  return code === 0 && last !== OperationState.COMPLETED ? 1 : code;
}

function textLine({ state, msg }: Progress): string {
  return `${progressNames[state]}: ${printableLine(msg)}`;
}

/** All these streams' messages have the same fields. */
function jsonLine(progress: Progress): string {
  const message = create(CreateHypervisorsResponseSchema, progress);
  return JSON.stringify(toJson(CreateHypervisorsResponseSchema, message, { alwaysEmitImplicit: true }));
}

function row({ id, state, cpu, ram, capabilities, gpus }: ListHypervisorsResponseHypervisor): string[] {
  const words = capabilities.map((one) => (one === HypervisorCapabilities.GPU ? "gpu" : "storage"));
  const named = gpus.map(({ brand, model }) => printableLine(`${brand} ${model}`.trim() || "unnamed"));
  return [id, stateNames[state] ?? "unknown", String(cpu), String(ram), words.join(", "), named.join(", ")];
}

function jsonOf(hypervisor: ListHypervisorsResponseHypervisor) {
  return toJson(ListHypervisorsResponseHypervisorSchema, hypervisor, { alwaysEmitImplicit: true });
}
