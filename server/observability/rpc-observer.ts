import { InfraError } from "../../adapters/host/infra-error.ts";
import type { Around } from "../rpc/call.ts";
import { infraErrorFrom } from "../rpc/errors.ts";
import type { RpcMetrics } from "./rpc-metrics.ts";
import type { RpcSpan, Tracing } from "./tracing.ts";

/**
 * Counts each call, and traces it where tracing is on. It belongs outermost in the chain, so that the log of the
 * call can name its trace and that refusals are counted as well.
 */
export function createRpcObserver(options: {
  readonly metrics: RpcMetrics;
  /** Absent where tracing is off. */
  readonly tracing?: Tracing | undefined;
}): Around {
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
      if (Symbol.asyncIterator in output) {
        return observeStream(output, span, end);
      }
      end(undefined);
      return output;
    } catch (thrown) {
      end(infraErrorFrom(thrown));
      throw thrown;
    }
  };
}

async function* observeStream(
  messages: AsyncIterable<object>,
  span: RpcSpan | undefined,
  end: (error: InfraError | undefined) => void,
): AsyncGenerator<object, void> {
  const source = messages[Symbol.asyncIterator]();
  // A generator runs in the context of whoever asks it for a message, which is outside of the span.
  const pull = () => (span === undefined ? source.next() : span.run(() => source.next()));
  let isOver = false;
  let failure: InfraError | undefined;
  try {
    for (;;) {
      const { done, value } = await pull();
      if (done === true) {
        isOver = true;
        return;
      }
      yield value;
    }
  } catch (thrown) {
    isOver = true;
    failure = infraErrorFrom(thrown);
    throw thrown;
  } finally {
    await (span === undefined ? source.return?.() : span.run(() => source.return?.()));
    end(isOver ? failure : new InfraError("CALLER_LEFT", "the caller left"));
  }
}
