import { create } from "@bufbuild/protobuf";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import {
  Health,
  type HealthCheckResponse,
  HealthCheckResponseSchema,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "../../../gen/grpc/health/v1/health_pb.ts";
import type { Backend } from "../../domain/backend.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import { watchState } from "../../rpc/streams/watch-state.ts";
import { systemReasons } from "./reasons.ts";

/**
 * Creates grpc.health.v1.Health with one status per service: SERVING while its backend answers, even if a part is missing. A
 * service with several backends is SERVING while one of them answers. The empty name is the gateway itself, with its store.
 * @param serviceNames all services of the gateway; other names are NOT_FOUND, as health.proto specifies
 */
export function createHealthService(
  backends: readonly Backend[],
  serviceNames: readonly string[],
): ServiceRegistration {
  const known = new Set(["", ...serviceNames]);

  async function statusOf(service: string): Promise<ServingStatus> {
    const isBehind = ({ domain, services }: Backend) =>
      service === "" ? domain === "system" : services.includes(service);
    const statuses = await Promise.all(backends.filter(isBehind).map((backend) => backend.status()));
    const isServing =
      statuses.length === 0 || statuses.some(({ health }) => health === "ok" || health === "degraded");
    return isServing ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
  }

  async function answerOf(service: string): Promise<HealthCheckResponse> {
    return create(HealthCheckResponseSchema, { status: await statusOf(service) });
  }

  return registerService(Health, {
    async check({ service }) {
      if (!known.has(service)) {
        throw new InfraError(systemReasons.SERVICE_NOT_FOUND, `unknown service ${service}`);
      }
      return answerOf(service);
    },
    async list() {
      const statuses: Record<string, HealthCheckResponse> = {};
      for (const service of known) {
        statuses[service] = await answerOf(service);
      }
      return { statuses };
    },
    async *watch({ service }, call) {
      const subscribe = (wake: () => void) => {
        const ends = backends.map((backend) => backend.subscribe(wake));
        return () => {
          for (const end of ends) {
            end();
          }
        };
      };
      const read = async () => (known.has(service) ? statusOf(service) : ServingStatus.SERVICE_UNKNOWN);
      let last: ServingStatus | undefined;
      for await (const status of watchState(subscribe, read, call.signal)) {
        if (status !== last) {
          last = status;
          yield { status };
        }
      }
    },
  });
}
