import type { Test } from "tap";
import type { ProcedureName } from "../../../adapters/libvirt/rpc/procedures.ts";
import { OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";
import {
  clientsOf,
  endOf,
  followStream,
  type HypervisorsLab,
  type LabClients,
  labTemplate,
  makeHypervisorsLab,
} from "./hypervisors-lab.ts";
import type { HeldCall } from "./libvirt-gate.ts";

/**
 * Number of turns: three turns kill each step before, during and after its call, and more repeat that. With more than one, the
 * gateway also dies at every boundary.
 */
export const turns = Number(process.env.HYPERVISOR_TURNS ?? 1);

/** What is running when something is killed. `undo`: a creation that fails because its VM does not become ready. */
export type Story = "create" | "destroy" | "undo";

/** A call in the middle of a step. */
export interface Place {
  readonly story: Story;
  readonly step: string;
  readonly procedure: ProcedureName;
  /** End of the resource's name, where a step makes several calls. */
  readonly suffix?: string;
}

const disk = ".qcow2";
const seed = "-seed.iso";

/** Every call that changes something, in the order of each story. */
export const places: readonly Place[] = [
  { story: "create", step: "volume", procedure: "storageVolCreateXml", suffix: disk },
  { story: "create", step: "seed", procedure: "storageVolCreateXml", suffix: seed },
  { story: "create", step: "seed", procedure: "storageVolUpload", suffix: seed },
  { story: "create", step: "define", procedure: "domainDefineXmlFlags" },
  { story: "create", step: "start", procedure: "domainCreateWithFlags" },
  { story: "destroy", step: "grace", procedure: "domainShutdownFlags" },
  { story: "destroy", step: "powerOff", procedure: "domainDestroyFlags" },
  { story: "destroy", step: "undefine", procedure: "domainUndefineFlags" },
  { story: "destroy", step: "deleteVolumes", procedure: "storageVolDelete", suffix: disk },
  { story: "destroy", step: "deleteVolumes", procedure: "storageVolDelete", suffix: seed },
  { story: "undo", step: "ready", procedure: "qemuDomainAgentCommand" },
  { story: "undo", step: "start", procedure: "domainDestroyFlags" },
  { story: "undo", step: "define", procedure: "domainUndefineFlags" },
  { story: "undo", step: "seed", procedure: "storageVolDelete", suffix: seed },
  { story: "undo", step: "volume", procedure: "storageVolDelete", suffix: disk },
];

/** A hypervisor that is in the middle of a step when the kill happens. */
export interface Case {
  readonly id: string;
  readonly place: Place;
  readonly at: HeldCall["at"];
}

const moments = ["before", "during", "after"] as const;

/**
 * Returns each place at one moment, in rounds as large as libvirt's call limit allows. @param turn three consecutive turns cover
 * all moments of each place
 */
export function roundsOf(turn: number): readonly (readonly Case[])[] {
  const cases = places.map((place, index): Case => {
    const number = String(index + 1).padStart(2, "0");
    const at = moments[(index + turn) % moments.length] ?? "before";
    return { id: place.story === "undo" ? `no-${number}` : `bm-${number}`, place, at };
  });
  return [cases.filter((_, index) => index % 2 === 0), cases.filter((_, index) => index % 2 === 1)];
}

/** Creates a lab of hypervisors. Those called `no-…` never become ready. */
export function makeKillLab(t: Test): Promise<HypervisorsLab> {
  return makeHypervisorsLab(t, {
    templates: [
      labTemplate("bm-{01..99}"),
      labTemplate("no-{01..99}", { ready: "agent", readyTimeoutSeconds: 1 }),
    ],
    destroy: { graceSeconds: 1, deleteVolumes: true },
  });
}

/** Kills the victim while each case is in the middle of its step, and restarts it. Returns when all operations have ended. */
export async function killAmid(
  t: Test,
  lab: HypervisorsLab,
  victim: "gateway" | "libvirtd",
  cases: readonly Case[],
): Promise<void> {
  let gateway = await lab.start();
  const running = cases.filter(({ place }) => place.story === "destroy");
  await Promise.all(running.map(({ id }) => followStream(clientsOf(gateway), "create", id)));
  const holds = cases.map((each) => ({ each, hold: lab.gate.hold(heldCallOf(each)) }));
  const started = cases.map(({ id, place }) =>
    followStream(clientsOf(gateway), place.story === "destroy" ? "destroy" : "create", id).catch(() => {}),
  );
  await Promise.all(
    holds.map(async ({ each, hold }) => {
      const isHeld = await within(30_000, hold.isHeld);
      t.ok(isHeld, `${nameOf(each)} is reached`);
    }),
  );
  if (victim === "gateway") {
    await gateway.kill("SIGKILL");
    lab.gate.releaseAll();
    gateway = await lab.start();
  } else {
    await lab.daemon.kill();
    lab.gate.releaseAll();
    await lab.daemon.start();
  }
  await Promise.all(started);
  const clients = clientsOf(gateway);
  const ends = await Promise.all(cases.map(({ id }) => endOfNewest(clients, id)));
  for (const [index, each] of cases.entries()) {
    const { state, error, attention } = ends[index] ?? {};
    const words = `${nameOf(each)}, ${victim} killed: ${stateName(state)} ${error?.message ?? ""} ${attention?.left ?? ""}`;
    const expected = each.place.story === "undo" ? ["FAILED"] : ["COMPLETED"];
    t.ok(expected.includes(stateName(state)), words);
  }
  const there = cases.filter(
    ({ place }, index) =>
      (place.story === "create" && stateName(ends[index]?.state) === "COMPLETED") ||
      (place.story === "destroy" && stateName(ends[index]?.state) === "FAILED"),
  );
  await assertAgreement(
    t,
    lab,
    clients,
    there.map(({ id }) => id),
  );
  await Promise.all(there.map(({ id }) => followStream(clients, "destroy", id)));
  await assertAgreement(t, lab, clients, []);
  await gateway.kill("SIGTERM");
}

/** Asserts that libvirt, its pool, the running machines and the list have exactly these hypervisors. */
export async function assertAgreement(
  t: Test,
  lab: HypervisorsLab,
  clients: LabClients,
  ids: readonly string[],
): Promise<void> {
  const expected = ids.toSorted();
  const volumes = expected.flatMap((id) => [`hypervisor-${id}${seed}`, `hypervisor-${id}${disk}`]).toSorted();
  t.same(await lab.volumes(), volumes, "volumes in libvirt");
  t.same(await lab.files(), volumes, "files in the pool");
  t.same(await lab.domains("all"), expected, "VMs");
  t.same(await lab.domains("running"), expected, "running VMs");
  t.same(await lab.machines(), expected, "running QEMU processes");
  const { hypervisors } = await clients.hypervisors.listHypervisors({});
  const running = hypervisors.filter(({ state }) => state === 3).map(({ id }) => id);
  t.same(running, expected, "listed hypervisors");
}

function heldCallOf({ id, place, at }: Case): HeldCall {
  return {
    procedure: place.procedure,
    about: place.suffix === undefined ? id : `hypervisor-${id}${place.suffix}`,
    at,
  };
}

function nameOf({ id, place, at }: Case): string {
  return `${id}: ${place.story}, ${at} ${place.procedure} of ${place.step}`;
}

/** Returns the end of the hypervisor's newest operation. */
export async function endOfNewest(clients: LabClients, id: string) {
  const { operations } = await clients.operations.listOperations({ resource: `hypervisors/${id}` });
  return endOf(clients, operations[0]?.id ?? "");
}

export function stateName(state: OperationState | undefined): string {
  return Object.entries(OperationState).find(([, number]) => number === state)?.[0] ?? "";
}

async function within(timeoutMs: number, work: Promise<void>): Promise<boolean> {
  const limit = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => limit.resolve(false), timeoutMs);
  const isDone = await Promise.race([work.then(() => true), limit.promise]);
  clearTimeout(timer);
  return isDone;
}
