import { createAbsentBackend } from "../../../server/domain/backend.ts";
import type { DomainContext } from "../../../server/domain/domain-services.ts";
import { createVisibilityOf } from "../../../server/domain/visibility.ts";
import { domains } from "../../../server/domains/domains.ts";
import { operationMessage } from "../../../server/domains/operations/operation-messages.ts";
import { methodRuleOf } from "../../../server/gateway/method-rules.ts";
import { createInlineRunner } from "../../../server/operations/engine/run-inline.ts";
import { noFleet } from "../fleet/no-fleet.ts";
import { withoutStore } from "../harness/without-store.ts";

/** What a domain is created with, for tests of one domain. Calls that need the store fail, unless one is passed. */
export function contextUnderTest(parts: Partial<DomainContext> = {}): DomainContext {
  return {
    ...withoutStore(),
    runner: createInlineRunner(() => {}),
    auth: { registrations: [], planners: [] },
    facts: { version: "test", host: "host1", isSandbox: true, startedAtMs: 0, listeners: () => [] },
    maxMessageBytes: 4 << 20,
    fleet: noFleet,
    visibilityOf: createVisibilityOf(noFleet),
    routeOf: () => undefined,
    operationMessage,
    storeBackend: createAbsentBackend("system", "none", "off", [], "there is no store"),
    services: domains.flatMap(({ services }) => services),
    ruleOf: methodRuleOf,
    resourceTypes: domains.flatMap(({ resourceTypes = [] }) => resourceTypes),
    eventTopics: [],
    served: new Map(),
    ...parts,
  };
}
