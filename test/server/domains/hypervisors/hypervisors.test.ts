import { create } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { LibvirtAdapter, LibvirtStep } from "../../../../adapters/libvirt/adapter.ts";
import { libvirtReasons } from "../../../../adapters/libvirt/reasons.ts";
import { createStepFaults } from "../../../../adapters/sandbox/step-faults.ts";
import {
  DestroyHypervisorRequestSchema,
  HypervisorState,
  OperationsService,
} from "../../../../gen/operations/v1/operations_pb.ts";
import { createOperationsService } from "../../../../server/domains/hypervisors/service.ts";
import { reasonNamed } from "../../../reason-named.ts";
import { streamProtocols } from "../../harness/protocols.ts";
import { rpcErrorOf } from "../../harness/rpc-error.ts";
import { createCall } from "../../rpc/call/call-under-test.ts";
import { openOwnStore } from "../../store/own-store.ts";
import {
  createHypervisorGateway,
  createLibvirt,
  follow,
  gib,
  leftAfterCreation,
  leftOf,
  settings,
  template,
  untouched,
} from "./hypervisors-under-test.ts";

test("a hypervisor is created and destroyed, and its disk is reused", async (t) => {
  const libvirt = createLibvirt(t);
  const store = await openOwnStore(t);
  const gateway = await createHypervisorGateway(t, { libvirt, store });
  for (const { name, createTransport } of streamProtocols) {
    const client = createClient(OperationsService, createTransport(await gateway.url()));
    const created = await follow((options) => client.createHypervisor({ id: "hv-1" }, options));
    t.match(created.reported[0], /^SCHEDULED /, name);
    t.ok(created.reported.includes("ACTIVE starting the VM"), created.reported.join("\n"));
    t.match(created.last, /^COMPLETED hv-1 was created/, name);
    t.same(await leftOf(libvirt), leftAfterCreation, name);
    const [domain] = (await libvirt.read()).value.domains;
    t.match(domain?.mark, { hypervisorId: "hv-1", operationId: created.operationIds[0] });
    const { hypervisors } = await client.listHypervisors({});
    t.match(hypervisors[0], {
      id: "hv-1",
      cpu: 4,
      ram: 2048,
      state: HypervisorState.AVAILABLE_TO_DESTROY,
    });
    const destroyed = await follow((options) => client.destroyHypervisor({ id: "hv-1" }, options));
    t.equal(destroyed.last, "COMPLETED hv-1 was destroyed");
    t.same(
      await leftOf(libvirt),
      { ...untouched, volumes: leftAfterCreation.volumes },
      "its volumes are kept",
    );
  }
  const client = await gateway.client();
  const again = await follow((options) => client.createHypervisor({ id: "hv-1" }, options));
  t.equal(again.last, "COMPLETED hv-1 was created with the disk that was kept");
});

test("with deleteVolumes, only volumes of hypervisors created by hostplane are deleted", async (t) => {
  const libvirt = createLibvirt(t);
  const store = await openOwnStore(t);
  const destroy = { graceSeconds: 5, deleteVolumes: true };
  const gateway = await createHypervisorGateway(t, { libvirt, store, settings: { ...settings, destroy } });
  const client = await gateway.client();
  await follow((options) => client.createHypervisor({ id: "hv-1" }, options));
  await follow((options) => client.destroyHypervisor({ id: "hv-1" }, options));
  t.same(await leftOf(libvirt), untouched);
  await follow((options) => client.destroyHypervisor({ id: "old-1" }, options));
  t.same(await leftOf(libvirt), { ...untouched, running: [], off: ["old-1", "old-2", "other"] });
});

test("an existing disk is used, and never deleted", async (t) => {
  const libvirt = createLibvirt(t);
  const name = "hypervisor-hv-1.qcow2";
  libvirt.runOutside({ kind: "createVolume", pool: "images", name, format: "qcow2", sizeBytes: gib });
  const destroy = { graceSeconds: 0, deleteVolumes: true };
  const own = { ...settings, destroy };
  const gateway = await createHypervisorGateway(t, { libvirt, store: await openOwnStore(t), settings: own });
  const client = await gateway.client();
  await follow((options) => client.createHypervisor({ id: "hv-1" }, options));
  t.same(await leftOf(libvirt), leftAfterCreation);
  const request = create(DestroyHypervisorRequestSchema, { id: "hv-1" });
  const requester = createCall({ method: OperationsService.method.destroyHypervisor });
  t.match((await gateway.changes.destroyHypervisor.plan(request, requester)).plan.losses, [
    /workloads/,
    "the volume images/hypervisor-hv-1-seed.iso",
  ]);
  await follow((options) => client.destroyHypervisor({ id: "hv-1" }, options));
  t.same(await leftOf(libvirt), { ...untouched, volumes: ["base.qcow2", name] });
});

