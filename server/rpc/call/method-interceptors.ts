import type { DescMethod } from "@bufbuild/protobuf";
import type { Around } from "./call.ts";
import type { MethodRule } from "./method-rule.ts";

/** The interceptors of one method. */
export interface MethodLinks {
  /** Around the whole call, the first outermost. */
  readonly around: readonly Around[];
  /**
   * Only around the handler of a unary call, the first outermost. Unlike `around` it continues when the caller has left or the
   * deadline has passed, as a mutation does.
   */
  readonly aroundWork: readonly Around[];
}

/** Called once per method, so that calls skip the interceptors that do nothing for their method. */
export type LinksFor = (method: DescMethod, rule: MethodRule) => MethodLinks;

/** Returns an interceptor that concerns some methods only; undefined for the others. */
export type LinkFor = (method: DescMethod, rule: MethodRule) => Around | undefined;
