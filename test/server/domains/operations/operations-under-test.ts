import { create, type DescMethod, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import type { Test } from "tap";
import { OperationService } from "../../../../gen/hostplane/v1/operation_pb.ts";
import { createVisibilityOf } from "../../../../server/domain/visibility.ts";
import { createOperationAccess } from "../../../../server/domains/operations/operation-access.ts";
import { createOperationService } from "../../../../server/domains/operations/service.ts";
import { createEvents, type Events } from "../../../../server/events/events.ts";
import { methodRuleOf } from "../../../../server/gateway/method-rules.ts";
import type { Json, Operation } from "../../../../server/operations/operation.ts";
import type { Call, Peer } from "../../../../server/rpc/call/call.ts";
import type { Caller } from "../../../../server/rpc/call/caller.ts";
import type { ServiceRegistration } from "../../../../server/rpc/call/service-handlers.ts";
import type { Store } from "../../../../server/store/store.ts";
import { readContractServices } from "../../harness/contract-services.ts";
import { type CountingKind, createCountingKind } from "../../operations/counting-kind.ts";
import { createEngine, type TestEngine } from "../../operations/engine-under-test.ts";
import { createCall } from "../../rpc/call/call-under-test.ts";
import { openOwnStore } from "../../store/own-store.ts";
import { callerOf } from "../plan/plan-under-test.ts";

type Methods = typeof OperationService.method;
type Unary = Exclude<keyof Methods, "watchOperation">;
type Request<M extends DescMethod> = MessageInitShape<M["input"]>;

/** The caller, an admin by default, and other properties of a call. */
export interface CallFacts {
  readonly caller?: Caller;
  readonly peer?: Partial<Peer>;
  readonly ending?: AbortController;
  readonly answered?: Headers;
}

export interface OperationsUnderTest {
  readonly engine: TestEngine;
  readonly counting: CountingKind;
  readonly events: Events;
  readonly registration: ServiceRegistration;
  /** Starts an operation of the kind as an RPC would. */
  begin(rpc: string, expected?: { readonly resource?: string; readonly actor?: string }): Promise<Operation>;
  /** Calls the handler directly; `noted` is called with the call afterwards. */
  call<Name extends Unary>(
    name: Name,
    request: Request<Methods[Name]>,
    facts?: CallFacts,
    noted?: (call: Call) => void,
  ): Promise<MessageShape<Methods[Name]["output"]>>;
  watch(
    request: Request<Methods["watchOperation"]>,
    facts?: CallFacts,
  ): AsyncGenerator<MessageShape<Methods["watchOperation"]["output"]>, void>;
}

/** Creates the service on a real engine with a counting kind; it is closed when the test ends. */
export async function createOperationsUnderTest(
  t: Test,
  options: {
    readonly store?: Store;
    readonly counting?: CountingKind;
    readonly isIdle?: boolean;
    readonly perSystem?: number;
  } = {},
): Promise<OperationsUnderTest> {
  const { counting = createCountingKind(), isIdle = false, perSystem = 4 } = options;
  const store = options.store ?? (await openOwnStore(t));
  const events = await createEvents({
    store,
    keepMs: 86_400_000,
    onFailed: (error) => t.fail(String(error)),
  });
  t.teardown(() => events.close());
  const engine = createEngine(t, { store, kind: counting.kind, isIdle, limits: { perSystem } });
  const { operations, starter } = engine;
  const services = await readContractServices();
  const visibilityOf = createVisibilityOf({ hub: undefined });
  const registration = createOperationService({
    operations,
    events,
    access: createOperationAccess(services, methodRuleOf, visibilityOf),
    visibilityOf,
  });

  function callOf(method: DescMethod, { caller = callerOf("admin"), ...facts }: CallFacts): Call {
    const call = createCall({ method, ...facts });
    call.identify(caller);
    return call;
  }

  return {
    engine,
    counting,
    events,
    registration,
    async begin(rpc, { resource = "things/a", actor = "user/a" } = {}) {
      const requester = { actor, accountId: actor, rpc };
      const spec = { resource, backend: "test", input: null as Json, secrets: null, requester };
      return (await starter.start(spec)).operation;
    },
    async call(name, request, facts = {}, noted = () => {}) {
      const method = OperationService.method[name];
      const call = callOf(method, facts);
      const handler = registration.handlerOf(method);
      try {
        const answer = await (handler(create(method.input, request as never), call) as Promise<object>);
        return create(method.output, answer as never) as never;
      } finally {
        noted(call);
      }
    },
    async *watch(request, facts = {}) {
      const method = OperationService.method.watchOperation;
      const handler = registration.handlerOf(method);
      const messages = handler(create(method.input, request), callOf(method, facts)) as AsyncIterable<object>;
      for await (const message of messages) {
        yield create(method.output, message);
      }
    },
  };
}