test("a foreign hypervisor is only started and powered off", async (t) => {
  const libvirt = createLibvirt(t);
  const client = await (await createHypervisorGateway(t, { libvirt, store: await openOwnStore(t) })).client();
  const { last } = await follow((options) => client.createHypervisor({ id: "old-2" }, options));
  t.equal(last, "COMPLETED old-2 was created");
  t.same(await leftOf(libvirt), { ...untouched, running: ["old-1", "old-2"], off: ["other"] });
  const destroyed = await follow((options) => client.destroyHypervisor({ id: "old-2" }, options));
  t.equal(destroyed.last, "COMPLETED old-2 is off; it was not created by hostplane and is kept");
  t.same(await leftOf(libvirt), untouched);
});

/** Returns the name and UUID of a hypervisor's VM. */
async function domainOf(libvirt: LibvirtAdapter, id: string) {
  const { value } = await libvirt.read();
  const { name = "", uuid = "" } = value.domains.find((one) => one.name === id) ?? {};
  return { name, uuid };
}

test("a created hypervisor that is off can be destroyed; others that are off are rejected", async (t) => {
  const libvirt = createLibvirt(t);
  const destroy = { graceSeconds: 5, deleteVolumes: true };
  const own = { ...settings, destroy };
  const gateway = await createHypervisorGateway(t, { libvirt, store: await openOwnStore(t), settings: own });
  const client = await gateway.client();
  await follow((options) => client.createHypervisor({ id: "hv-1" }, options));
  libvirt.runOutside({ kind: "powerOff", ...(await domainOf(libvirt, "hv-1")) });
  const { last } = await follow((options) => client.destroyHypervisor({ id: "hv-1" }, options));
  t.equal(last, "COMPLETED hv-1 was destroyed");
  t.same(await leftOf(libvirt), untouched);
  const again = rpcErrorOf(follow((options) => client.destroyHypervisor({ id: "hv-1" }, options)));
  t.match(await again, { reason: "HYPERVISOR_OFF", message: /is not created/ });
  const foreign = rpcErrorOf(follow((options) => client.destroyHypervisor({ id: "old-2" }, options)));
  t.match(await foreign, {
    reason: "HYPERVISOR_OFF",
    message: /only VMs that hostplane created are removed/,
  });
});

test("until an operation ends, the listed state shows which call is accepted", async (t) => {
  let isHeld = true;
  const sandbox = createLibvirt(t);
  const gate = Promise.withResolvers<void>();
  const libvirt: LibvirtAdapter = {
    ...sandbox,
    isReady: async () => !isHeld,
    run: async (step, signal) => {
      await (step.kind === "undefine" ? gate.promise : undefined);
      return sandbox.run(step, signal);
    },
  };
  const gateway = await createHypervisorGateway(t, { libvirt, store: await openOwnStore(t) });
  const client = await gateway.client();
  const stateOf = async (id: string) =>
    (await client.listHypervisors({})).hypervisors.find((one) => one.id === id)?.state;
  t.equal(await stateOf("hv-1"), HypervisorState.AVAILABLE_TO_CREATE);
  const waiting = Promise.withResolvers<void>();
  const creation = follow(
    (options) => client.createHypervisor({ id: "hv-1" }, options),
    (text) => /waiting/.test(text) && waiting.resolve(),
  );
  await waiting.promise;
  t.match(await leftOf(sandbox), { running: ["hv-1", "old-1"] }, "it is running, but not ready yet");
  t.equal(await stateOf("hv-1"), HypervisorState.AVAILABLE_TO_CREATE);
  isHeld = false;
  await creation;
  t.equal(await stateOf("hv-1"), HypervisorState.AVAILABLE_TO_DESTROY);
  const removing = Promise.withResolvers<void>();
  const destruction = follow(
    (options) => client.destroyHypervisor({ id: "hv-1" }, options),
    (text) => /removing the VM/.test(text) && removing.resolve(),
  );
  await removing.promise;
  t.equal(await stateOf("hv-1"), HypervisorState.AVAILABLE_TO_DESTROY);
  gate.resolve();
  await destruction;
  t.equal(await stateOf("hv-1"), HypervisorState.AVAILABLE_TO_CREATE);
});

