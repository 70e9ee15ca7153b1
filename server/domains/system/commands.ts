import { durationMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { FleetService, type Host, HostSchema } from "../../../gen/hostplane/v1/fleet_pb.ts";
import { InventoryService, ResourceHealth } from "../../../gen/hostplane/v1/inventory_pb.ts";
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
import { hostSystemsText } from "../../cli/table/host-systems-text.ts";
import { jsonOfMessage } from "../../cli/table/message-json.ts";
import { operationSummary } from "../../cli/table/operation-text.ts";
import type { Session } from "../../cli/table/session.ts";
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
        const hosts = await hostsOf(session);
        const problems = [
          ...hosts.filter(({ connected }) => !connected).map(({ name }) => `host ${name} is not connected`),
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
            ...(hosts.length === 0 ? {} : { hosts: hosts.map((each) => jsonOfMessage(HostSchema, each)) }),
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

/** Reasons for which a gateway returns no hosts: it is no hub, is called through one, or the caller may not see them. */
const hostless = ["NOT_A_HUB", "NOT_ON_HOSTS", "SERVICE_NOT_ALLOWED"];

/** Returns the hosts of a hub; none for any other gateway. */
async function hostsOf(session: Session): Promise<readonly Host[]> {
  try {
    return (await session.call(FleetService.method.listHosts, {})).message.hosts;
  } catch (error) {
    const failure = ConnectError.from(error);
    const [info] = failure.findDetails(ErrorInfoSchema);
    if (failure.code === Code.Unimplemented || hostless.includes(info?.reason ?? "")) {
      return [];
    }
    throw error;
  }
}

const hostHead = ["HOST", "CONNECTED", "LAST SEEN", "VERSION", "SYSTEMS"];

function hostRow(host: Host): string[] {
  const { name, connected, lastSeenAt, report } = host;
  return [name, connected ? "yes" : "no", timeText(lastSeenAt), report?.version ?? "", hostSystemsText(host)];
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
