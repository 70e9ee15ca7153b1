import { trackEffect } from "../../adapters/host/effect.ts";
import { type Effect, InfraError } from "../../adapters/host/infra-error.ts";
import { infraErrorFrom } from "./errors.ts";

/** Gives each error of one call of a unary change the effect that the call has had. */
export interface ChangeEffect {
  /** Around the whole call: what fails before the handler begins has changed nothing. */
  aroundCall<T>(call: () => Promise<T>): Promise<T>;
  /** Around the handler. */
  aroundHandler<T>(handler: () => Promise<T>): Promise<T>;
  /** The error of a caller that did not wait for the end. */
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
        // What a fault of the gateway has left cannot be known.
        throw thrown instanceof InfraError ? thrown : infraErrorFrom(thrown).withEffect("possible");
      }
      effect = "done";
      return result;
    },
    asLeft: (error) => error.withEffect("possible"),
  };
}
