import { hypervisorResource } from "../../../adapters/libvirt/names.ts";
import type { Events } from "../../events/events.ts";
import { listOpen } from "../../operations/list-open.ts";
import type { Operations } from "../../operations/operations.ts";
import { createKindName } from "./changes/create-hypervisor.ts";
import { destroyKindName } from "./changes/destroy-hypervisor.ts";
import type { Hypervisor } from "./inventory.ts";

export interface OpenChangesOptions {
  readonly operations: Pick<Operations, "list">;
  readonly events: Pick<Events, "headSeq">;
  readonly host: string;
}

/** States that are shown until an operation ends, by operation kind. */
const stateUntilEnd: Readonly<Record<string, Hypervisor["state"]>> = {
  [createKindName]: "off",
  [destroyKindName]: "running",
};

/**
 * Creates a function that shows hypervisors with an open operation in the state from before that operation. A repeated call
 * is then accepted and joins the operation; the opposite call is rejected until the operation ends. The function returns the
 * same array for the same inventory, as long as no operation begins or ends.
 */
export function createOpenChanges({
  operations,
  events,
  host,
}: OpenChangesOptions): (hypervisors: readonly Hypervisor[]) => Promise<readonly Hypervisor[]> {
  let known: { readonly seq: number; readonly states: ReadonlyMap<string, Hypervisor["state"]> } | undefined;
  let last:
    | { readonly of: readonly Hypervisor[]; readonly key: string; readonly shown: readonly Hypervisor[] }
    | undefined;

  /** Every change of an operation is an event, so the last result stays valid until there is a new event. */
  async function statesByResource(): Promise<ReadonlyMap<string, Hypervisor["state"]>> {
    const seq = events.headSeq;
    if (known?.seq !== seq) {
      const open = await listOpen(operations, { kind: "hypervisors", host });
      const states = open.flatMap(({ kind, resource }) => {
        const state = stateUntilEnd[kind];
        return state === undefined ? [] : [[resource, state] as const];
      });
      known = { seq, states: new Map(states) };
    }
    return known.states;
  }

  return async (hypervisors) => {
    const states = await statesByResource();
    const key = JSON.stringify([...states]);
    if (last?.of !== hypervisors || last.key !== key) {
      const shown = hypervisors.map((one) => {
        const state = states.get(hypervisorResource(one.id));
        return state === undefined || one.state === "unknown" ? one : { ...one, state };
      });
      last = { of: hypervisors, key, shown: states.size === 0 ? hypervisors : shown };
    }
    return last.shown;
  };
}
