import type { Backend } from "../../../gen/hostplane/v1/system_pb.ts";
import { firstMessage } from "../../live/first-message.ts";
import { useRead } from "../../live/use-read.ts";
import { ReadState } from "../../parts/read-state.tsx";
import { sizeText } from "../../parts/text/size-text.ts";
import { client } from "../../session.ts";
import { DomainCard } from "./domain-card.tsx";
import { Figures } from "./figures.tsx";

/** The number of volumes, and the free space of each device class. */
export function VolumesCard({ backends }: { readonly backends: readonly Backend[] }) {
  return (
    <DomainCard title="Volumes" path="/volumes" domain="volumes" backends={backends}>
      {() => <VolumeFigures />}
    </DomainCard>
  );
}

function VolumeFigures() {
  const { reading } = useRead(
    async (options) => {
      const { items } = await firstMessage((each) => client.volumeGroups.watch({}, each), options);
      const lists = await Promise.all(
        items.map(({ deviceClass }) => client.volumeGroups.getLVList({ deviceClass }, options)),
      );
      return { items, volumeCount: lists.reduce((sum, { volumes }) => sum + volumes.length, 0) };
    },
    { topics: ["volumes"] },
  );
  return (
    <ReadState of={reading}>
      {({ items, volumeCount }) => (
        <Figures
          of={[
            { label: volumeCount === 1 ? "volume" : "volumes", value: volumeCount },
            ...items.map(({ deviceClass, freeBytes }) => ({
              label: `free in ${deviceClass}`,
              value: sizeText(freeBytes),
            })),
          ]}
        />
      )}
    </ReadState>
  );
}
