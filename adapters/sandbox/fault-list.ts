/** A fault injected into requests to a fake system. */
export type Fault<Answer> = {
  /** Number of requests affected; 1 by default. */
  readonly times?: number;
} & (
  | { readonly kind: "answer"; readonly answer: Answer }
  /** The request is carried out, and the connection is closed before the reply. */
  | { readonly kind: "loseReply" }
  /** Nothing is carried out, and the connection is closed. */
  | { readonly kind: "cut" }
  /** The reply is delayed by this many milliseconds. */
  | { readonly kind: "delay"; readonly ms: number }
);

export interface FaultList<Match, Request, Answer> {
  add(match: Match, fault: Fault<Answer>): void;
  /** Returns the oldest fault that applies to this request and uses it up once. */
  take(request: Request): Fault<Answer> | undefined;
  clear(): void;
}

/**
 * Creates an empty list of faults.
 * @param isMeant reports whether a fault with this match applies to the request
 */
export function createFaultList<Match, Request, Answer>(
  isMeant: (match: Match, request: Request) => boolean,
): FaultList<Match, Request, Answer> {
  let faults: { readonly match: Match; readonly fault: Fault<Answer>; left: number }[] = [];
  return {
    add(match, fault) {
      faults.push({ match, fault, left: fault.times ?? 1 });
    },
    take(request) {
      const found = faults.find(({ match }) => isMeant(match, request));
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