test("a hypervisor that is started during its destruction is powered off again", async (t) => {
  const sandbox = createLibvirt(t);
  let isStarted = false;
  const libvirt: LibvirtAdapter = {
    ...sandbox,
    run: async (step, signal) => {
      await sandbox.run(step, signal);
      if (step.kind === "powerOff" && !isStarted) {
        isStarted = true;
        sandbox.runOutside({ ...step, kind: "start" });
      }
    },
  };
  const client = await (await createHypervisorGateway(t, { libvirt, store: await openOwnStore(t) })).client();
  await follow((options) => client.createHypervisor({ id: "hv-1" }, options));
  const { last } = await follow((options) => client.destroyHypervisor({ id: "hv-1" }, options));
  t.equal(last, "COMPLETED hv-1 was destroyed");
});

test("a destruction that needs attention does not contradict its error", async (t) => {
  const sandbox = createLibvirt(t);
  const libvirt: LibvirtAdapter = {
    ...sandbox,
    run: async (step, signal) => {
      if (step.kind === "undefine") {
        throw new InfraError(libvirtReasons.DOMAIN_STATE, `domain ${step.name} is running`);
      }
      await sandbox.run(step, signal);
    },
  };
  const gateway = await createHypervisorGateway(t, { libvirt, store: await openOwnStore(t) });
  const client = await gateway.client();
  await follow((options) => client.createHypervisor({ id: "hv-1" }, options));
  const { operationIds } = await follow((options) => client.destroyHypervisor({ id: "hv-1" }, options));
  const { state, attention } = await gateway.operations.get(operationIds[0] ?? "");
  t.equal(state, "needsAttention");
  t.strictSame(attention?.left, ["The VM hv-1 is still defined: domain hv-1 is running."]);
});

test("impossible requests are rejected before any message", async (t) => {
  const libvirt = createLibvirt(t);
  const own = { ...settings, templates: [...settings.templates, { id: "other", ...template }] };
  const gateway = await createHypervisorGateway(t, { libvirt, store: await openOwnStore(t), settings: own });
  const client = await gateway.client();
  const create = (id: string) => rpcErrorOf(follow((options) => client.createHypervisor({ id }, options)));
  const createAll = (ids: string[]) =>
    rpcErrorOf(follow((options) => client.createHypervisors({ ids }, options)));
  const destroy = (id: string) => rpcErrorOf(follow((options) => client.destroyHypervisor({ id }, options)));
  t.match(await create("none"), { code: "NOT_FOUND", reason: "HYPERVISOR_NOT_FOUND" });
  t.match(await create("old-1"), { code: "FAILED_PRECONDITION", reason: "HYPERVISOR_RUNNING" });
  t.match(await create("other"), { code: "ALREADY_EXISTS", reason: "DOMAIN_EXISTS" });
  t.match(await create("a b"), { code: "INVALID_ARGUMENT", reason: "INVALID_FIELD" });
  t.match(await destroy("none"), { code: "NOT_FOUND", reason: "HYPERVISOR_NOT_FOUND" });
  t.match(await destroy("hv-1"), { code: "FAILED_PRECONDITION", reason: "HYPERVISOR_OFF" });
  t.match(await destroy("old-2"), { code: "FAILED_PRECONDITION", reason: "HYPERVISOR_OFF" });
  for (const ids of [[], ["hv-1", "hv-1"], Array.from({ length: 101 }, (_, index) => `x-${index}`)]) {
    t.match(await createAll(ids), { code: "INVALID_ARGUMENT", reason: "INVALID_FIELD" });
  }
  t.match(await createAll(["hv-1", "old-1"]), { reason: "HYPERVISOR_RUNNING" });
  libvirt.setOutage(new InfraError(libvirtReasons.LIBVIRT_UNAVAILABLE, "it is stopped"));
  t.match(await create("hv-1"), { code: "UNAVAILABLE", reason: "LIBVIRT_UNAVAILABLE" });
  libvirt.setOutage(undefined);
  t.same(await leftOf(libvirt), untouched);
  const { operations } = await gateway.operations.list({}, { belowSeq: undefined, limit: 9 });
  t.same(operations, [], "none is begun if one is rejected");
});

