import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import tap, { test } from "tap";
import { OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";
import { podmanSkipReason } from "./podman.ts";
import {
  createGateways,
  deaf,
  emptyLab,
  makePod,
  polite,
  remoteImage,
  stateOf,
  until,
  untilLayerRequested,
} from "./pods-changes-lab.ts";

const skip = podmanSkipReason();
tap.setTimeout(600_000);

test("a gateway killed during a change completes it after its restart", {
  skip,
}, async (t) => {
  const lab = await emptyLab();
  const start = await createGateways(t, lab);
  await makePod(lab, "slow", deaf);
  await makePod(lab, "gone", deaf);
  await lab.podman("pod", "start", "slow", "gone");
  await writeFile(join(lab.registry, "hold"), "");
  await writeFile(join(lab.registry, "requests"), "");
  const first = await start();
  const pull = await first.pods.pullImage({ reference: remoteImage });
  await untilLayerRequested(lab);
  const stop = await first.pods.stopPod({ pod: "slow", graceSeconds: 8 });
  const removal = await first.pods.removePod({ pod: "gone", force: true });
  const requested = async (id: string) => (await first.operations.getOperation({ id })).operation?.step;
  await until(async () => (await requested(stop.operation?.id ?? "")) === "stop");
  await until(async () => (await requested(removal.operation?.id ?? "")) === "remove");
  await first.kill("SIGKILL");
  t.match(await stateOf(lab, "slow-0"), /^(running|stopping) /, "the stop continues");
  await rm(join(lab.registry, "hold"));
  const second = await start();
  const ended = { state: OperationState.COMPLETED, steps: [{}, { attempt: 2 }] };
  t.match(await second.end(stop), ended);
  t.equal(await stateOf(lab, "slow-0"), "exited 137");
  t.match(await second.end(removal), ended);
  t.equal(await stateOf(lab, "gone-0"), "gone");
  t.match(await second.end(pull), { state: OperationState.COMPLETED, steps: [{ attempt: 2 }] });
  await lab.podman("image", "inspect", remoteImage);
  await second.kill("SIGTERM");
});

test("a change survives a restart of Podman's service", { skip }, async (t) => {
  const lab = await emptyLab();
  const gateway = await (await createGateways(t, lab))();
  await makePod(lab, "slow", deaf);
  await lab.podman("pod", "start", "slow");
  await writeFile(join(lab.registry, "hold"), "");
  await writeFile(join(lab.registry, "requests"), "");
  const pull = await gateway.pods.pullImage({ reference: remoteImage });
  await untilLayerRequested(lab);
  const stop = await gateway.pods.stopPod({ pod: "slow", graceSeconds: 3 });
  await lab.kill();
  await rm(join(lab.registry, "hold"));
  await lab.start();
  t.match(await gateway.end(stop), { state: OperationState.COMPLETED });
  t.equal(await stateOf(lab, "slow-0"), "exited 137");
  t.match(await gateway.end(pull), { state: OperationState.COMPLETED });
  await lab.podman("image", "inspect", remoteImage);
  await gateway.kill("SIGTERM");
});

const steps = ["start", "stop", "remove", "pull"] as const;

for (const step of steps) {
  test(`a gateway that dies around the step ${step} completes the change after its restart`, {
    skip,
  }, async (t) => {
    const lab = await emptyLab();
    const start = await createGateways(t, lab);
    const inner = [`forward ${step}`, "operations.beginStep", "operations.endStep"];
    const all = inner.flatMap((name) => [`before ${name}`, `after ${name}`]);
    // All work is done by then, and none of it is recorded.
    for (const boundary of process.env.LAB_FULL === "1" ? all : [`after forward ${step}`]) {
      await lab.podman("pod", "rm", "-f", "-t", "0", "-a");
      await lab.podman("rmi", "-f", remoteImage).catch(() => {});
      await makePod(lab, "web", polite);
      await lab.podman(...(step === "stop" || step === "remove" ? ["pod", "start", "web"] : ["version"]));
      // The previous step passes the same boundaries of the store.
      const isStores = boundary.includes("operations.");
      const mortal = await start({ boundary, visit: isStores && step !== "pull" ? 2 : 1 });
      const { pods } = mortal;
      const started =
        step === "start"
          ? await pods.startPod({ pod: "web" })
          : step === "stop"
            ? await pods.stopPod({ pod: "web" })
            : step === "remove"
              ? await pods.removePod({ pod: "web", force: true })
              : await pods.pullImage({ reference: remoteImage });
      await mortal.ended;
      const heir = await start();
      t.match(await heir.end(started), { state: OperationState.COMPLETED }, boundary);
      const left = { start: /^running /, stop: /^exited 0$/, remove: /^gone$/, pull: /^created / };
      t.match(await stateOf(lab, "web-0"), left[step], boundary);
      if (step === "pull") {
        await lab.podman("image", "inspect", remoteImage);
      }
      await heir.kill("SIGTERM");
    }
  });
}
