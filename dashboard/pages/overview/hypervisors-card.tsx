import type { Backend } from "../../../gen/hostplane/v1/system_pb.ts";
import { HypervisorState } from "../../../gen/operations/v1/operations_pb.ts";
import { useRead } from "../../live/use-read.ts";
import { ReadState } from "../../parts/read-state.tsx";
import { UsageBar } from "../../parts/usage-bar.tsx";
import { client } from "../../session.ts";
import { isServed } from "./backend-health.ts";
import { DomainCard } from "./domain-card.tsx";
import { Figures } from "./figures.tsx";

/** The number of running hypervisors, and the usage of the pool that they share. */
export function HypervisorsCard({ backends }: { readonly backends: readonly Backend[] }) {
  const isThere = (name: string) =>
    backends.some(
      (backend) => backend.domain === "hypervisors" && backend.name === name && isServed(backend),
    );
  return (
    <DomainCard title="Hypervisors" path="/hypervisors" domain="hypervisors" backends={backends}>
      {() => (
        <div class="stack">
          {isThere("libvirt") && <HypervisorFigures />}
          {isThere("storage-pool") && <PoolUsage />}
        </div>
      )}
    </DomainCard>
  );
}

function HypervisorFigures() {
  const { reading } = useRead((options) => client.hypervisors.listHypervisors({}, options), {
    topics: ["hypervisors", "operations"],
  });
  return (
    <ReadState of={reading}>
      {({ hypervisors }) => {
        const count = (counted: HypervisorState) =>
          hypervisors.filter(({ state }) => state === counted).length;
        const running = count(HypervisorState.AVAILABLE_TO_DESTROY);
        const off = count(HypervisorState.AVAILABLE_TO_CREATE);
        const unknown = hypervisors.length - running - off;
        return (
          <Figures
            of={[
              { label: "running", value: running },
              { label: "off", value: off },
              ...(unknown > 0 ? [{ label: "not known", value: unknown, isBad: true }] : []),
            ]}
          />
        );
      }}
    </ReadState>
  );
}

function PoolUsage() {
  const { reading } = useRead((options) => client.storagePool.getStoragePool({}, options), {
    topics: ["hypervisors", "volumes"],
  });
  return (
    <ReadState of={reading}>
      {({ pool }) =>
        pool && <UsageBar label="Storage pool" usedBytes={pool.usedBytes} totalBytes={pool.sizeBytes} />
      }
    </ReadState>
  );
}
