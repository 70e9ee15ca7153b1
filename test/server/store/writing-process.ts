import { writeSync } from "node:fs";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { openStore } from "../../../server/store/open-store.ts";
import { keepLog, testModules } from "./store-under-test.ts";
import type { transactions } from "./test-transactions.ts";

/**
 * A program to be killed: counts in eight lanes until then, and prints `lane value` after each acknowledged write, and
 * `lane lost` after a write with an unknown outcome.
 * Arguments: the store's URL and directory.
 */
const [url = "", directory = ""] = process.argv.slice(2);
const options = {
  url,
  directory,
  kind: "real",
  keyCheck: "key-1",
  log: keepLog(),
  modules: testModules,
} as const;
const store = await openStore<typeof transactions>(options);

/**
 * Prints a line synchronously, before the next write begins. A stream would queue lines that a slow reader has no room for (a
 * socket's buffer holds 270 short ones), and they would be lost with the process.
 */
function say(line: string): void {
  for (;;) {
    try {
      writeSync(1, `${line}\n`);
      return;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) {
        throw error;
      }
    }
  }
}

async function count(lane: string): Promise<never> {
  for (;;) {
    try {
      say(`${lane} ${await store.run("counter.add", { name: lane, by: 1 })}`);
    } catch (error) {
      if (!(error instanceof InfraError) || error.reason !== "STORE_UNAVAILABLE") {
        throw error;
      }
      say(`${lane} lost`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

await Promise.all(Array.from({ length: 8 }, (_, index) => count(`lane${index}`)));
