import { type Backend, BackendHealth, BackendKind } from "../../../gen/hostplane/v1/system_pb.ts";
import type { Tone } from "../../parts/badge.tsx";

/** How a system, or a domain of several, is: in a word and its tone. */
export interface HealthText {
  readonly tone: Tone;
  readonly text: string;
}

/** How one system is. */
export function healthText({ kind, health }: Pick<Backend, "kind" | "health">): HealthText {
  if (kind === BackendKind.OFF) {
    return { tone: "off", text: "off" };
  }
  if (kind === BackendKind.NOT_BUILT) {
    return { tone: "off", text: "not in this version" };
  }
  switch (health) {
    case BackendHealth.OK:
      return { tone: "ok", text: "works" };
    case BackendHealth.DEGRADED:
      return { tone: "warn", text: "lacks something" };
    case BackendHealth.UNAVAILABLE:
      return { tone: "bad", text: "does not answer" };
    default:
      return { tone: "off", text: "not asked yet" };
  }
}

/** Worst first. */
const tones: readonly Tone[] = ["bad", "warn", "ok", "off"];

/** How a domain is: as the worst of its systems, "off" only when all of them are. */
export function domainHealthText(backends: readonly Backend[]): HealthText {
  const texts = backends.map(healthText);
  const [worst] = texts.toSorted((one, other) => tones.indexOf(one.tone) - tones.indexOf(other.tone));
  return worst ?? { tone: "off", text: "unknown" };
}

/** Whether a system is there to be asked. */
export function isServed({ kind }: Backend): boolean {
  return kind === BackendKind.REAL || kind === BackendKind.SANDBOX;
}

/** Whether it is worth asking a system: of one that does not answer its health says why. */
export function isAnswering(backend: Backend): boolean {
  return isServed(backend) && backend.health !== BackendHealth.UNAVAILABLE;
}

/** Whether a system that should work does not, or not fully. */
export function needsHelp(backend: Backend): boolean {
  const isWell = backend.health === BackendHealth.OK || backend.health === BackendHealth.UNKNOWN;
  return isServed(backend) && (!isWell || backend.missing.length > 0);
}
