import type { DescMethod, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { create, fromBinary, toBinary, toJsonString } from "@bufbuild/protobuf";
import { type HostFigureSchema, HostReportSchema } from "../../../gen/hostplane/v1/fleet_pb.ts";
import { InventoryService } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { SystemService } from "../../../gen/hostplane/v1/system_pb.ts";
import { methodPathOf } from "../../rpc/call/method-rule.ts";
import type { Store } from "../../store/store.ts";
import type { HostLink } from "../links/host-link.ts";
import { callHost } from "./call-host.ts";
import type { Hub } from "./hub.ts";
import { hubAsCaller } from "./hub-as-caller.ts";

/** How often a connected host is asked for its state. */
const everyMs = 10_000;
const timeoutMs = 5000;
const maxFigures = 100;

/** Asks the connected hosts for their version, systems and headline figures, and stores what has changed. */
export interface HostReports {
  close(): Promise<void>;
}

export function startHostReports(
  hub: Pick<Hub, "name" | "links" | "hosts">,
  store: Pick<Store, "run">,
  onFailed: (error: unknown) => void,
): HostReports {
  const closing = new AbortController();
  const pending = new Set<Promise<void>>();

  async function report(host: string): Promise<void> {
    const link = hub.links.find(host);
    if (link === undefined) {
      return;
    }
    try {
      const text = await readReport(link, hub.name, closing.signal);
      const isNew = text !== hub.hosts.find(host)?.report;
      await store.run("fleet.noteSeen", { hosts: [{ name: host, ...(isNew ? { report: text } : {}) }] });
    } catch (error) {
      // A host that does not answer is seen as such by its connection.
      if (!closing.signal.aborted && !link.closed.aborted) {
        onFailed(error);
      }
    }
  }

  function begin(host: string): void {
    const reporting = report(host).finally(() => pending.delete(reporting));
    pending.add(reporting);
  }

  const stopListening = hub.links.onChange(begin);
  const timer = setInterval(() => {
    for (const host of hub.links.hosts()) {
      begin(host);
    }
  }, everyMs).unref();
  return {
    async close() {
      clearInterval(timer);
      stopListening();
      closing.abort();
      await Promise.all(pending);
    },
  };
}

/** Returns HostReport as JSON. */
async function readReport(link: HostLink, hubName: string, signal: AbortSignal): Promise<string> {
  const [info, systems, groups] = await Promise.all([
    callMethod(link, SystemService.method.getInfo, {}, hubName, signal),
    callMethod(link, SystemService.method.listBackends, {}, hubName, signal),
    // A host without volumes has no such type.
    callMethod(link, InventoryService.method.listResources, volumeGroups, hubName, signal).catch(
      () => undefined,
    ),
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
  const { version, sandbox } = info;
  // An age changes with each report, and would make each one new.
  const backends = systems.backends.map((backend) => ({ ...backend, snapshotAge: undefined }));
  return toJsonString(HostReportSchema, create(HostReportSchema, { version, sandbox, backends, figures }));
}

const volumeGroups = { filter: { types: ["volumeGroup"] }, pageSize: maxFigures };

async function callMethod<M extends DescMethod>(
  link: HostLink,
  method: M,
  request: MessageInitShape<M["input"]>,
  hubName: string,
  signal: AbortSignal,
): Promise<MessageShape<M["output"]>> {
  const answer = await callHost(link, {
    methodPath: methodPathOf(method),
    contentType: "application/proto",
    body: toBinary(method.input, create(method.input, request)),
    caller: hubAsCaller(hubName),
    timeoutMs,
    signal,
  });
  return fromBinary(method.output, answer) as MessageShape<M["output"]>;
}
