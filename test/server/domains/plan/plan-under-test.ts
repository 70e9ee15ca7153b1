import {
  create,
  type DescMethod,
  fromJson,
  type JsonObject,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import {
  PlanRequestSchema,
  type PlanResponse,
  PlanResponseSchema,
  PlanService,
} from "../../../../gen/hostplane/v1/plan_pb.ts";
import { createInlineRunner } from "../../../../server/operations/run-inline.ts";
import type { Peer } from "../../../../server/rpc/call.ts";
import { anonymous, type Caller } from "../../../../server/rpc/caller.ts";
import type { ServiceRegistration } from "../../../../server/rpc/service-handlers.ts";
import { createServices } from "../../../../server/services.ts";
import { createSandboxSystems, type Systems } from "../../../../server/systems.ts";
import { createCall } from "../../rpc/call-under-test.ts";

/** Who a test calls as. */
export function callerOf(role: Caller["role"], services?: readonly string[]): Caller {
  const caller: Caller = {
    ...anonymous,
    actor: `user/${role}`,
    role,
    services: services && new Set(services),
    credential: "session",
    current: () => caller,
  };
  return caller;
}

export interface CallFacts {
  readonly caller?: Caller;
  readonly peer?: Partial<Peer>;
}

/** The services of a gateway, without the call path. */
export interface PlanUnderTest {
  readonly registrations: readonly ServiceRegistration[];
  plan(request: MessageInitShape<typeof PlanRequestSchema>, facts?: CallFacts): Promise<PlanResponse>;
  /** Makes the call that would be planned. */
  call(method: DescMethod, request: JsonObject): Promise<object>;
}

/** Calls as an admin unless told. */
export function createPlanUnderTest(systems: Systems = createSandboxSystems()): PlanUnderTest {
  const { registrations } = createServices({
    systems,
    runner: createInlineRunner(() => {}),
    auth: { registrations: [], planners: [] },
    store: { run: () => Promise.reject(new Error("there is no store")) },
    facts: { version: "test", isSandbox: true, startedAtMs: 0, listeners: () => [] },
  });

  async function call(method: DescMethod, input: object, facts: CallFacts = {}): Promise<object> {
    const registration = registrations.find(({ service }) => service.typeName === method.parent.typeName);
    if (registration === undefined) {
      throw new TypeError(`nobody serves ${method.parent.typeName}`);
    }
    const call = createCall({ method, ...(facts.peer === undefined ? {} : { peer: facts.peer }) });
    call.identify(facts.caller ?? callerOf("admin"));
    const output = await (registration.handlerOf(method)(input, call) as Promise<object>);
    return { ...output, noted: call.resource() };
  }

  return {
    registrations,
    async plan(request, facts) {
      const { noted, ...answer } = (await call(
        PlanService.method.plan,
        create(PlanRequestSchema, request),
        facts,
      )) as PlanResponse & { noted?: string };
      if (noted !== answer.resource) {
        throw new TypeError(`the log learns of ${noted} instead of ${answer.resource}`);
      }
      return create(PlanResponseSchema, answer);
    },
    call: (method, request) => call(method, fromJson(method.input, request)),
  };
}

/** The same services, called by this caller whoever calls. */
export function identifiedAs(
  caller: Caller,
  registrations: readonly ServiceRegistration[],
): ServiceRegistration[] {
  return registrations.map(({ service, handlerOf }) => ({
    service,
    handlerOf: (method) => (input, call) => {
      call.identify(caller);
      return handlerOf(method)(input, call);
    },
  }));
}
