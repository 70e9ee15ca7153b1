import { MethodOptions_IdempotencyLevel as Idempotency } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";

/** The gateway answers reads from its own state, so a longer wait means that it was not reached. */
const longestReadMs = 20_000;

/** Ends a read that gets no response, instead of showing its last value forever. Changes have no limit. */
export const limitReads: Interceptor = (next) => async (request) => {
  if (request.stream || request.method.idempotency !== Idempotency.NO_SIDE_EFFECTS) {
    return next(request);
  }
  let timer: ReturnType<typeof setTimeout> | undefined;
  const words = "no response from the gateway within 20 seconds: it may be unreachable or busy";
  const tooLong = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new ConnectError(words, Code.DeadlineExceeded)), longestReadMs);
  });
  try {
    return await Promise.race([next(request), tooLong]);
  } finally {
    clearTimeout(timer);
  }
};
