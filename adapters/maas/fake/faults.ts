import type { FaultList, Fault as FaultOf } from "../../host/fault-list.ts";
import type { FakeAnswer } from "./answer.ts";
import type { FakeRequest } from "./request.ts";

/** Which requests; all unless told. */
export interface FaultMatch {
  readonly method?: string;
  /** Part of it, as `machines/sbxaaa`. */
  readonly path?: string;
  readonly op?: string;
}

type Matched = Pick<FakeRequest, "method" | "path" | "op">;

export type Fault = FaultOf<FakeAnswer>;

export type Faults = FaultList<FaultMatch, Matched, FakeAnswer>;

/** Whether a request is one of these. */
export function isMeant(match: FaultMatch, { method, path, op }: Matched): boolean {
  return (
    (match.method ?? method) === method &&
    path.includes(match.path ?? "") &&
    (match.op === undefined || match.op === op)
  );
}
