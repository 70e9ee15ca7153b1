import type { FaultList, Fault as FaultOf } from "../../sandbox/fault-list.ts";
import type { FakeAnswer } from "./answer.ts";
import type { FakeRequest } from "./request.ts";

/** Requests that a fault applies to; all by default. */
export interface FaultMatch {
  readonly method?: string;
  /** Part of the path, e.g. `machines/sbxaaa`. */
  readonly path?: string;
  readonly op?: string;
}

type Matched = Pick<FakeRequest, "method" | "path" | "op">;

export type Fault = FaultOf<FakeAnswer>;

export type Faults = FaultList<FaultMatch, Matched, FakeAnswer>;

/** Reports whether a request matches. */
export function isMeant(match: FaultMatch, { method, path, op }: Matched): boolean {
  return (
    (match.method ?? method) === method &&
    path.includes(match.path ?? "") &&
    (match.op === undefined || match.op === op)
  );
}
