import type { PodmanSandboxOptions } from "../../../../adapters/podman/sandbox.ts";
import type { Random } from "../../../../adapters/sandbox/random.ts";

type SandboxPods = NonNullable<PodmanSandboxOptions["pods"]>;

const purposes: readonly { readonly name: string; readonly containers: readonly string[] }[] = [
  { name: "shop-frontend", containers: ["nginx", "frontend"] },
  { name: "shop-api", containers: ["api", "envoy"] },
  { name: "orders", containers: ["orders", "envoy"] },
  { name: "payments", containers: ["payments", "envoy"] },
  { name: "search", containers: ["search"] },
  { name: "mail-relay", containers: ["postfix", "rspamd"] },
  { name: "queue", containers: ["rabbitmq"] },
  { name: "cache", containers: ["valkey"] },
  { name: "metrics", containers: ["prometheus", "node-exporter"] },
  { name: "wiki", containers: ["wiki", "postgres"] },
];

/** Returns this many pods. Most of them run. */
export function createPodWorld(random: Random, count: number, image: string): SandboxPods {
  return Array.from({ length: Math.max(0, count) }, (_, index) => {
    const { name, containers } = purposes[index % purposes.length] as (typeof purposes)[number];
    const pod = `${name}-${Math.floor(index / purposes.length) + 1}`;
    return {
      name: pod,
      labels: { role: name, env: random.pick(["production", "production", "staging"]) },
      isStarted: random.next() < 0.9,
      containers: containers.map((container) => ({
        name: `${pod}-${container}`,
        image,
        program: { kind: "tick", everyMs: 1_000 * random.integer(1, 10) } as const,
      })),
    };
  });
}