test("callers with the same id share an operation, which continues if one of them leaves", async (t) => {
  let isHeld = true;
  const libvirt = createLibvirt(t);
  const slow: LibvirtAdapter = { ...libvirt, isReady: async () => !isHeld };
  const gateway = await createHypervisorGateway(t, { libvirt: slow, store: await openOwnStore(t) });
  const client = await gateway.client();
  const leaving = new AbortController();
  const waiting = /waiting/;
  const left = follow(
    (options) => client.createHypervisor({ id: "hv-1" }, options),
    (text) => waiting.test(text) && leaving.abort(),
    leaving.signal,
  );
  t.equal((await rpcErrorOf(left)).code, "CANCELLED");
  const refused = follow((options) => client.destroyHypervisor({ id: "hv-1" }, options));
  t.match(await rpcErrorOf(refused), { code: "FAILED_PRECONDITION", reason: "OPERATION_IN_PROGRESS" });
  const both = ["one", "other"].map(() => {
    const reached = Promise.withResolvers<void>();
    const end = follow(
      (options) => client.createHypervisor({ id: "hv-1" }, options),
      (text) => waiting.test(text) && reached.resolve(),
    );
    return { reached: reached.promise, end };
  });
  await Promise.all(both.map(({ reached }) => reached));
  isHeld = false;
  const [first, second] = await Promise.all(both.map(({ end }) => end));
  t.same(first?.operationIds, second?.operationIds);
  t.match(first?.last, /^COMPLETED/);
  const { operations } = await gateway.operations.list({}, { belowSeq: undefined, limit: 9 });
  t.equal(operations.length, 1);
});

test("concurrent requests for the same id share one operation", async (t) => {
  const libvirt = createLibvirt(t);
  const store = await openOwnStore(t);
  const gateways = await Promise.all(
    [true, false].map((isIdle) => createHypervisorGateway(t, { libvirt, store, isIdle })),
  );
  const clients = await Promise.all(gateways.map((gateway) => gateway.client()));
  const all = await Promise.all(
    [...clients, ...clients].map((client) =>
      follow((options) => client.createHypervisor({ id: "hv-1" }, options)),
    ),
  );
  t.equal(new Set(all.map(({ operationIds }) => operationIds[0])).size, 1);
  t.ok(all.every(({ last }) => /^COMPLETED/.test(last)));
});

/** Steps in which creation can fail, with the reported reason. */
const faults: readonly (readonly [LibvirtStep["kind"], string])[] = [
  ["createVolume", "NO_SPACE"],
  ["writeSeed", "TOOL_FAILED"],
  ["define", "NETWORK_NOT_FOUND"],
  ["start", "LIBVIRT_FAILED"],
];

test("every failure is reported in the stream, and nothing is left behind", async (t) => {
  for (const [kind, reason] of faults) {
    const failure = new InfraError(reasonNamed(reason), `no ${kind} today`);
    const libvirt = createLibvirt(t, {
      faults: createStepFaults((step) => (step.kind === kind ? failure : undefined)),
    });
    const gateway = await createHypervisorGateway(t, { libvirt, store: await openOwnStore(t) });
    const client = await gateway.client();
    const { last, operationIds } = await follow((options) =>
      client.createHypervisor({ id: "hv-1" }, options),
    );
    t.equal(last, `FAILED no ${kind} today`);
    t.match(await gateway.end(operationIds[0] ?? ""), { state: "failed", failure: { reason } });
    t.same(await leftOf(libvirt), untouched, kind);
  }
});

test("a guest that is not ready in time is reported, and nothing is left behind", async (t) => {
  const libvirt = createLibvirt(t, { bootMs: 60_000 });
  const templates = [{ id: "hv-1", ...template, readyTimeoutSeconds: 1 }];
  const gateway = await createHypervisorGateway(t, {
    libvirt,
    store: await openOwnStore(t),
    settings: { ...settings, templates },
  });
  const client = await gateway.client();
  const { reported, last } = await follow((options) => client.createHypervisor({ id: "hv-1" }, options));
  t.ok(
    reported.some((text) => /^ACTIVE waiting for its guest agent, \d s of 1 s$/.test(text)),
    reported.join("\n"),
  );
  t.match(last, /^FAILED hv-1 is not ready: its guest agent did not answer within 1 s/);
  t.same(await leftOf(libvirt), untouched);
});

