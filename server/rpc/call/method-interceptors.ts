import type { DescMethod } from "@bufbuild/protobuf";
import type { Interceptor } from "./call.ts";
import type { MethodRule } from "./method-rule.ts";

/** The interceptors of one method. */
export interface MethodInterceptors {
  /** Around the whole call, the first outermost. */
  readonly interceptors: readonly Interceptor[];
  /**
   * Only around the handler of a unary call, the first outermost. Unlike `interceptors` it continues when the caller has left or the
   * deadline has passed, as a mutation does.
   */
  readonly workInterceptors: readonly Interceptor[];
}

/** Called once per method, so that calls skip the interceptors that do nothing for their method. */
export type InterceptorsFor = (method: DescMethod, rule: MethodRule) => MethodInterceptors;

/**
 * Returns the interceptors around calls that are forwarded to a host of the fleet, the first outermost. They do not read the
 * request.
 * @param isInContract false for a method that only the host may know
 */
export type ForwardedInterceptorsFor = (
  method: DescMethod,
  rule: MethodRule,
  isInContract: boolean,
) => readonly Interceptor[];

/** Returns an interceptor that concerns some methods only; undefined for the others. */
export type InterceptorFor = (method: DescMethod, rule: MethodRule) => Interceptor | undefined;
