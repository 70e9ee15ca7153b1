import { effect, signal } from "@preact/signals";
import type { Event } from "../../gen/hostplane/v1/event_pb.ts";
import type { Backend } from "../../gen/hostplane/v1/system_pb.ts";
import { client } from "../session.ts";
import { followRead, type Reading } from "./follow-read.ts";
import { inventory } from "./inventory.ts";

/** The systems of the gateway, as they were at a time. */
export interface Systems {
  readonly backends: readonly Backend[];
  /** When the gateway returned them, in milliseconds since 1970. */
  readonly atMs: number;
}

const unread = { value: undefined, error: undefined, isReading: true } as const;

/** Live, for the whole page. */
export const systems = signal<Reading<Systems>>(unread);

/** Follows the systems until the returned function is called. */
export function followSystems(): () => void {
  const { reload, end } = followRead(
    systems,
    async (options) => ({
      backends: (await client.system.listBackends({}, options)).backends,
      atMs: Date.now(),
    }),
    mayChangeHealth,
  );
  // The inventory notices first that a system cannot be read, or can be read again.
  let known = "";
  const endEffect = effect(() => {
    const now = inventory.value.problems.map(({ domain, message }) => `${domain}: ${message}`).join("\n");
    if (now !== known) {
      known = now;
      reload();
    }
  });
  return () => {
    endEffect();
    end();
    systems.value = unread;
  };
}

/** A change of a pod or a volume says nothing about its system, and one on another host nothing about this gateway's. */
function mayChangeHealth({ type, detail, fleetHost }: Event): boolean {
  if (fleetHost !== "") {
    return false;
  }
  return type === "gap" || type === "hypervisor.unknown" || healthDetails.has(detail.case ?? "");
}

const healthDetails: ReadonlySet<string> = new Set([
  "clusterHealth",
  "volumeGroup",
  "storagePool",
  "kubernetesCluster",
]);
