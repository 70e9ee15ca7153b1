import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { PodRuntime } from "../../../../adapters/podman/adapter.ts";
import type { GetLogsRequest } from "../../../../gen/v1alpha/api_pb.ts";
import type { Call } from "../../../rpc/call.ts";

/** What the apps of a pod print. */
export interface PodLogs {
  read(request: GetLogsRequest, call: Call): AsyncGenerator<{ readonly lines: string[] }, void>;
}

export function createPodLogs(_options: { readonly runtime: PodRuntime }): PodLogs {
  return {
    // biome-ignore lint/correctness/useYield: it is not built yet
    async *read() {
      throw new InfraError("DOMAIN_NOT_BUILT", "this version does not serve GetLogs yet");
    },
  };
}
