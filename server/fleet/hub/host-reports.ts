import { setTimeout as delay } from "node:timers/promises";
import { create, type MessageInitShape, toJsonString } from "@bufbuild/protobuf";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { type HostFigureSchema, HostReportSchema } from "../../../gen/hostplane/v1/fleet_pb.ts";
import { InventoryService } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { SystemService } from "../../../gen/hostplane/v1/system_pb.ts";
import type { Store } from "../../store/store.ts";
import { hubAsCaller } from "../caller/hub-as-caller.ts";
import type { HostLink } from "../links/host-link.ts";
import { fleetReasons } from "../reasons.ts";
import { errorFromHost } from "./error-from-host.ts";
import { createHostClient } from "./host-client.ts";
import type { Hub } from "./hub.ts";
import { createSeenHosts } from "./seen-hosts.ts";

/** How often a connected host is asked for its state. */
const everyMs = 10_000;
/** Each pause is up to this much longer, so that hosts that connected at the same time are not all read at the same time. */
const spreadMs = 1000;
const timeoutMs = 5000;
const maxFigures = 100;
/** Largest report that is stored, as JSON. By estimate, a host with all systems and 100 volume groups has 20 kB. */
const reportMaxBytes = 64 * 1024;
const answerMaxBytes = 4 * reportMaxBytes;

/** Asks the connected hosts for their version, systems and headline figures, and stores what has changed. */
export interface HostReports {
  close(): Promise<void>;
}

/** @param onFailed called when a host's state cannot be read or stored; for a host, when the reason is a new one */
export function startHostReports(
  hub: Pick<Hub, "name" | "links" | "hosts">,
  store: Pick<Store, "run">,
  onFailed: (error: unknown) => void,
): HostReports {
  const closing = new AbortController();
  const following = new Map<HostLink, Promise<void>>();
  const seen = createSeenHosts({ store, everyMs, onFailed });

  async function follow(link: HostLink): Promise<void> {
    const signal = AbortSignal.any([closing.signal, link.closed]);
    let problem = "";
    while (!signal.aborted) {
      try {
        const text = await readReport(link, hub.name, signal);
        const stored = hub.hosts.find(link.host);
        seen.note(link.id, stored?.id === link.id && stored.report === text ? undefined : text);
        problem = "";
      } catch (thrown) {
        const error = errorFromHost(thrown, link);
        const words = String(error);
        if (!signal.aborted && words !== problem) {
          problem = words;
          onFailed(error);
        }
      }
      await delay(everyMs + Math.random() * spreadMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  function begin(host: string): void {
    const link = hub.links.find(host);
    if (link !== undefined && !following.has(link)) {
      following.set(
        link,
        follow(link).finally(() => following.delete(link)),
      );
    }
  }

  const stopListening = hub.links.onChange(begin);
  for (const host of hub.links.hosts()) {
    begin(host);
  }
  return {
    async close() {
      stopListening();
      closing.abort();
      await Promise.all(following.values());
      await seen.close();
    },
  };
}

/**
 * Returns HostReport as JSON.
 * @throws InfraError BAD_HOST_ANSWER for one that is too large; ConnectError of the host
 */
async function readReport(link: HostLink, hubName: string, signal: AbortSignal): Promise<string> {
  const caller = hubAsCaller(hubName);
  const system = createHostClient(link, SystemService, caller, answerMaxBytes);
  const inventory = createHostClient(link, InventoryService, caller, answerMaxBytes);
  const limits = { signal, timeoutMs };
  const [info, systems, groups] = await Promise.all([
    system.getInfo({}, limits),
    system.listBackends({}, limits),
    // A host without volumes has no such type.
    inventory.listResources(volumeGroups, limits).catch(() => undefined),
  ]);
  const figures = (groups?.resources ?? []).map(
    ({ name, figures }): MessageInitShape<typeof HostFigureSchema> => {
      const valueIn = (wanted: string) => figures.find((figure) => figure.name === wanted)?.value ?? 0;
      const totalBytes = valueIn("size");
      return {
        resource: name,
        totalBytes: BigInt(totalBytes),
        usedBytes: BigInt(totalBytes - valueIn("free")),
      };
    },
  );
  const { version, sandbox, cpuLoad } = info;
  // An age changes with each report, and would make each one new.
  const backends = systems.backends.map((backend) => ({ ...backend, snapshotAge: undefined }));
  const report = create(HostReportSchema, {
    version,
    sandbox,
    backends,
    figures,
    // As exact as it matters, for the same reason.
    ...(cpuLoad === undefined ? {} : { cpuLoad: Math.round(cpuLoad * 4) / 4 }),
  });
  const text = toJsonString(HostReportSchema, report);
  const sizeBytes = Buffer.byteLength(text);
  if (sizeBytes > reportMaxBytes) {
    const message = `the report of host ${link.host} has ${sizeBytes} bytes; at most ${reportMaxBytes} are stored`;
    throw new InfraError(fleetReasons.BAD_HOST_ANSWER, message, { resource: `hosts/${link.host}` });
  }
  return text;
}

const volumeGroups = { filter: { types: ["volumeGroup"] }, pageSize: maxFigures };
