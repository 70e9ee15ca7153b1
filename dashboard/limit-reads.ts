import { MethodOptions_IdempotencyLevel as Idempotency } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";

/** A gateway answers reads from what it knows; one that takes so long has not been reached. */
const longestReadMs = 20_000;

/**
 * Ends a read that is not answered, and says what may hold it up: a browser opens six connections to a gateway without TLS, of
 * which each window's streams take two or three, and what gets none waits without a word. Changes are waited for, however
 * long they take.
 */
export const limitReads: Interceptor = (next) => async (request) => {
  if (request.stream || request.method.idempotency !== Idempotency.NO_SIDE_EFFECTS) {
    return next(request);
  }
  let timer: ReturnType<typeof setTimeout> | undefined;
  const words =
    location.protocol === "https:"
      ? "the gateway has not answered for 20 seconds"
      : "the gateway has not answered for 20 seconds: it is far away or busy, or too many windows of it are open, since without TLS a browser keeps six connections to it for all of them";
  const tooLong = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new ConnectError(words, Code.DeadlineExceeded)), longestReadMs);
  });
  try {
    return await Promise.race([next(request), tooLong]);
  } finally {
    clearTimeout(timer);
  }
};
