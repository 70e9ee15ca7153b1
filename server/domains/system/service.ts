import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { BackendHealth, BackendKind, SystemService } from "../../../gen/hostplane/v1/system_pb.ts";
import type { Backend } from "../../domain/backend.ts";
import { registerService, type ServiceRegistration } from "../../rpc/service-handlers.ts";

/** Facts of the gateway that GetInfo returns. */
export interface GatewayFacts {
  readonly version: string;
  /** Name of this host; distinguishes this gateway's objects from those of other hosts in the same store. */
  readonly host: string;
  readonly isSandbox: boolean;
  /** Milliseconds since the epoch. */
  readonly startedAtMs: number;
  /** Addresses that it listens on; empty before it listens. */
  listeners(): readonly {
    readonly address: string;
    readonly tls: boolean;
    /** Full names; empty when all services are available there. */
    readonly services: readonly string[];
  }[];
}

const kinds = {
  real: BackendKind.REAL,
  sandbox: BackendKind.SANDBOX,
  off: BackendKind.OFF,
  notBuilt: BackendKind.NOT_BUILT,
} as const;

const healths = {
  ok: BackendHealth.OK,
  degraded: BackendHealth.DEGRADED,
  unavailable: BackendHealth.UNAVAILABLE,
  unknown: BackendHealth.UNKNOWN,
} as const;

/** Creates hostplane.v1.SystemService: facts of this gateway, and the status of its backends. */
export function createSystemService(facts: GatewayFacts, backends: readonly Backend[]): ServiceRegistration {
  const startedAt = performance.now();
  return registerService(SystemService, {
    async getInfo() {
      return {
        version: facts.version,
        startedAt: timestampFromMs(facts.startedAtMs),
        uptime: durationFromMs(Math.round(performance.now() - startedAt)),
        sandbox: facts.isSandbox,
        hostname: facts.host,
        listeners: facts.listeners().map((listener) => ({ ...listener, services: [...listener.services] })),
      };
    },
    async listBackends() {
      const entries = await Promise.all(
        backends.map(async ({ domain, name, kind, services, status }) => {
          const { health, version, missing, snapshotAgeMs } = await status();
          return {
            domain,
            name,
            kind: kinds[kind],
            health: healths[health],
            version: version ?? "",
            missing: [...missing],
            ...(snapshotAgeMs === undefined
              ? {}
              : { snapshotAge: durationFromMs(Math.round(snapshotAgeMs)) }),
            services: [...services],
          };
        }),
      );
      return { backends: entries };
    },
  });
}
