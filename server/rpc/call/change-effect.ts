import { trackEffect } from "../../../adapters/host/effect.ts";
import { type Effect, InfraError } from "../../../adapters/host/infra-error.ts";
import { infraErrorFrom } from "../errors/connect-error.ts";

/** Adds the effect that a call has had to each error of a unary change. */
export interface ChangeEffect {
  /** Goes around the whole call: errors before the handler begins have changed nothing. */
  aroundCall<T>(call: () => Promise<T>): Promise<T>;
  /** Goes around the handler. */
  aroundHandler<T>(handler: () => Promise<T>): Promise<T>;
  /** Returns the error for a caller that did not wait for the end. */
  asLeft(error: InfraError): InfraError;
}

export function createChangeEffect(): ChangeEffect {
  let effect: Effect = "none";
  return {
    async aroundCall(call) {
      try {
        return await call();
      } catch (thrown) {
        const error = infraErrorFrom(thrown);
        throw error.effect === undefined ? error.withEffect(effect) : error;
      }
    },
    async aroundHandler(handler) {
      effect = "possible";
      let result: Awaited<ReturnType<typeof handler>>;
      try {
        result = await trackEffect(handler);
      } catch (thrown) {
        // The effect of a fault in the gateway is unknown.
        throw thrown instanceof InfraError ? thrown : infraErrorFrom(thrown).withEffect("possible");
      }
      effect = "done";
      return result;
    },
    asLeft: (error) => error.withEffect("possible"),
  };
}
