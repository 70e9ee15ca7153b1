import type { Test } from "tap";
import type { GatewayProcess } from "../gateway-process.ts";
import { assertAgreement, endOfNewest, type Story, stateName } from "./hypervisors-killed.ts";
import { clientsOf, followStream, type HypervisorsLab } from "./hypervisors-lab.ts";

/** A boundary of an operation at which its gateway dies. */
export interface Death {
  readonly story: Story;
  readonly boundary: string;
  readonly visit: number;
}

const creation = ["check", "volume", "seed", "define", "start", "ready"];
const destruction = ["grace", "powerOff", "undefine", "deleteVolumes"];

/** After the work of a step, before it is recorded. */
export const fewDeaths: readonly Death[] = [
  { story: "create", boundary: "after forward volume", visit: 1 },
  { story: "destroy", boundary: "after forward undefine", visit: 1 },
];

/** Every boundary of every story, except those between which nothing happens. */
export const allDeaths: readonly Death[] = [
  ...deathsOf("create", "forward", creation),
  { story: "create", boundary: "after operations.complete", visit: 1 },
  ...deathsOf("destroy", "forward", destruction),
  { story: "destroy", boundary: "after operations.complete", visit: 1 },
  { story: "undo", boundary: "before operations.beginUndo", visit: 1 },
  ...deathsOf("undo", "undo", creation.toReversed()),
  { story: "undo", boundary: "after operations.endUndo", visit: 1 },
];

/** Returns the boundaries before and after the work of each step, and after it is recorded. */
function deathsOf(story: Story, way: "forward" | "undo", steps: readonly string[]): readonly Death[] {
  const written = way === "undo" ? "operations.endUndoStep" : "operations.endStep";
  return steps.flatMap((step, index): Death[] => [
    { story, boundary: `before ${way} ${step}`, visit: 1 },
    { story, boundary: `after ${way} ${step}`, visit: 1 },
    { story, boundary: `after ${written}`, visit: index + 1 },
  ]);
}

/** Lets a gateway die at each boundary, and another one take over. In the end everything is as if none had died. */
export async function dieAtBoundaries(t: Test, lab: HypervisorsLab, deaths: readonly Death[]): Promise<void> {
  let heir = await lab.start();
  for (const { story, boundary, visit } of deaths) {
    const id = story === "undo" ? "no-01" : "bm-01";
    const verb = story === "destroy" ? "destroy" : "create";
    await runOnly(lab, heir, story === "destroy" ? [id] : []);
    await heir.kill("SIGKILL");
    const where = `${story}, ${boundary} (${visit})`;
    const mortal = await lab.start({ boundary, visit });
    const reported = followStream(clientsOf(mortal), verb, id);
    t.equal(
      await reported.then(
        () => "lived",
        () => "died",
      ),
      "died",
      `${where} is reached`,
    );
    await mortal.kill("SIGKILL");
    heir = await lab.start();
    const clients = clientsOf(heir);
    const { state, error, attention } = await endOfNewest(clients, id);
    const words = `${where}: ${stateName(state)} ${error?.message ?? ""} ${attention?.left ?? ""}`;
    t.equal(stateName(state), story === "undo" ? "FAILED" : "COMPLETED", words);
    await assertAgreement(t, lab, clients, story === "create" ? [id] : []);
  }
  await runOnly(lab, heir, []);
  await heir.kill("SIGTERM");
}

/** Creates and destroys hypervisors until only these run. */
async function runOnly(
  { domains }: HypervisorsLab,
  gateway: GatewayProcess,
  expected: readonly string[],
): Promise<void> {
  const there = await domains("running");
  const clients = clientsOf(gateway);
  const missing = expected.filter((id) => !there.includes(id));
  const superfluous = there.filter((id) => !expected.includes(id));
  await Promise.all([
    ...missing.map((id) => followStream(clients, "create", id)),
    ...superfluous.map((id) => followStream(clients, "destroy", id)),
  ]);
}
