import { test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { podmanReasons } from "../../../adapters/podman/reasons.ts";
import { createPodmanSandbox, type PodmanSandboxOptions } from "../../../adapters/podman/sandbox.ts";
import { createStepFaults } from "../../../adapters/sandbox/step-faults.ts";
import { reasonOf } from "../host/reason-of.ts";
import { linesOf, listen, testPodRuntimeContract, untilPod } from "./contract.ts";

const image = "localhost/contract/app:1";

function makeSubject(options: PodmanSandboxOptions = {}) {
  const runtime = createPodmanSandbox({ pods: [], images: [image], stopMs: 20, pullMs: 20, ...options });
  const idOf = async (name: string) =>
    (await runtime.pods.state()).pods.find((pod) => pod.name === name)?.id ?? "";
  const containerIdOf = (name: string) => {
    const all = runtime.pods.state().pods.flatMap(({ containers }) => containers);
    return all.find((each) => each.name === name)?.id ?? "";
  };
  return {
    runtime,
    createPod: async (name: string, containers: Parameters<typeof asList>[0], of = image) =>
      runtime.pods.createPod({ name, containers: asList(containers, of) }),
    startContainer: async (name: string) => runtime.pods.startContainer(containerIdOf(name)),
    pauseContainer: async (name: string) => runtime.pods.pauseContainer(containerIdOf(name)),
    runOutsidePods: async (name: string, of: string) => runtime.pods.addContainer(name, of),
    removePod: async (name: string) => runtime.pods.removePod(await idOf(name), true),
    addImage: async (name: string) => runtime.pods.addImage(name),
    stopService: async () =>
      runtime.setOutage(new InfraError(podmanReasons.PODMAN_UNAVAILABLE, "it is switched off")),
    startService: async () => runtime.setOutage(undefined),
    forgetHistory: async () => runtime.forgetHistory(),
  };
}

function asList(containers: Readonly<Record<string, import("./contract.ts").ContractProgram>>, of: string) {
  return Object.entries(containers).map(([name, program]) => ({ name, image: of, program }));
}

testPodRuntimeContract("sandbox", async () => makeSubject());

test("a sandbox has pods that run, exit and restart by themselves", async (t) => {
  const runtime = createPodmanSandbox({ restartMs: 100 });
  t.teardown(() => runtime.close());
  const { value } = await runtime.read();
  t.strictSame(value.pods.map(({ name, phase }) => [name, phase]).sort(), [
    ["sandbox-job", "running"],
    ["sandbox-new", "created"],
    ["sandbox-web", "running"],
  ]);
  const listener = listen(t, runtime);
  const job = value.pods.find(({ name }) => name === "sandbox-job");
  const worker = job?.containers.find(({ isInfra }) => !isInfra);
  runtime.pods.endContainer(worker?.id ?? "", 3);
  await untilPod(runtime, job?.id ?? "", ({ phase }) => phase === "running");
  await listener.until((events) => events.some(({ kind }) => kind === "containerStarted"));
  t.strictSame(
    listener.events().map(({ kind }) => kind),
    ["containerExited", "containerStarted"],
  );
});

test("every sandbox is the same", async (t) => {
  const [one, other] = [createPodmanSandbox(), createPodmanSandbox()];
  t.teardown(() => Promise.all([one.close(), other.close()]));
  const ids = async (runtime: typeof one) =>
    (await runtime.read()).value.pods.map(({ id, name }) => [id, name]);
  t.strictSame(await ids(one), await ids(other));
});

test("steps fail on request, and a log is limited to its window", async (t) => {
  const { runtime } = makeSubject({
    faults: createStepFaults(({ kind }) =>
      kind === "startPod" ? new InfraError(podmanReasons.PODMAN_FAILED, "as was asked for") : undefined,
    ),
  });
  t.teardown(() => runtime.close());
  const program = { kind: "tick", everyMs: 10 } as const;
  const id = runtime.pods.createPod({ name: "p", containers: [{ name: "c", image, program }] });
  t.equal(await reasonOf(runtime.run({ kind: "startPod", podId: id })), "PODMAN_FAILED");
  runtime.pods.startPod(id);
  const { containers, startedAtNs = 0n } = await runtime.inspectPod(id);
  const container = containers.find(({ isInfra }) => !isInfra);
  const firstNs = container?.startedAtNs ?? startedAtNs;
  const window = { sinceNs: firstNs + 10_000_000n, untilNs: firstNs + 30_000_000n };
  t.strictSame(await linesOf(runtime, container?.id ?? "", { ...window, follow: true }), [
    "tick 1",
    "tick 2",
  ]);
});
