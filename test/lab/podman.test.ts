import { writeFile } from "node:fs/promises";
import tap from "tap";
import { createPodman } from "../../adapters/podman/podman.ts";
import { type ContractProgram, testPodRuntimeContract } from "../adapters/podman/contract.ts";
import { labImage, type PodmanService, podmanSkipReason, startPodmanService } from "./podman.ts";

const skip = podmanSkipReason();
tap.setTimeout(600_000);

let shared: Promise<PodmanService> | undefined;

/** One for all tests, which is empty at the start of each. */
async function emptyService(): Promise<PodmanService> {
  shared ??= startPodmanService().then((service) => {
    tap.teardown(service.destroy);
    return service;
  });
  const service = await shared;
  await service.start();
  await service.podman("pod", "rm", "-f", "-t", "0", "-a");
  await service.podman("rm", "-f", "-t", "0", "-a");
  return service;
}

function commandOf(program: ContractProgram): readonly string[] {
  switch (program.kind) {
    case "tick":
      return [
        "sh",
        "-c",
        `trap "exit 0" TERM; i=0; while :; do echo tick $i; i=$((i+1)); sleep ${program.everyMs / 1000}; done`,
      ];
    case "exit":
      return ["sh", "-c", `echo begin; sleep ${program.afterMs / 1000}; echo end; exit ${program.code}`];
    case "missing":
      return ["/no/such/program"];
  }
}

function makeSubject(service: PodmanService) {
  const { podman, socketPath, eventsLogPath } = service;
  return {
    runtime: createPodman({ socketPath }),
    async createPod(name: string, containers: Readonly<Record<string, ContractProgram>>) {
      const id = (await podman("pod", "create", "--name", name, "--network", "none")).trim();
      for (const [container, program] of Object.entries(containers)) {
        await podman("create", "--pod", name, "--name", container, labImage, ...commandOf(program));
      }
      return id;
    },
    startContainer: async (name: string) => void (await podman("start", name)),
    removePod: async (name: string) => void (await podman("pod", "rm", "-f", "-t", "0", name)),
    async addImage(name: string) {
      const made = await podman(
        "run",
        "-d",
        "--network",
        "none",
        labImage,
        "sh",
        "-c",
        `echo ${name} >/file`,
      );
      await podman("wait", made.trim());
      const id = await podman("commit", "-q", made.trim(), name);
      await podman("rm", made.trim());
      return id.trim();
    },
    stopService: service.stop,
    startService: service.start,
    forgetHistory: () => writeFile(eventsLogPath, ""),
  };
}

testPodRuntimeContract("real", async () => makeSubject(await emptyService()), { skip });
