import { createResticSandbox } from "../../../adapters/restic/sandbox.ts";
import { testResticContract } from "./contract.ts";

testResticContract("sandbox", async () => ({
  restic: createResticSandbox({ transferMs: 50 }),
  repository: { location: { kind: "local", path: "/srv/backup" }, password: "secret" },
  source: "/dev/vg0/source",
  target: "/dev/vg0/target",
  sizeBytes: 5 << 20,
}));
