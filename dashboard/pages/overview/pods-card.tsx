import { PodState } from "../../../gen/hostplane/v1/pod_pb.ts";
import type { Backend } from "../../../gen/hostplane/v1/system_pb.ts";
import { useRead } from "../../live/use-read.ts";
import { ReadState } from "../../parts/read-state.tsx";
import { client } from "../../session.ts";
import { DomainCard } from "./domain-card.tsx";
import { Figures } from "./figures.tsx";

/** The number of running pods. */
export function PodsCard({ backends }: { readonly backends: readonly Backend[] }) {
  return (
    <DomainCard title="Pods" path="/pods" domain="pods" backends={backends}>
      {() => <PodFigures />}
    </DomainCard>
  );
}

function PodFigures() {
  const { reading } = useRead((options) => client.pods.listPods({}, options), { topics: ["pods"] });
  return (
    <ReadState of={reading}>
      {({ pods, unreadable }) => {
        const count = (counted: PodState) => pods.filter(({ state }) => state === counted).length;
        return (
          <Figures
            of={[
              { label: "running", value: count(PodState.RUNNING) },
              { label: "exited", value: count(PodState.EXITED) },
              { label: "never started", value: count(PodState.CREATED) },
              ...(unreadable.length > 0
                ? [{ label: "unreadable", value: unreadable.length, isBad: true }]
                : []),
            ]}
          />
        );
      }}
    </ReadState>
  );
}
