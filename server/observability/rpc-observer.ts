import type { InfraError } from "../../adapters/host/infra-error.ts";
import type { Interceptor } from "../rpc/call/call.ts";
import { infraErrorFrom } from "../rpc/errors/connect-error.ts";
import type { RpcMetrics } from "./rpc-metrics.ts";
import type { RpcSpan, Tracing } from "./tracing.ts";

/**
 * Creates the interceptor that counts each call, and traces it if tracing is on. It has to be the outermost one, so that the
 * call's log record contains the trace id and refused calls are counted too.
 */
export function createRpcObserver(options: {
  readonly metrics: RpcMetrics;
  /** Absent where tracing is off. */
  readonly tracing?: Tracing | undefined;
}): Interceptor {
  const { metrics, tracing } = options;
  return async (call, next) => {
    const ended = metrics.begin(call);
    const span = tracing?.startRpc(call);
    const end = (error: InfraError | undefined) => {
      ended(error?.code ?? "OK");
      span?.end(error);
    };
    try {
      const output = await (span === undefined ? next() : span.run(next));
      if (!(Symbol.asyncIterator in output)) {
        end(undefined);
        return output;
      }
      call.onStreamEnd(end);
      return span === undefined ? output : streamOfSpan(output, span);
    } catch (thrown) {
      end(infraErrorFrom(thrown));
      throw thrown;
    }
  };
}

async function* streamOfSpan(messages: AsyncIterable<object>, span: RpcSpan): AsyncGenerator<object, void> {
  const source = messages[Symbol.asyncIterator]();
  try {
    for (;;) {
      // A generator runs in the context of its consumer, which is outside the span.
      const { done, value } = await span.run(() => source.next());
      if (done === true) {
        return;
      }
      yield value;
    }
  } finally {
    await span.run(() => source.return?.());
  }
}