test("undo keeps what existed before", async (t) => {
  const failure = new InfraError(libvirtReasons.LIBVIRT_FAILED, "no");
  let isFailing = false;
  const libvirt = createLibvirt(t, {
    faults: createStepFaults(({ kind }) => (isFailing && kind === "start" ? failure : undefined)),
  });
  const gateway = await createHypervisorGateway(t, { libvirt, store: await openOwnStore(t) });
  const client = await gateway.client();
  await follow((options) => client.createHypervisor({ id: "hv-1" }, options));
  await follow((options) => client.destroyHypervisor({ id: "hv-1" }, options));
  isFailing = true;
  await follow((options) => client.createHypervisor({ id: "hv-1" }, options));
  t.same(await leftOf(libvirt), { ...untouched, volumes: leftAfterCreation.volumes });
  await follow((options) => client.createHypervisor({ id: "old-2" }, options));
  t.same((await leftOf(libvirt)).off, untouched.off, "a foreign VM is kept");
});

test("several operations are reported in one stream", async (t) => {
  const failure = new InfraError(libvirtReasons.LIBVIRT_FAILED, "it is broken");
  const libvirt = createLibvirt(t, {
    faults: createStepFaults((step) => (step.kind === "start" && step.name === "hv-2" ? failure : undefined)),
  });
  const gateway = await createHypervisorGateway(t, { libvirt, store: await openOwnStore(t) });
  const client = await gateway.client();
  const ids = ["hv-1", "hv-2", "hv-3"];
  const { reported, last, operationIds } = await follow((options) =>
    client.createHypervisors({ ids }, options),
  );
  t.equal(operationIds.length, 3);
  t.equal(last, "FAILED 1 of 3 failed: hv-2: it is broken");
  t.ok(
    reported.slice(0, -1).every((text) => /^ACTIVE hv-[123]: ./.test(text)),
    reported.join("\n"),
  );
  t.ok(reported.includes("ACTIVE hv-1: hv-1 was created"));
  const destroyed = await follow((options) => client.destroyHypervisors({ ids: ["hv-3", "hv-1"] }, options));
  t.equal(destroyed.last, "COMPLETED all 2 are done");
});

test("an operation waits while libvirt restarts", async (t) => {
  const libvirt = createLibvirt(t);
  const gateway = await createHypervisorGateway(t, { libvirt, store: await openOwnStore(t) });
  const client = await gateway.client();
  const { last } = await follow(
    (options) => client.createHypervisor({ id: "hv-1" }, options),
    (text) => {
      if (text === "ACTIVE inspecting") {
        libvirt.setOutage(new InfraError(libvirtReasons.LIBVIRT_UNAVAILABLE, "it is stopped"));
        setTimeout(() => libvirt.setOutage(undefined), 200);
      }
    },
  );
  t.equal(last, "COMPLETED hv-1 was created");
  t.same(await leftOf(libvirt), leftAfterCreation);
});

test("callers share one list per state, even during a libvirt outage", async (t) => {
  const libvirt = createLibvirt(t);
  const gateway = await createHypervisorGateway(t, { libvirt, store: await openOwnStore(t) });
  const { handlerOf } = createOperationsService(gateway.hypervisors, gateway.changes);
  const { listHypervisors } = OperationsService.method;
  const list = () =>
    handlerOf(listHypervisors)({}, createCall({ method: listHypervisors })) as Promise<object>;
  const before = await list();
  t.equal(await list(), before);
  const client = await gateway.client();
  await follow((options) => client.createHypervisor({ id: "hv-1" }, options));
  const after = await list();
  t.not(after, before);
  t.match(after, { hypervisors: [{ id: "hv-1", state: HypervisorState.AVAILABLE_TO_DESTROY }] });
  libvirt.setOutage(new InfraError(libvirtReasons.LIBVIRT_UNAVAILABLE, "connection refused"));
  const away = await list();
  t.match(away, { hypervisors: [{ id: "hv-1", state: HypervisorState.UNKNOWN }] });
  t.equal(await list(), away);
});
