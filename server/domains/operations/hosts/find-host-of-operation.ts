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
import type { Store } from "../../../store/store.ts";

/** Which hosts have which operations. IDs of operations are random and unique in the fleet. */
export interface HostsOfOperations {
  /**
   * Finds the host of an operation: the one that has sent the first event about it, otherwise by asking all connected hosts.
   * No host knows the ID of another one's operation before that.
   * @throws InfraError OPERATION_NOT_FOUND; HOST_UNREACHABLE if it may be on a host that does not answer; BAD_HOST_ANSWER if
   * several hosts report it
   */
  find(id: string, call: Call): Promise<string>;
}

/** How long each host may take to say whether it has an operation. */
const timeoutMs = 5_000;

/** Number of operations whose hosts are remembered. */
const rememberedMax = 10_000;

/** @param hub asks its connected hosts @param store has the events that hosts have sent */
export function createHostsOfOperations(
  hub: Pick<Hub, "name" | "hosts" | "links">,
  store: Pick<Store, "run">,
): HostsOfOperations {
  const remembered = new Map<string, string>();

  function remember(id: string, host: string): void {
    remembered.delete(id);
    remembered.set(id, host);
    const [oldest] = remembered.keys();
    if (remembered.size > rememberedMax && oldest !== undefined) {
      remembered.delete(oldest);
    }
  }

  return {
    async find(id, call) {
      const { list, find } = grantedHosts(hub.hosts, call);
      const known = remembered.get(id) ?? (await store.run("events.hostOfOperation", { operationId: id }));
      if (known !== undefined && find(known) !== undefined) {
        remember(id, known);
        return known;
      }
      const { holders, unanswered } = await ask(hub, list(), id, call);
      const [holder] = holders;
      if (holders.length > 1) {
        const message = `several hosts report operation ${id}, which only one can have: ${listHosts(holders)}; name its host`;
        throw new InfraError(fleetReasons.BAD_HOST_ANSWER, message, { resource: `operations/${id}` });
      }
      if (holder !== undefined) {
        remember(id, holder.name);
        return holder.name;
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
  /** Those that report the operation. */
  readonly holders: readonly { readonly name: string }[];
  readonly unanswered: readonly { readonly name: string }[];
}

/** Asks all hosts, also after one has reported the operation: it may be one that reports any. */
async function ask(
  hub: Pick<Hub, "name" | "hosts" | "links">,
  hosts: readonly HostRecord[],
  id: string,
  call: Call,
): Promise<Found> {
  const holders: { readonly name: string }[] = [];
  const unanswered: { readonly name: string }[] = [];
  const { signal } = call;
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
        holders.push({ name });
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
  signal.throwIfAborted();
  return { holders, unanswered };
}
