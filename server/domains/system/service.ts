import { availableParallelism, loadavg } from "node:os";
import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { BackendHealth, BackendKind, SystemService } from "../../../gen/hostplane/v1/system_pb.ts";
import type { Backend } from "../../domain/backend.ts";
import type { GatewayFacts } from "../../domain/domain-services.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";

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
export function createSystemService(
  facts: GatewayFacts & { readonly isHub: boolean },
  backends: readonly Backend[],
): ServiceRegistration {
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
        hub: facts.isHub,
        cpuLoad: (loadavg()[0] ?? 0) / availableParallelism(),
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
