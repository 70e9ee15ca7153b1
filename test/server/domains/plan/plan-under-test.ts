import { randomBytes } from "node:crypto";
import {
  create,
  type DescMethod,
  fromJson,
  type JsonObject,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import type { Test } from "tap";
import {
  PlanRequestSchema,
  type PlanResponse,
  PlanResponseSchema,
  PlanService,
} from "../../../../gen/hostplane/v1/plan_pb.ts";
import { masterKeysFromText } from "../../../../server/crypto/master-keys.ts";
import { type Auth, createAuth } from "../../../../server/domains/auth/auth.ts";
import { knownServices } from "../../../../server/gateway/method-rules.ts";
import { createServices } from "../../../../server/gateway/services.ts";
import type { Systems } from "../../../../server/gateway/systems.ts";
import { openSandboxSystems } from "../../../../server/gateway/systems.ts";
import { createInlineRunner } from "../../../../server/operations/engine/run-inline.ts";
import type { Peer } from "../../../../server/rpc/call/call.ts";
import { anonymous, type Caller } from "../../../../server/rpc/call/caller.ts";
import type { ServiceRegistration } from "../../../../server/rpc/call/service-handlers.ts";
import { noFleet } from "../../fleet/no-fleet.ts";
import { withoutStore } from "../../harness/without-store.ts";
import { createCall } from "../../rpc/call/call-under-test.ts";
import { openOwnStore } from "../../store/own-store.ts";

/** Returns a caller with the role and services. */
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

/** The services of a gateway, called directly. */
export interface PlanUnderTest {
  readonly registrations: readonly ServiceRegistration[];
  plan(request: MessageInitShape<typeof PlanRequestSchema>, facts?: CallFacts): Promise<PlanResponse>;
  /** Makes the call that would be planned. */
  call(method: DescMethod, request: JsonObject): Promise<object>;
}

/** Creates the gateway's own users, on a store of the test. */
export async function createAuthUnderTest(t: Test): Promise<Auth> {
  const auth = await createAuth({
    store: await openOwnStore(t),
    masterKeys: masterKeysFromText(randomBytes(32).toString("base64"), "test"),
    config: { tokenHours: 1, audience: "test", checkSeconds: 25, providers: [] },
    serviceNames: knownServices,
    methods: [],
    accessOf: () => undefined,
    host: "host-1",
    onFailed: (message) => t.fail(message),
  });
  t.teardown(() => auth.close());
  return auth;
}

/** Creates the services; calls are by an admin by default. */
export async function createPlanUnderTest(
  systems?: Systems,
  auth: Pick<Auth, "registrations" | "planners"> = { registrations: [], planners: [] },
): Promise<PlanUnderTest> {
  const { registrations } = await createServices({
    systems: systems ?? (await openSandboxSystems()),
    runner: createInlineRunner(() => {}),
    auth,
    ...withoutStore(),
    facts: { version: "test", host: "host1", isSandbox: true, startedAtMs: 0, listeners: () => [] },
    maxMessageBytes: 4 << 20,
    fleet: noFleet,
    routeOf: () => undefined,
  });

  async function call(method: DescMethod, input: object, facts: CallFacts = {}): Promise<object> {
    const registration = registrations.find(({ service }) => service.typeName === method.parent.typeName);
    if (registration === undefined) {
      throw new TypeError(`no service has ${method.parent.typeName}`);
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

/** Returns the same services with this caller for every call. */
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
