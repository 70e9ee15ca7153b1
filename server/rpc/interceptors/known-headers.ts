import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { Call, Interceptor } from "../call/call.ts";
import { methodPathOf } from "../call/method-rule.ts";
import { rpcReasons } from "../reasons.ts";

/** The header that identifies a repeated mutation (`idempotency.ts`). */
export const idempotencyKeyHeader = "idempotency-key";

/** The header in which a hub names the caller to an agent. An agent believes it on a hub's connection only. */
export const hubCallerHeader = "hostplane-fleet-caller";

/** The header that names the host of a call to a hub. */
export const fleetHostHeader = "hostplane-host";

/** The gateway's own request headers that a call may have. */
const ownHeaders: ReadonlySet<string> = new Set(["hostplane-session"]);

/** Visible ASCII, as in generated keys. A header that was sent twice arrives with a comma and a space in it. */
const keyPattern = /^[\x21-\x7e]{1,255}$/;

/**
 * Refuses headers that the caller relies on but the gateway would ignore: an unknown `hostplane-*` header (a typo must not change
 * the meaning of a call), and an `idempotency-key` on a mutation whose result is not stored. Reads ignore the key.
 * @throws InfraError UNKNOWN_HEADER, MALFORMED_REQUEST, IDEMPOTENCY_KEY_NOT_TAKEN, NOT_BUILT
 */
export const assertKnownHeaders: Interceptor = (call, next) => {
  for (const name of call.headerNames()) {
    if (name.startsWith("hostplane-") && !ownHeaders.has(name) && !isOfFleet(name, call)) {
      throw new InfraError(rpcReasons.UNKNOWN_HEADER, `unknown request header ${name}`);
    }
  }
  const key = call.rule.mutation ? call.header(idempotencyKeyHeader) : undefined;
  if (key === undefined) {
    return next();
  }
  if (call.rule.secretAnswer) {
    throw new InfraError(
      rpcReasons.IDEMPOTENCY_KEY_NOT_TAKEN,
      `${methodPathOf(call.method)} does not support ${idempotencyKeyHeader}: its answer contains secrets, which are not stored`,
    );
  }
  if (call.rule.idempotencyField !== undefined) {
    throw new InfraError(
      rpcReasons.IDEMPOTENCY_KEY_NOT_TAKEN,
      `${methodPathOf(call.method)} does not support ${idempotencyKeyHeader}: its field ${call.rule.idempotencyField} is the key`,
    );
  }
  if (call.method.methodKind !== "unary") {
    throw new InfraError(rpcReasons.NOT_BUILT, `${idempotencyKeyHeader}: not supported for streams yet`);
  }
  if (!keyPattern.test(key)) {
    throw new InfraError(
      rpcReasons.MALFORMED_REQUEST,
      `${idempotencyKeyHeader}: expected 1 to 255 visible ASCII characters, sent once`,
    );
  }
  return next();
};

function isOfFleet(name: string, { fleetHost, peer }: Call): boolean {
  return name === fleetHostHeader
    ? fleetHost !== undefined
    : name === hubCallerHeader && peer.access === "hub";
}
