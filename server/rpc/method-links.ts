import type { DescMethod } from "@bufbuild/protobuf";
import type { Around } from "./call.ts";
import type { MethodRule } from "./method-rule.ts";

/** What the calls of one method pass through. */
export interface MethodLinks {
  /** Around the whole call, the first outermost. */
  readonly around: readonly Around[];
  /**
   * Around the handler of a unary call alone, the first outermost. Unlike `around` it goes on to its end when the caller
   * has left or the deadline has passed, as a mutation does.
   */
  readonly aroundWork: readonly Around[];
}

/** Asked once for each method, so that no call passes a link that has nothing to do for its method. */
export type LinksFor = (method: DescMethod, rule: MethodRule) => MethodLinks;

/** A link that concerns some methods only: undefined for any other. */
export type LinkFor = (method: DescMethod, rule: MethodRule) => Around | undefined;
