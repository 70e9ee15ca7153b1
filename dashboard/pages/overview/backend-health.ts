import { type Backend, BackendHealth, BackendKind } from "../../../gen/hostplane/v1/system_pb.ts";
import type { Tone } from "../../parts/badge.tsx";

/** Health of a system, or of a domain of several systems: a word and its tone. */
export interface HealthText {
  readonly tone: Tone;
  readonly text: string;
}

/** Returns the health of one system. */
export function healthText({ kind, health }: Pick<Backend, "kind" | "health">): HealthText {
  if (kind === BackendKind.OFF) {
    return { tone: "off", text: "off" };
  }
  if (kind === BackendKind.NOT_BUILT) {
    return { tone: "off", text: "not in this version" };
  }
  switch (health) {
    case BackendHealth.OK:
      return { tone: "ok", text: "healthy" };
    case BackendHealth.DEGRADED:
      return { tone: "warn", text: "degraded" };
    case BackendHealth.UNAVAILABLE:
      return { tone: "bad", text: "unreachable" };
    default:
      return { tone: "off", text: "not checked yet" };
  }
}

/** Worst first. */
const tones: readonly Tone[] = ["bad", "warn", "ok", "off"];

/** Returns the health of a domain: that of its worst system, "off" only if all of them are off. */
export function domainHealthText(backends: readonly Backend[]): HealthText {
  const texts = backends.map(healthText);
  const [worst] = texts.toSorted((one, other) => tones.indexOf(one.tone) - tones.indexOf(other.tone));
  return worst ?? { tone: "off", text: "unknown" };
}

/** Reports whether a system is configured. */
export function isServed({ kind }: Backend): boolean {
  return kind === BackendKind.REAL || kind === BackendKind.SANDBOX;
}

/** Reports whether to read from a system: if it does not respond, its health already says why. */
export function isAnswering(backend: Backend): boolean {
  return isServed(backend) && backend.health !== BackendHealth.UNAVAILABLE;
}

/** Reports whether a configured system is degraded or unreachable. */
export function needsHelp(backend: Backend): boolean {
  const isWell = backend.health === BackendHealth.OK || backend.health === BackendHealth.UNKNOWN;
  return isServed(backend) && (!isWell || backend.missing.length > 0);
}
