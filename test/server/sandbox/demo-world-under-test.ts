import { createRandom } from "../../../adapters/sandbox/random.ts";
import { type DemoWorld, type WorldSizes, worldSizeRanges } from "../../../server/domain/demo-world.ts";
import { createSteppedClock, type SteppedClock } from "../../adapters/sandbox/stepped-clock.ts";

/** Creates a demo world whose time the test steps, with the default sizes unless given. */
export function createWorldUnderTest(
  options: { readonly seed?: number; readonly sizes?: Partial<WorldSizes> } = {},
): DemoWorld & { readonly clock: SteppedClock } {
  const { volumes, vms, pods, osds } = worldSizeRanges;
  const sizes = {
    volumes: volumes.default,
    vms: vms.default,
    pods: pods.default,
    osds: osds.default,
    ...options.sizes,
  };
  return { clock: createSteppedClock(), random: createRandom(options.seed ?? 1), sizes };
}
