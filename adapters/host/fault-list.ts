/** What goes wrong with a request to a fake of a system. */
export type Fault<Answer> = {
  /** How many requests, 1 unless told. */
  readonly times?: number;
} & (
  | { readonly kind: "answer"; readonly answer: Answer }
  /** What was asked is done, and the connection is cut before the answer. */
  | { readonly kind: "loseReply" }
  /** Nothing is done, and the connection is cut. */
  | { readonly kind: "cut" }
  /** Late by so many milliseconds. */
  | { readonly kind: "delay"; readonly ms: number }
);

export interface FaultList<Match, Request, Answer> {
  add(match: Match, fault: Fault<Answer>): void;
  /** The oldest that this request is to have; it has been had then. */
  take(request: Request): Fault<Answer> | undefined;
  clear(): void;
}

/**
 * What goes wrong on request.
 * @param isMeant whether a fault for these requests is for this one
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
