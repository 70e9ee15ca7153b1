import { useRead } from "../../live/use-read.ts";
import { ReadState } from "../../parts/read-state.tsx";
import { client } from "../../session.ts";
import { ClustersCard } from "./clusters-card.tsx";
import { HypervisorsCard } from "./hypervisors-card.tsx";
import { OperationsCard } from "./operations-card.tsx";
import { PodsCard } from "./pods-card.tsx";
import { StorageCard } from "./storage-card.tsx";
import { Summary } from "./summary.tsx";
import { Systems } from "./systems.tsx";
import { VolumesCard } from "./volumes-card.tsx";

/** Topics of events that may change a system's health. */
const topics = ["volumes", "storage", "hypervisors", "clusters", "pods"];

/** The overview: the summary, each domain, operations in progress and recent events. */
export function Overview() {
  const { reading } = useRead((options) => client.system.listBackends({}, options), { topics });
  return (
    <>
      <h1>Overview</h1>
      <ReadState of={reading}>
        {({ backends }) => (
          <>
            <Summary backends={backends} />
            <div class="cards">
              <VolumesCard backends={backends} />
              <StorageCard backends={backends} />
              <HypervisorsCard backends={backends} />
              <ClustersCard backends={backends} />
              <PodsCard backends={backends} />
              <OperationsCard />
            </div>
            <Systems backends={backends} />
          </>
        )}
      </ReadState>
    </>
  );
}
