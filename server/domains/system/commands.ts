import { durationMs } from "@bufbuild/protobuf/wkt";
import {
  type HostInventory,
  HostInventorySchema,
  InventoryService,
  ResourceHealth,
} from "../../../gen/hostplane/v1/inventory_pb.ts";
import { OperationService, OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";
import {
  type Backend,
  BackendHealth,
  BackendHealthSchema,
  BackendKind,
  BackendKindSchema,
  GetInfoResponseSchema,
  ListBackendsResponseSchema,
  SystemService,
} from "../../../gen/hostplane/v1/system_pb.ts";
import { custom, type Noun } from "../../cli/table/command.ts";
import { enumText } from "../../cli/table/enum-text.ts";
import { jsonOfMessage } from "../../cli/table/message-json.ts";
import { operationSummary } from "../../cli/table/operation-text.ts";
import { timeText } from "../../cli/table/time-text.ts";

/** The gateway and its systems. */
export const statusNoun: Noun = {
  commands: [
    custom({
      name: "",
      summary: "show the gateway and its systems, problems first; fails if there are any",
      run: async (session, _values, printer) => {
        const [info, systems, resources, operations] = await Promise.all([
          session.call(SystemService.method.getInfo, {}),
          session.call(SystemService.method.listBackends, {}),
          session.call(InventoryService.method.listResources, unhealthy),
          session.call(OperationService.method.listOperations, waitingForPeople),
        ]);
        const { backends } = systems.message;
        const { hosts } = resources.message;
        const problems = [
          ...hosts.filter(({ message }) => message !== "").map(({ message }) => message),
          ...backends.filter(hasProblem).flatMap(problemsOf),
          ...resources.message.problems.map(
            ({ host, domain, message }) => `${hostStart(host)}${domain}: ${message}`,
          ),
          ...resources.message.resources.map(
            ({ host, name, state }) => `${hostStart(host)}${name}: ${state}`,
          ),
          ...operations.message.operations.map(
            (each) => `${hostStart(each.fleetHost)}operation ${each.id}: ${operationSummary(each)}`,
          ),
        ];
        if (printer.format === "json" || printer.format === "yaml") {
          printer.document({
            info: jsonOfMessage(GetInfoResponseSchema, info.message),
            ...(jsonOfMessage(ListBackendsResponseSchema, systems.message) as object),
            ...(hosts.length === 0
              ? {}
              : { hosts: hosts.map((each) => jsonOfMessage(HostInventorySchema, each)) }),
            problems,
          });
        } else if (printer.format === "name") {
          printer.out(info.message.hostname);
        } else {
          const { version, hostname, startedAt, sandbox } = info.message;
          printer.view({
            lines: problems.map((problem) => `problem: ${problem}`),
            facts: [
              ["gateway", `${hostname}${sandbox ? ", a sandbox" : ""}`],
              ["version", version],
              ["started", timeText(startedAt)],
            ],
            tables: [
              { head: ["SYSTEM", "DOMAIN", "TYPE", "HEALTH", "VERSION", "AGE"], rows: backends.map(row) },
              ...(hosts.length === 0 ? [] : [{ head: hostHead, rows: hosts.map(hostRow) }]),
            ],
          });
        }
        return problems.length === 0 ? 0 : 1;
      },
    }),
  ],
};

const hostHead = ["HOST", "CONNECTED", "RESOURCES AS OF"];

function hostRow({ host, connected, readTime }: HostInventory): string[] {
  return [host, connected ? "yes" : "no", timeText(readTime)];
}

/** Begins a line about a host; empty for the gateway's own. */
function hostStart(host: string): string {
  return host === "" ? "" : `${host}: `;
}

const unhealthy = {
  filter: { health: [ResourceHealth.DEGRADED, ResourceHealth.FAILED] },
  pageSize: 100,
};

const waitingForPeople = { states: [OperationState.NEEDS_ATTENTION], pageSize: 100 };

function hasProblem({ kind, health }: Backend): boolean {
  const isServed = kind === BackendKind.REAL || kind === BackendKind.SANDBOX;
  return isServed && (health === BackendHealth.DEGRADED || health === BackendHealth.UNAVAILABLE);
}

function problemsOf({ name, health, missing }: Backend): string[] {
  const what = enumText(BackendHealthSchema, health);
  return missing.length === 0 ? [`${name} is ${what}`] : missing.map((each) => `${name} is ${what}: ${each}`);
}

function row({ domain, name, kind, health, version, snapshotAge }: Backend): string[] {
  const age = snapshotAge === undefined ? "" : `${(durationMs(snapshotAge) / 1_000).toFixed(1)} s`;
  return [
    name,
    domain,
    enumText(BackendKindSchema, kind),
    enumText(BackendHealthSchema, health),
    version,
    age,
  ];
}
