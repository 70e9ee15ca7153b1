import type { FakeAnswer } from "./answer.ts";

/** Which requests; all unless told. */
export interface FaultMatch {
  readonly kind?: "api" | "etcd";
  readonly method?: string;
  /** Part of it, as `/nodes/node1`. */
  readonly path?: string;
}

export type Fault = {
  /** How many requests, 1 unless told. */
  readonly times?: number;
} & (
  | { readonly kind: "answer"; readonly answer: FakeAnswer }
  /** What was asked is done, and the connection is cut before the answer. */
  | { readonly kind: "loseReply" }
  /** Nothing is done, and the connection is cut. */
  | { readonly kind: "cut" }
  /** Late by so many milliseconds. */
  | { readonly kind: "delay"; readonly ms: number }
);

export interface FaultList {
  add(match: FaultMatch, fault: Fault): void;
  /** The oldest that this request is to have; it has been had then. */
  take(kind: "api" | "etcd", request: { readonly method: string; readonly path: string }): Fault | undefined;
  clear(): void;
}

/** What goes wrong on request. */
export function createFaultList(): FaultList {
  let faults: { readonly match: FaultMatch; readonly fault: Fault; left: number }[] = [];
  return {
    add(match, fault) {
      faults.push({ match, fault, left: fault.times ?? 1 });
    },
    take(kind, { method, path }) {
      const found = faults.find(
        ({ match }) =>
          (match.kind ?? kind) === kind &&
          (match.method ?? method) === method &&
          path.includes(match.path ?? ""),
      );
      if (found !== undefined) {
        found.left -= 1;
        faults = faults.filter(({ left }) => left > 0);
      }
      return found?.fault;
    },
    clear() {
      faults = [];
    },
  };
}
