import type { DescMethod } from "@bufbuild/protobuf";
import { Gauge, type Registry } from "@prometheus-io/client";
import type { ErrorCode } from "../../adapters/host/define-reasons.ts";
import type { Call } from "../rpc/call/call.ts";
import { methodPathOf } from "../rpc/call/method-rule.ts";
import { createDurationHistogram, type DurationSeries } from "./duration-histogram.ts";

export interface RpcMetrics {
  /** Counts a call as in progress. The returned function is called once, with the code that the call ended with. */
  begin(call: Call): (code: Code) => void;
  /** Number of calls that have begun. */
  callCount(): number;
}

type Code = ErrorCode | "OK";

/** Counters of one method. */
interface MethodSeries {
  readonly rpc: string;
  underWay: number;
  readonly durations: Map<Call["protocol"], Map<Code, DurationSeries>>;
}

/** Upper bounds in seconds. Answers from memory are below the first; the longest unary call is below the last. */
const bucketsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Registers the metrics of calls by method. Label values come from the contract and from fixed lists, never from a request. */
export function createRpcMetrics(registry: Registry): RpcMetrics {
  const registers = [registry];
  const durationSeries = createDurationHistogram<"rpc" | "protocol" | "code">(
    {
      name: "hostplane_rpc_duration_seconds",
      help: "Time from a call's arrival to its end, for streams to the last message.",
      bucketsSeconds,
    },
    registry,
  );
  const methods = new Map<DescMethod, MethodSeries>();
  let callCount = 0;
  new Gauge({
    name: "hostplane_rpcs_in_flight",
    help: "Unary calls in progress.",
    labelNames: ["rpc"] as const,
    registers,
    collect() {
      setUnderWay(this, (kind) => kind === "unary");
    },
  });
  new Gauge({
    name: "hostplane_streams_open",
    help: "Open streams.",
    labelNames: ["rpc"] as const,
    registers,
    collect() {
      setUnderWay(this, (kind) => kind !== "unary");
    },
  });

  function setUnderWay(gauge: Gauge<"rpc">, isCounted: (kind: DescMethod["methodKind"]) => boolean): void {
    for (const [{ methodKind }, { rpc, underWay }] of methods) {
      if (isCounted(methodKind)) {
        gauge.set({ rpc }, underWay);
      }
    }
  }

  function seriesOf(method: DescMethod): MethodSeries {
    let series = methods.get(method);
    if (series === undefined) {
      series = { rpc: methodPathOf(method), underWay: 0, durations: new Map() };
      methods.set(method, series);
    }
    return series;
  }

  /** Finds the series by protocol and code. Both are constant strings, so no key is built for a call. */
  function durationOf(
    { rpc, durations }: MethodSeries,
    protocol: Call["protocol"],
    code: Code,
  ): DurationSeries {
    let ofProtocol = durations.get(protocol);
    if (ofProtocol === undefined) {
      ofProtocol = new Map();
      durations.set(protocol, ofProtocol);
    }
    let series = ofProtocol.get(code);
    if (series === undefined) {
      series = durationSeries({ rpc, protocol, code });
      ofProtocol.set(code, series);
    }
    return series;
  }

  return {
    begin({ method, protocol }) {
      const startedAtMs = performance.now();
      const series = seriesOf(method);
      series.underWay++;
      callCount++;
      return (code) => {
        series.underWay--;
        durationOf(series, protocol, code).observe((performance.now() - startedAtMs) / 1000);
      };
    },
    callCount: () => callCount,
  };
}
