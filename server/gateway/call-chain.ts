import type { FastifyBaseLogger } from "fastify";
import { hasReason } from "../../adapters/host/infra-error.ts";
import { createSeal } from "../crypto/seal.ts";
import { createAuditLog } from "../domains/audit/audit-log.ts";
import { startAuditRetention } from "../domains/audit/retention.ts";
import { createKeptResults } from "../domains/idempotency/kept-results.ts";
import { createRpcObserver } from "../observability/rpc-observer.ts";
import { createCallAudit } from "../rpc/audit-calls.ts";
import { type Authenticate, createAuthorization, stillAllowed } from "../rpc/authorize.ts";
import type { Around } from "../rpc/call.ts";
import { createCallerLimits } from "../rpc/caller-limits.ts";
import { createIdempotency } from "../rpc/idempotency.ts";
import { createCallLog } from "../rpc/log-calls.ts";
import type { LinksFor } from "../rpc/method-links.ts";
import { assertKnownHeaders } from "../rpc/request-headers.ts";
import { storeReasons } from "../store/reasons.ts";
import type { Config } from "./config/schema.ts";
import type { Data } from "./open-data.ts";

export interface CallChainOptions {
  readonly data: Data;
  readonly authenticate: Authenticate;
  readonly observe: Parameters<typeof createRpcObserver>[0];
  readonly config: Pick<Config, "limits" | "audit">;
  readonly instance: { readonly instanceId: string; readonly host: string; readonly isSandbox: boolean };
  readonly logger: FastifyBaseLogger;
}

/** The interceptors around calls, in the order that they depend on. */
export interface CallChain {
  readonly linksFor: LinksFor;
  /** Writes what is still pending; needs the store to be open. */
  close(): Promise<void>;
}

export function createCallChain(options: CallChainOptions): CallChain {
  const { store, masterKey } = options.data;
  const { logger, instance } = options;
  const onFailed = (what: string, err: unknown) => {
    // An unreachable store is logged once a minute elsewhere; this would log it for each call.
    const isAway = hasReason(err, storeReasons.STORE_UNAVAILABLE);
    logger[isAway ? "debug" : "error"]({ err }, `store write failed: ${what}`);
  };
  const audit = createCallAudit(createAuditLog(store, instance, onFailed));
  const retention = startAuditRetention(store, options.config.audit.keepDays, (error) =>
    onFailed("the removal of old audit events", error),
  );
  const kept = createKeptResults({
    store,
    seal: createSeal(masterKey, "idempotency"),
    hashKey: masterKey.deriveKey("idempotency-hash").export(),
    instanceId: instance.instanceId,
    onFailed,
  });
  const limits = createCallerLimits(options.config.limits.caller);
  const observer = createRpcObserver(options.observe);
  const log = createCallLog(logger);
  const authorization = createAuthorization(options.authenticate, limits.countDenied);
  const idempotency = createIdempotency(kept);
  const isNeeded = (link: Around | undefined) => link !== undefined;
  return {
    linksFor: (method, rule) => ({
      around: [
        observer,
        log,
        audit.around,
        authorization(method, rule),
        limits.around,
        assertKnownHeaders,
        audit.aroundStreams(method, rule),
      ].filter(isNeeded),
      aroundWork: [
        stillAllowed(method, rule),
        limits.aroundWork(method, rule),
        audit.aroundWork(method, rule),
        idempotency(method, rule),
      ].filter(isNeeded),
    }),
    async close() {
      await retention.stop();
      await audit.close();
      await kept.close();
    },
  };
}
