import type { FaultList, Fault as FaultOf } from "../../sandbox/fault-list.ts";
import type { FakeAnswer, FakeRequest } from "./answer.ts";

/** Requests that a fault applies to; all by default. */
export interface FaultMatch {
  readonly kind?: "api" | "etcd";
  readonly method?: string;
  /** Part of the path, e.g. `/nodes/node1`. */
  readonly path?: string;
}

interface Matched extends Pick<FakeRequest, "method" | "path"> {
  readonly kind: "api" | "etcd";
}

export type Fault = FaultOf<FakeAnswer>;

export type Faults = FaultList<FaultMatch, Matched, FakeAnswer>;

/** Reports whether a request matches. */
export function isMeant(match: FaultMatch, { kind, method, path }: Matched): boolean {
  return (
    (match.kind ?? kind) === kind && (match.method ?? method) === method && path.includes(match.path ?? "")
  );
}
