import type { DescMethod } from "@bufbuild/protobuf";
import { Gauge, Histogram, type Registry } from "@prometheus-io/client";
import type { ErrorCode } from "../../adapters/host/reasons.ts";
import type { Call } from "../rpc/call.ts";
import { methodPathOf } from "../rpc/method-rule.ts";

export interface RpcMetrics {
  /** Counts a call as under way; the function it returns is called once, with how the call ended. */
  begin(call: Call): (code: ErrorCode | "OK") => void;
}

/** Seconds: an answer from memory takes less than the first, the longest unary call may take the last. */
const bucketsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Calls by method. Its labels take their values from the contract and from fixed lists, never from a request. */
export function createRpcMetrics(registry: Registry): RpcMetrics {
  const registers = [registry];
  const duration = new Histogram({
    name: "hostplane_rpc_duration_seconds",
    help: "Time from a call's arrival to its end, a stream's to its last message.",
    labelNames: ["rpc", "protocol", "code"] as const,
    buckets: bucketsSeconds,
    registers,
  });
  const inFlight = new Gauge({
    name: "hostplane_rpcs_in_flight",
    help: "Unary calls under way.",
    labelNames: ["rpc"] as const,
    registers,
  });
  const openStreams = new Gauge({
    name: "hostplane_streams_open",
    help: "Streams under way.",
    labelNames: ["rpc"] as const,
    registers,
  });
  const methods = new Map<DescMethod, ReturnType<typeof metricsOf>>();

  /** A method's series, looked up once: finding one by its labels costs more than counting. */
  function metricsOf(method: DescMethod) {
    const rpc = methodPathOf(method);
    const durations = new Map<string, Histogram.Internal<"rpc" | "protocol" | "code">>();
    return {
      underWay: (method.methodKind === "unary" ? inFlight : openStreams).labels({ rpc }),
      durationOf(protocol: Call["protocol"], code: ErrorCode | "OK") {
        const key = `${protocol} ${code}`;
        const found = durations.get(key) ?? duration.labels({ rpc, protocol, code });
        durations.set(key, found);
        return found;
      },
    };
  }

  return {
    begin({ method, protocol }) {
      const startedAtMs = performance.now();
      const metrics = methods.get(method) ?? metricsOf(method);
      methods.set(method, metrics);
      metrics.underWay.inc();
      return (code) => {
        metrics.underWay.dec();
        metrics.durationOf(protocol, code).observe((performance.now() - startedAtMs) / 1000);
      };
    },
  };
}
