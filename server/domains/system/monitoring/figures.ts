import { monitorEventLoopDelay } from "node:perf_hooks";
import type { GatewayMeasures } from "../../../domain/domain-services.ts";
import type { FigureSource } from "../../../domain/figure-source.ts";
import { bytes, percent } from "../../../domain/inventory-source.ts";
import type { SampledFigure } from "../../../history/sampled-resource.ts";

/** A timer of this interval measures the lag: a shorter one would wake an idle gateway more often. */
const lagTimerMs = 100;

/** Calls, memory, CPU time and event loop of this gateway, and the size of its store, as `gateway`. */
export function createGatewayFigures({ callCount, readStoreBytes }: GatewayMeasures): FigureSource {
  // Started with the first sample: a gateway that takes none needs no timer.
  let delays: ReturnType<typeof monitorEventLoopDelay> | undefined;
  let before: { readonly atMs: number; readonly calls: number; readonly cpuMs: number } | undefined;

  /** Figures of the time since the last sample; none in the first one. */
  function sinceBefore(): readonly SampledFigure[] {
    const { user, system } = process.cpuUsage();
    const now = { atMs: performance.now(), calls: callCount(), cpuMs: (user + system) / 1000 };
    const last = before;
    before = now;
    if (last === undefined || delays === undefined || delays.count === 0) {
      delays ??= monitorEventLoopDelay({ resolution: lagTimerMs });
      delays.enable();
      return [];
    }
    const durationMs = now.atMs - last.atMs;
    // A delay is the time between two runs of the timer.
    const lagMs = Math.max(0, delays.max / 1e6 - lagTimerMs);
    delays.reset();
    return [
      { name: "calls", value: ((now.calls - last.calls) * 1000) / durationMs, unit: "per_second" },
      percent("cpu", (100 * (now.cpuMs - last.cpuMs)) / durationMs),
      { name: "event_loop_lag", value: lagMs, unit: "milliseconds" },
    ];
  }

  return {
    domain: "system",
    services: ["hostplane.v1.SystemService"],
    async read() {
      // A database that cannot be measured now is an unknown figure.
      const storeBytes = await readStoreBytes?.().catch(() => undefined);
      return [
        {
          name: "gateway",
          figures: [
            ...sinceBefore(),
            bytes("memory", BigInt(process.memoryUsage.rss())),
            ...(storeBytes === undefined ? [] : [bytes("store", BigInt(storeBytes))]),
          ],
        },
      ];
    },
  };
}
