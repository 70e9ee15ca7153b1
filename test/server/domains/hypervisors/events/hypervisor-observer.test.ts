import { type Test, test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import type { LibvirtAdapter } from "../../../../../adapters/libvirt/adapter.ts";
import { libvirtReasons } from "../../../../../adapters/libvirt/reasons.ts";
import { HypervisorState } from "../../../../../gen/operations/v1/operations_pb.ts";
import type { EventRecord } from "../../../../../server/events/event-record.ts";
import type { Store } from "../../../../../server/store/store.ts";
import { rpcErrorOf } from "../../../harness/rpc-error.ts";
import { openOwnStore } from "../../../store/own-store.ts";
import {
  createHypervisorGateway,
  createLibvirt,
  follow,
  type HypervisorGateway,
} from "../hypervisors-under-test.ts";

const stopped = () => new InfraError(libvirtReasons.LIBVIRT_UNAVAILABLE, "it is stopped");
const { signal } = new AbortController();
const old = { name: "old-1", uuid: "00000000-0000-4000-8000-000000000001" };

interface ReportedEvent {
  readonly type: string;
  readonly resource: string;
  readonly operationId: string | undefined;
  readonly facts: Readonly<Record<string, unknown>>;
}

function reportedFrom({ type, resource, operationId, payload }: EventRecord): ReportedEvent {
  const { hypervisor = {} } = payload as { readonly hypervisor?: Readonly<Record<string, unknown>> };
  return { type, resource, operationId: operationId ?? undefined, facts: hypervisor };
}

/** Collects events about hypervisors until one satisfies the condition. */
async function eventsUntil(
  { events }: HypervisorGateway,
  afterSeq: number,
  isLast: (reported: ReportedEvent) => boolean,
): Promise<ReportedEvent[]> {
  const filter = { topics: ["hypervisors"], resources: [], services: undefined };
  const reported: ReportedEvent[] = [];
  for await (const record of events.follow(afterSeq, filter, AbortSignal.timeout(20_000))) {
    const one = reportedFrom(record);
    reported.push(one);
    if (isLast(one)) {
      return reported;
    }
  }
  throw new Error(`expected event is missing; got ${JSON.stringify(reported)}`);
}

/** Starts a gateway and waits until it has stored a first state. */
async function startObserved(t: Test, libvirt: LibvirtAdapter, store: Store): Promise<HypervisorGateway> {
  const gateway = await createHypervisorGateway(t, { libvirt, store, isObserver: true });
  await gateway.hypervisors.list(signal);
  for (;;) {
    const { observed } = await store.run("observed.read", { source: "sandbox-libvirt/alpha" });
    if (observed !== undefined) {
      return gateway;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const is =
  (type: string, id: string) =>
  (reported: ReportedEvent): boolean =>
    reported.type === `hypervisor.${type}` && reported.resource === `hypervisors/${id}`;

test("events distinguish changes from outside and changes by operations", async (t) => {
  const libvirt = createLibvirt(t);
  const gateway = await startObserved(t, libvirt, await openOwnStore(t));
  const from = gateway.events.headSeq;
  libvirt.runOutside({ kind: "powerOff", ...old });
  const outside = await eventsUntil(gateway, from, is("stopped", "old-1"));
  t.match(outside.at(-1), {
    operationId: undefined,
    facts: { id: "old-1", state: "off", previousState: "running", outside: true },
  });
  const client = await gateway.client();
  const { operationIds } = await follow((options) => client.createHypervisor({ id: "hv-1" }, options));
  const own = await eventsUntil(gateway, from, is("started", "hv-1"));
  t.match(own.at(-1), {
    operationId: operationIds[0],
    facts: { state: "running", previousState: "off", outside: false },
  });
});

test("the events of a VM that is created and destroyed name the right operation each", async (t) => {
  const libvirt = createLibvirt(t);
  const gateway = await startObserved(t, libvirt, await openOwnStore(t));
  const client = await gateway.client();
  for (let round = 0; round < 5; round += 1) {
    const from = gateway.events.headSeq;
    const created = await follow((options) => client.createHypervisor({ id: "hv-1" }, options));
    const destroyed = await follow((options) => client.destroyHypervisor({ id: "hv-1" }, options));
    const reported = await eventsUntil(gateway, from, is("stopped", "hv-1"));
    const operationOf = (type: string) => reported.find(is(type, "hv-1"))?.operationId;
    t.equal(operationOf("started"), created.operationIds[0]);
    t.equal(operationOf("stopped"), destroyed.operationIds[0]);
  }
});

test("an outage makes states unknown with a reason; afterwards, changes in between are published", async (t) => {
  const libvirt = createLibvirt(t);
  const store = await openOwnStore(t);
  const gateway = await startObserved(t, libvirt, store);
  const client = await gateway.client();
  const before = await client.listHypervisors({});
  const from = gateway.events.headSeq;
  libvirt.setOutage(stopped());
  const unknown = await eventsUntil(gateway, from, is("unknown", "old-2"));
  t.same(
    unknown.map(({ type, resource }) => `${type} ${resource}`).sort(),
    ["hypervisor.unknown hypervisors/old-1", "hypervisor.unknown hypervisors/old-2"],
    "hypervisors without a VM have not changed",
  );
  t.match(unknown.at(-1)?.facts, { state: "unknown", previousState: "off", reason: "it is stopped" });
  const during = await client.listHypervisors({});
  t.same(
    during.hypervisors.map(({ state, ...facts }) => facts),
    before.hypervisors.map(({ state, ...facts }) => facts),
  );
  t.ok(during.hypervisors.every(({ state }) => state === HypervisorState.UNKNOWN));
  libvirt.runOutside({ kind: "powerOff", ...old });
  libvirt.setOutage(undefined);
  const all = await eventsUntil(gateway, from, ({ type }) => type === "gap");
  const back = all.slice(unknown.length);
  t.same(back.map(({ resource }) => resource).sort(), [
    "hypervisors",
    "hypervisors/old-1",
    "hypervisors/old-2",
  ]);
  t.match(
    back.filter(({ resource }) => resource === "hypervisors/old-1"),
    [{ type: "hypervisor.stopped", facts: { previousState: "unknown", state: "off" } }],
  );
  t.match(
    back.filter(({ resource }) => resource === "hypervisors/old-2"),
    [{ type: "hypervisor.changed", facts: { changes: ["state: unknown -> off"] } }],
  );
});

test("an unreadable VM does not affect others, and no operation begins on it", async (t) => {
  const sandbox = createLibvirt(t);
  let isBroken = false;
  const libvirt: LibvirtAdapter = {
    ...sandbox,
    async read(reader) {
      const { value, ...snapshot } = await sandbox.read(reader);
      const unreadable = { state: "unknown", unreadableBecause: "its XML is broken" } as const;
      const domains = value.domains.map((each) =>
        isBroken && each.name === "old-2" ? { ...each, ...unreadable } : each,
      );
      return { ...snapshot, value: { ...value, domains } };
    },
  };
  const gateway = await startObserved(t, libvirt, await openOwnStore(t));
  const from = gateway.events.headSeq;
  isBroken = true;
  sandbox.runOutside({ kind: "powerOff", ...old });
  const reported = await eventsUntil(gateway, from, is("unknown", "old-2"));
  t.match(reported.at(-1)?.facts, { state: "unknown", previousState: "off", reason: "its XML is broken" });
  t.strictSame(
    reported.map(({ type, resource }) => `${type} ${resource}`),
    ["hypervisor.stopped hypervisors/old-1", "hypervisor.unknown hypervisors/old-2"],
  );
  const client = await gateway.client();
  const refused = await rpcErrorOf(follow((options) => client.createHypervisor({ id: "old-2" }, options)));
  t.match(refused, { reason: "DOMAIN_STATE", message: /its XML is broken/ });
});

test("a gateway started during a libvirt outage knows the last inventory of the previous one", async (t) => {
  const libvirt = createLibvirt(t);
  const store = await openOwnStore(t);
  const first = await startObserved(t, libvirt, store);
  const before = await (await first.client()).listHypervisors({});
  await first.close();
  libvirt.setOutage(stopped());
  const second = await createHypervisorGateway(t, { libvirt, store, isObserver: true });
  const after = await (await second.client()).listHypervisors({});
  t.same(
    after.hypervisors.map(({ id, cpu, ram }) => ({ id, cpu, ram })),
    before.hypervisors.map(({ id, cpu, ram }) => ({ id, cpu, ram })),
  );
  t.ok(after.hypervisors.every(({ state }) => state === HypervisorState.UNKNOWN));
  await eventsUntil(second, 0, is("unknown", "old-1"));
});

test("a gateway that has never reached libvirt lists its templates", async (t) => {
  const libvirt = createLibvirt(t);
  libvirt.setOutage(stopped());
  const gateway = await createHypervisorGateway(t, {
    libvirt,
    store: await openOwnStore(t),
    isObserver: true,
  });
  const { hypervisors } = await (await gateway.client()).listHypervisors({});
  t.match(
    hypervisors.map(({ id, state }) => [id, state]),
    [
      ["hv-1", HypervisorState.UNKNOWN],
      ["hv-2", HypervisorState.UNKNOWN],
      ["hv-3", HypervisorState.UNKNOWN],
    ],
  );
});

test("a thousand lists cause no requests to libvirt", async (t) => {
  const libvirt = createLibvirt(t);
  const revisions = new Set<number>();
  const reads = new Set<number>();
  const watched: LibvirtAdapter = {
    ...libvirt,
    async read(reader) {
      const snapshot = await libvirt.read(reader);
      revisions.add(snapshot.revision);
      reads.add(snapshot.readAtMs);
      return snapshot;
    },
    volumesOf: () => t.fail("nothing is asked") as never,
    inspect: () => t.fail("nothing is asked") as never,
  };
  const gateway = await startObserved(t, watched, await openOwnStore(t));
  const client = await gateway.client();
  const ages: string[] = [];
  const onHeader = (headers: Headers) => void ages.push(headers.get("hostplane-snapshot-age") ?? "");
  await Promise.all(Array.from({ length: 1000 }, () => client.listHypervisors({}, { onHeader })));
  t.same([revisions.size, reads.size], [1, 1], "all are based on one read");
  t.ok(ages.length === 1000 && ages.every((age) => /^\d+$/.test(age)));
});
