import { createHistory } from "../../../server/history/history.ts";

/** An empty history and measures of a gateway, for tests of something else. */
export function historyUnderTest() {
  return {
    history: createHistory({
      stepMs: 60_000,
      maxBytes: 1 << 20,
      onFailed: (what, error) => {
        throw new Error(what, { cause: error });
      },
    }),
    measures: { callCount: () => 0 },
  };
}
