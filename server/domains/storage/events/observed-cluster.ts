import { z } from "zod";
import type { CephState } from "../../../../adapters/ceph/adapter.ts";
import type { Part } from "../../../../adapters/host/part-of-state.ts";

/** A part that is absent, or was stored in another format by another version of hostplane, counts as never seen. */
function part<T extends z.ZodType>(schema: T) {
  return schema.optional().catch(undefined);
}

const observedCluster = z.object({
  fsid: z.string(),
  /** Without muted checks. */
  health: part(
    z.object({
      status: z.string(),
      checks: z.array(z.object({ code: z.string(), severity: z.string() })),
    }),
  ),
  osds: part(
    z.array(
      z.object({
        id: z.number(),
        host: z.string(),
        isUp: z.boolean(),
        isIn: z.boolean(),
        upFromEpoch: z.number(),
        downAtEpoch: z.number(),
      }),
    ),
  ),
  mons: part(z.array(z.object({ name: z.string(), isInQuorum: z.boolean() }))),
  mgrs: part(
    z.object({
      active: z.string().nullable(),
      standbys: z.array(z.string()),
      activeChangedAtMs: z.number().nullable(),
    }),
  ),
  mdss: part(z.array(z.object({ name: z.string(), state: z.string() }))),
  rgws: part(z.array(z.object({ name: z.string(), host: z.string() }))),
  crashes: part(z.array(z.object({ id: z.string(), isArchived: z.boolean() }))),
  nearFullOsds: part(z.array(z.number())),
  nearFullPools: part(z.array(z.number())),
});

/** The last published state of a cluster, as JSON; kept for comparison with the next one. A part is absent until it was seen. */
export type ObservedCluster = Readonly<z.infer<typeof observedCluster>>;

type Observed<Name extends keyof ObservedCluster> = NonNullable<ObservedCluster[Name]>;
export type ObservedOsd = Observed<"osds">[number];
export type ObservedMon = Observed<"mons">[number];
export type ObservedMgrs = Observed<"mgrs">;
export type ObservedMds = Observed<"mdss">[number];
export type ObservedRgw = Observed<"rgws">[number];

/** Parses the stored state; undefined if the format is unknown. */
export function parseObservedCluster(json: unknown): ObservedCluster | undefined {
  return observedCluster.safeParse(json).data;
}

/**
 * Returns the form of a state that is stored, without the nearly full OSDs and pools, which depend on the previous state.
 * A missing part keeps its previous value.
 */
export function observeCluster(
  before: ObservedCluster | undefined,
  state: CephState,
): Omit<ObservedCluster, "nearFullOsds" | "nearFullPools"> {
  const { fsid, health } = state;
  return {
    fsid,
    health: {
      status: health.status,
      checks: health.checks
        .filter(({ isMuted }) => !isMuted)
        .map(({ code, severity }) => ({ code, severity })),
    },
    osds: seen(before?.osds, state.osds, ({ osds }) =>
      osds.map(({ id, host = "", isUp, isIn, upFromEpoch, downAtEpoch }) => ({
        id,
        host,
        isUp,
        isIn,
        upFromEpoch,
        downAtEpoch,
      })),
    ),
    mons: seen(before?.mons, state.mons, ({ names, quorum }) =>
      names.map((name) => ({ name, isInQuorum: quorum.includes(name) })),
    ),
    mgrs: seen(before?.mgrs, state.mgrs, ({ active, standbys, activeChangedAtMs }) => ({
      active: active ?? null,
      standbys: [...standbys],
      activeChangedAtMs: activeChangedAtMs ?? null,
    })),
    mdss: seen(before?.mdss, state.mdss, ({ filesystems, standbys }) => [
      ...filesystems.flatMap(({ servers }) => servers),
      ...standbys.map((name) => ({ name, state: "up:standby" })),
    ]),
    rgws: seen(before?.rgws, state.rgws, ({ daemons }) => daemons.map(({ name, host }) => ({ name, host }))),
    crashes: seen(before?.crashes, state.crashes, (crashes) =>
      crashes.map(({ id, isArchived }) => ({ id, isArchived })),
    ),
  };
}

function seen<T, U>(before: U | undefined, now: Part<T>, keep: (value: T) => U): U | undefined {
  return "ok" in now ? keep(now.ok) : before;
}
