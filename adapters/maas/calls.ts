import type { InfraError } from "../host/infra-error.ts";
import { observeStep } from "../host/observe-step.ts";
import type { MaasAccount } from "./adapter.ts";
import type { Fields, MaasClient, MaasReply, MaasRequest } from "./client.ts";
import {
  errorFromRefusal,
  machineHidden,
  machineLocked,
  machineOfOthers,
  notUnderstood,
  type RequestDescription,
} from "./errors.ts";
import { filterFields } from "./fields.ts";
import type { MaasMachine, MaasMachineFilter } from "./machine.ts";
import { assertSystemId } from "./names.ts";
import { parseAccount, parseMachine, parseMachines } from "./parse-reply.ts";

type Change = MaasRequest & { readonly op: string; readonly form: Fields };

/** Building blocks of the adapter's methods. All throw InfraError. */
export interface MaasCalls {
  read<T>(request: MaasRequest, parse: (value: unknown) => T, signal?: AbortSignal): Promise<T>;
  /** Reported to observers, without user data for cloud-init. */
  change<T>(request: Change, accept: (reply: MaasReply) => T | Promise<T>): Promise<T>;
  /** @param what the operation for messages, e.g. `mark broken` for `mark_broken` */
  changeMachine(systemId: string, what: string, op: string, form: Fields): Promise<MaasMachine>;
  machine(systemId: string, signal?: AbortSignal): Promise<MaasMachine>;
  machines(filter: MaasMachineFilter, signal?: AbortSignal): Promise<readonly MaasMachine[]>;
  whoami(signal?: AbortSignal): Promise<MaasAccount>;
}

// Fits into a URL that servers accept: 200 ids are 2 kB.
const idsPerCall = 200;

/** @param client signs the requests; a change is never sent twice */
export function createMaasCalls(client: MaasClient): MaasCalls {
  async function read<T>(
    request: MaasRequest,
    parse: (value: unknown) => T,
    signal?: AbortSignal,
  ): Promise<T> {
    return parse(acceptedValue(await client.read(request, signal), request));
  }

  function change<T>(request: Change, accept: (reply: MaasReply) => T | Promise<T>): Promise<T> {
    const { path, op, form } = request;
    // User data for cloud-init may contain secrets.
    const shownFields = form.filter(([key]) => key !== "user_data").map(([key, value]) => `${key}=${value}`);
    const argv = ["POST", `${path}?op=${op}`, ...shownFields];
    const step = { program: "maas", subcommand: request.what, argv };
    return observeStep(step, async () => accept(await client.change(request)));
  }

  async function changeMachine(
    systemId: string,
    what: string,
    op: string,
    form: Fields,
  ): Promise<MaasMachine> {
    const description = { what, systemId };
    return change({ ...description, path: `machines/${systemId}/`, op, form }, async (reply) => {
      if ("refusal" in reply && reply.refusal.status === 403) {
        throw (await whyForbidden(description)) ?? errorFromRefusal(reply.refusal, description);
      }
      const value = acceptedValue(reply, description);
      // Some MAAS operations return null when MAAS does not control the machine's power.
      return value === null ? machine(systemId) : sameMachine(parseMachine(value), systemId);
    });
  }

  /**
   * Finds out why a request was forbidden: MAAS answers 403 with an empty body both for a locked machine and for
   * another user's. @throws InfraError MACHINE_TAKEN, and as `machine`
   */
  async function whyForbidden(
    description: RequestDescription & { readonly systemId: string },
  ): Promise<InfraError | undefined> {
    const { isLocked, owner } = await machine(description.systemId);
    const { username } = await whoami();
    if (owner !== undefined && owner !== username) {
      return machineOfOthers(owner, description);
    }
    return isLocked ? machineLocked(description) : undefined;
  }

  async function machine(systemId: string, signal?: AbortSignal): Promise<MaasMachine> {
    assertSystemId(systemId, "system_id");
    const request = { what: "read", systemId, path: `machines/${systemId}/` };
    const reply = await client.read(request, signal);
    if ("refusal" in reply && reply.refusal.status === 403 && reply.refusal.isEmpty) {
      throw machineHidden(request);
    }
    return sameMachine(parseMachine(acceptedValue(reply, request)), systemId);
  }

  async function machines(filter: MaasMachineFilter, signal?: AbortSignal): Promise<readonly MaasMachine[]> {
    const { owner, systemIds } = filter;
    for (const systemId of systemIds ?? []) {
      assertSystemId(systemId, "system_id");
    }
    const ids = systemIds === undefined ? undefined : [...new Set(systemIds)];
    const query = filterFields(filter);
    const parts = ids === undefined ? [[]] : partsOf(ids);
    const found: MaasMachine[] = [];
    for (const part of parts) {
      const request = { what: "list the machines", path: "machines/" };
      const withIds: Fields = [...query, ...part.map((id): [string, string] => ["id", id])];
      found.push(...(await read({ ...request, query: withIds }, parseMachines, signal)));
    }
    // Filtered again, since a caller that releases the listed machines must not depend on a filter that a proxy may
    // have dropped.
    return found.filter(
      (each) => (owner === undefined || each.owner === owner) && (ids?.includes(each.systemId) ?? true),
    );
  }

  function whoami(signal?: AbortSignal) {
    return read({ what: "identify the account", path: "users/", op: "whoami" }, parseAccount, signal);
  }

  return { read, change, changeMachine, machine, machines, whoami };
}

/** @throws InfraError by the refusal */
export function acceptedValue(reply: MaasReply, description: RequestDescription): unknown {
  if ("refusal" in reply) {
    throw errorFromRefusal(reply.refusal, description);
  }
  return reply.value;
}

/** Rejects a reply about another machine than the requested one. */
export function sameMachine(machine: MaasMachine, systemId: string): MaasMachine {
  if (machine.systemId !== systemId) {
    throw notUnderstood(`machine ${systemId}`, "it is about another machine");
  }
  return machine;
}

function partsOf(ids: readonly string[]): readonly (readonly string[])[] {
  const count = Math.ceil(ids.length / idsPerCall);
  return Array.from({ length: count }, (_, index) => ids.slice(index * idsPerCall, (index + 1) * idsPerCall));
}
