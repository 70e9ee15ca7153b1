import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { OperationService } from "../../../../gen/hostplane/v1/operation_pb.ts";
import { grantedHosts } from "../../../fleet/caller/granted-hosts.ts";
import { listHosts } from "../../../fleet/host-errors.ts";
import { hostClientFor } from "../../../fleet/hub/call-on-host.ts";
import { errorFromHost } from "../../../fleet/hub/error-from-host.ts";
import { forEachHost } from "../../../fleet/hub/for-each-host.ts";
import type { Hub } from "../../../fleet/hub/hub.ts";
import { fleetReasons } from "../../../fleet/reasons.ts";
import type { HostRecord } from "../../../fleet/store/hosts.ts";
import { operationNotFound } from "../../../operations/operation-not-found.ts";
import { operationReasons } from "../../../operations/reasons.ts";
import type { Call } from "../../../rpc/call/call.ts";

/** Which hosts have which operations. IDs of operations are random and unique in the fleet. */
export interface HostsOfOperations {
  /**
   * Finds the host of an operation: as it was noted, otherwise by asking all connected hosts.
   * @throws InfraError OPERATION_NOT_FOUND; HOST_UNREACHABLE if it may be on a host that does not answer
   */
  find(id: string, call: Call): Promise<string>;
  note(id: string, host: string): void;
}

/** How long each host may take to say whether it has an operation. */
const timeoutMs = 5_000;

/** Number of operations whose hosts are remembered. */
const rememberedMax = 10_000;

export function createHostsOfOperations(hub: Pick<Hub, "name" | "hosts" | "links">): HostsOfOperations {
  const remembered = new Map<string, string>();

  function note(id: string, host: string): void {
    remembered.delete(id);
    remembered.set(id, host);
    const [oldest] = remembered.keys();
    if (remembered.size > rememberedMax && oldest !== undefined) {
      remembered.delete(oldest);
    }
  }

  return {
    note,
    async find(id, call) {
      const known = remembered.get(id);
      const { list, find } = grantedHosts(hub.hosts, call);
      if (known !== undefined && find(known) !== undefined) {
        return known;
      }
      const { host, unanswered } = await ask(hub, list(), id, call);
      if (host !== undefined) {
        note(id, host);
        return host;
      }
      if (unanswered.length === 0) {
        throw operationNotFound(id);
      }
      const message = `operation ${id} is neither on this hub nor on a host that answers; it may be on ${listHosts(unanswered)}`;
      throw new InfraError(fleetReasons.HOST_UNREACHABLE, message, { resource: `operations/${id}` });
    },
  };
}

interface Found {
  readonly host: string | undefined;
  readonly unanswered: readonly { readonly name: string }[];
}

async function ask(
  hub: Pick<Hub, "name" | "hosts" | "links">,
  hosts: readonly HostRecord[],
  id: string,
  call: Call,
): Promise<Found> {
  const found = new AbortController();
  let host: string | undefined;
  const unanswered: { readonly name: string }[] = [];
  const signal = AbortSignal.any([call.signal, found.signal]);
  await forEachHost(
    hosts,
    async ({ name }) => {
      const link = hub.links.find(name);
      if (link === undefined) {
        unanswered.push({ name });
        return;
      }
      try {
        await hostClientFor(link, OperationService, call, hub).getOperation({ id }, { signal, timeoutMs });
        host = name;
        found.abort();
      } catch (thrown) {
        const error = errorFromHost(thrown, link);
        // A host on which the caller may see no operations has none for the caller.
        if (!error.is(operationReasons.OPERATION_NOT_FOUND) && error.code !== "PERMISSION_DENIED") {
          unanswered.push({ name });
        }
      }
    },
    () => signal.aborted,
  );
  call.signal.throwIfAborted();
  return { host, unanswered };
}
