import { execFileSync } from "node:child_process";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { openProcessStore } from "./store-under-test.ts";

/**
 * Fills its own small file system with a store, enlarges the file system, and continues. Prints what it observed. Argument: the
 * mount point. Must run in its own mount namespace.
 */
const [directory = ""] = process.argv.slice(2);
const mount = (...options: string[]) => execFileSync("mount", ["-o", ...options, "tmpfs", directory]);

execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", directory]);
const store = await openProcessStore(directory);

let acknowledged = 0;
let failure: unknown;
while (failure === undefined && acknowledged < 1000) {
  try {
    await store.run("space.fill", { name: `fill/${acknowledged}`, bytes: 50_000 });
    acknowledged += 1;
  } catch (error) {
    failure = error;
  }
}
// Small enough to fit into the last free bytes a few times.
let alsoSmall: unknown;
for (let attempt = 0; alsoSmall === undefined && attempt < 1000; attempt += 1) {
  alsoSmall = await store.run("counter.add", { name: "small", by: 1 }).then(
    () => undefined,
    (error: unknown) => error,
  );
}
mount("remount,size=16m");
const counted = await store.run("space.count", { prefix: "fill/" });
await store.run("space.fill", { name: "fill/last", bytes: 50_000 });
const afterwards = await store.run("space.count", { prefix: "fill/" });
await store.close();

const reasonOf = (error: unknown) => (error instanceof InfraError ? error.reason : String(error));
process.stdout.write(
  JSON.stringify({
    acknowledged,
    failed: reasonOf(failure),
    retryable: failure instanceof InfraError && failure.retryable,
    alsoSmall: reasonOf(alsoSmall),
    counted,
    afterwards,
  }),
);
