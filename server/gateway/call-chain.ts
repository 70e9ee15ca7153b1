import type { DescMethod } from "@bufbuild/protobuf";
import type { FastifyBaseLogger } from "fastify";
import { hasReason } from "../../adapters/host/infra-error.ts";
import { createSeal } from "../crypto/seal.ts";
import { createAuditLog } from "../domains/audit/audit-log.ts";
import { startAuditRetention } from "../domains/audit/retention.ts";
import { createKeptResults } from "../domains/idempotency/kept-results.ts";
import { createRpcObserver } from "../observability/rpc-observer.ts";
import type { MethodAccess } from "../rpc/access/method-access.ts";
import type { Interceptor } from "../rpc/call/call.ts";
import type {
  ForwardedInterceptorsFor,
  InterceptorFor,
  InterceptorsFor,
} from "../rpc/call/method-interceptors.ts";
import { createCallAudit } from "../rpc/interceptors/audit.ts";
import {
  type Authenticate,
  createAuthorization,
  recheckPermission,
} from "../rpc/interceptors/authorization.ts";
import { createCallerLimits } from "../rpc/interceptors/caller-limits.ts";
import { createGrantedResources } from "../rpc/interceptors/granted-resources.ts";
import { createIdempotency } from "../rpc/interceptors/idempotency.ts";
import { assertKnownHeaders } from "../rpc/interceptors/known-headers.ts";
import { createCallLog } from "../rpc/interceptors/log.ts";
import { outcomeReport } from "../rpc/interceptors/outcome-report.ts";
import { storeReasons } from "../store/reasons.ts";
import type { Config } from "./config/schema.ts";
import type { Data } from "./open-data.ts";

export interface CallChainOptions {
  readonly data: Data;
  readonly authenticate: Authenticate;
  /** Returns what the calls of a method concern. */
  readonly accessOf: (method: DescMethod) => MethodAccess | undefined;
  readonly observe: Parameters<typeof createRpcObserver>[0];
  readonly config: Pick<Config, "limits" | "audit">;
  /** Go directly around the handlers of changes. */
  readonly changeInterceptors: readonly InterceptorFor[];
  readonly instance: { readonly instanceId: string; readonly host: string; readonly isSandbox: boolean };
  readonly logger: FastifyBaseLogger;
}

/** The interceptors around calls, in the order that they depend on. */
export interface CallChain {
  readonly interceptorsFor: InterceptorsFor;
  readonly forwardedInterceptorsFor: ForwardedInterceptorsFor;
  /** Writes what is still pending; needs the store to be open. */
  close(): Promise<void>;
}

/** Creates the interceptors, and starts the removal of audit events that are too old, which ends with `close`. */
export function createCallChain(options: CallChainOptions): CallChain {
  const { store, masterKeys, digestKeys } = options.data;
  const { logger, instance } = options;
  const onFailed = (what: string, err: unknown) => {
    // An unreachable store is logged once a minute elsewhere; this would log it for each call.
    const isUnreachable = hasReason(err, storeReasons.STORE_UNAVAILABLE);
    logger[isUnreachable ? "debug" : "error"]({ err }, `store write failed: ${what}`);
  };
  const audit = createCallAudit(createAuditLog(store, instance, onFailed));
  const retention = startAuditRetention(store, options.config.audit.keepDays, (error) =>
    onFailed("the removal of old audit events", error),
  );
  const kept = createKeptResults({
    store,
    seal: createSeal(masterKeys, "idempotency"),
    hashKey: digestKeys.idempotency,
    instanceId: instance.instanceId,
    onFailed,
  });
  const limits = createCallerLimits(options.config.limits.caller);
  const observer = createRpcObserver(options.observe);
  const log = createCallLog(logger);
  const authorization = createAuthorization(options.authenticate, limits.countDenied);
  const grantedResources = createGrantedResources(options.accessOf);
  const idempotency = createIdempotency(kept);
  const isNeeded = (interceptor: Interceptor | undefined) => interceptor !== undefined;
  const aroundHandler = (...of: Parameters<InterceptorFor>) =>
    options.changeInterceptors.map((interceptorFor) => interceptorFor(...of));
  return {
    interceptorsFor: (method, rule) => ({
      interceptors: [
        outcomeReport(method, rule),
        observer,
        log,
        audit.interceptor,
        authorization(method, rule),
        limits.interceptor,
        assertKnownHeaders,
        grantedResources.interceptor(method, rule),
        audit.streamInterceptor(method, rule),
        ...(method.methodKind === "unary" ? [] : aroundHandler(method, rule)),
      ].filter(isNeeded),
      workInterceptors: [
        recheckPermission(method, rule),
        grantedResources.workInterceptor(method, rule),
        limits.workInterceptor(method, rule),
        audit.workInterceptor(method, rule),
        idempotency(method, rule),
        ...(method.methodKind === "unary" ? aroundHandler(method, rule) : []),
      ].filter(isNeeded),
    }),
    forwardedInterceptorsFor: (method, rule, isInContract) =>
      [
        // The labels of metrics come from the contract only.
        isInContract ? observer : undefined,
        log,
        audit.interceptor,
        authorization(method, rule),
        limits.interceptor,
        method.methodKind === "unary" ? limits.workInterceptor(method, rule) : undefined,
        assertKnownHeaders,
        audit.forwardedInterceptor(method, rule),
      ].filter(isNeeded),
    async close() {
      await retention.stop();
      await audit.close();
      await kept.close();
    },
  };
}
