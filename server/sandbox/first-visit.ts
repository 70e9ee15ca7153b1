/** Functions that receive the requests of a listener. */
type Handlers = Readonly<Record<string, (...facts: never[]) => unknown>>;

/** Wraps the handlers of listeners so that `visited` resolves with the first request. */
export function awaitFirstVisit<H extends Handlers>(
  handlers: H,
): { readonly handlers: H; readonly visited: Promise<void> } {
  const { promise: visited, resolve } = Promise.withResolvers<void>();
  const wrapped = Object.entries(handlers).map(([name, handle]) => [
    name,
    (...facts: never[]) => {
      resolve();
      return handle(...facts);
    },
  ]);
  return { handlers: Object.fromEntries(wrapped) as H, visited };
}
