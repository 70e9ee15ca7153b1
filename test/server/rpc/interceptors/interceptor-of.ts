import type { Interceptor } from "../../../../server/rpc/call/call.ts";
import { runInterceptors } from "../../../../server/rpc/call/call-path.ts";
import type { InterceptorFor } from "../../../../server/rpc/call/method-interceptors.ts";

/** Returns an interceptor for calls of any method. */
export function interceptorOf(linkFor: InterceptorFor): Interceptor {
  return (call, next) => {
    const link = linkFor(call.method, call.rule);
    return runInterceptors(link === undefined ? [] : [link], call, next);
  };
}
